"""``saga move --to state=…``: a journal goes to another engine and back, and a move that is killed goes on."""

from __future__ import annotations

import asyncio
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from attrs import frozen
from click.testing import CliRunner

from saga_core import Saga
from saga_core.config import Config, load_config
from saga_core.counters import Counters
from saga_core.journal import keys
from saga_core.storage import open_journal_store, path_of
from saga_core.stores import Batch
from saga_server.cli.saga_command import main
from tests.core.frontend import Frontend

pytest.importorskip("lmdb", reason="the worked example of docs/write-a-backend.md is the second engine")

LMDB = "docs.examples.lmdb_state:BACKEND"
MOVES = """
import asyncio, sys
from saga_core.config import load_config
from saga_server.cli.data import move
from saga_core.maintenance import move_journal
import docs.examples.lmdb_state, lmdb, saga_backends.state_kv.sqlite
config = load_config({"storage": {"path": sys.argv[1]}}, environ={})
print("ready", flush=True)
asyncio.run(move._move(config, move._configured(config, "state=" + sys.argv[2], "saga"), False))
print("moved", flush=True)
"""


def moved(*given: str) -> str:
    done = CliRunner().invoke(main, ["move", *given])
    assert done.exit_code == 0, done.output
    return done.output


async def played(data: Path, chat: list[dict[str, Any]], words: str, **state: str) -> int:
    storage = {"path": str(data), "state": state}
    async with Saga.open({"storage": storage, "session": {"default_world": "ersia"}}) as saga:
        await Frontend(saga, session="the tale", history=chat).say(words, f"So it is: {words}", hp_change=-5)
        await saga.drain(20)
        (summary,) = await saga.sessions.list()
        assert await saga.maintenance.differences(summary.session.id) == []
        turn: int = (await saga.describe(summary.session.id))["turn"]
        return turn


def test_a_story_goes_to_another_engine_and_back(tmp_path: Path) -> None:
    data, file, chat = tmp_path / "data", tmp_path / "saga.yaml", list[dict[str, Any]]()
    first = asyncio.run(played(data, chat, "I sit down by the fire."))
    output = moved("--data", str(data), "--to", f"state={LMDB}")
    assert LMDB in output
    assert str(data / "state.db") in output, "the old file is named"
    again = moved("--data", str(data), "--to", f"state={LMDB}")
    assert again.startswith("already moved") and LMDB in again, "what was cut off behind its end is no error"
    assert moved("--data", str(data), "--follow", "--to", f"state={LMDB}") == again
    assert asyncio.run(played(data, chat, "I ask for the way.", backend=LMDB)) == first + 1

    file.write_text(f"storage:\n  path: {data}\n  state: {{backend: '{LMDB}'}}\n", encoding="utf-8")
    refused = CliRunner().invoke(main, ["move", "--config", str(file), "--to", "state=sqlite"])
    assert refused.exit_code == 2
    assert "state.db: holds something already" in refused.output
    for old in data.glob("state.db*"):
        old.rename(tmp_path / old.name)
    moved("--config", str(file), "--to", "state=sqlite")
    assert asyncio.run(played(data, chat, "I thank her and go.")) == first + 2


def test_what_to_configure_keeps_the_other_engines(tmp_path: Path) -> None:
    data, file = tmp_path / "data", tmp_path / "saga.yaml"
    file.write_text(f"storage: {{path: {data}, graph: memory}}\n", encoding="utf-8")
    asyncio.run(played(data, [], "I sit down by the fire."))
    told = moved("--config", str(file), "--to", str(tmp_path / "other"))
    printed = yaml.safe_load(told.partition("configure:\n")[2])
    assert printed == {"storage": {"profile": "lite", "path": str(tmp_path / "other"), "graph": {"backend": "memory"}}}


def test_a_journal_that_was_moved_says_so_until_the_copy_takes_its_place(tmp_path: Path) -> None:
    data, chat = tmp_path / "data", list[dict[str, Any]]()
    first = asyncio.run(played(data, chat, "I sit down by the fire."))

    def told(**state: str) -> str:
        async def opened() -> str:
            async with Saga.open({"storage": {"path": str(data), "state": state}}) as saga:
                return saga.counters.degraded.get("journal.moved", "")

        return asyncio.run(opened())

    assert told() == ""
    assert "Delete it once `saga doctor`" in moved("--data", str(data), "--to", f"state={LMDB}")
    assert told(backend=LMDB) == ""
    assert LMDB.replace(":", "-") in told() and "`saga move --stay`" in told()
    doctor = CliRunner().invoke(main, ["doctor", "--data", str(data)])
    assert "journal.moved: this journal was moved to" in doctor.output
    assert asyncio.run(played(data, chat, "I ask for the way.")) == first + 1, "it is played on"
    assert told() != ""
    copy = next(each for each in data.glob("state.*lmdb*"))
    copy.rename(tmp_path / "stale")
    moved("--data", str(data), "--to", f"state={LMDB}")
    assert told(backend=LMDB) == "" and told() != ""

    there = tmp_path / "there.yaml"
    there.write_text(f"storage: {{path: {data}, state: '{LMDB}'}}\n", encoding="utf-8")
    assert moved("--config", str(there), "--to", "state=sqlite").startswith("already moved"), "back, and not played on"
    assert told() == "" and told(backend=LMDB) != ""
    assert "forgotten" in moved("--config", str(there), "--stay")
    assert told(backend=LMDB) == ""
    for given in (["--stay"], ["--stay", "--to", "state=x"], []):
        done = CliRunner().invoke(main, ["move", "--config", str(there), *given])
        assert done.exit_code == 2 and "--stay" in done.output


def test_a_journal_that_was_only_opened_is_a_target(tmp_path: Path) -> None:
    data, chat = tmp_path / "data", list[dict[str, Any]]()
    first = asyncio.run(played(data, chat, "I sit down by the fire."))

    async def opened() -> None:
        async with Saga.open({"storage": {"path": str(data), "state": LMDB}}) as saga:
            assert f"saga move --to state={LMDB}" in saga.counters.degraded["journal.other"]

    asyncio.run(opened())
    moved("--data", str(data), "--to", f"state={LMDB}")
    assert asyncio.run(played(data, chat, "I ask for the way.", backend=LMDB)) == first + 1


@pytest.mark.parametrize(
    ("target", "why"),
    [
        ("sqlite", "give state=sqlite, or ./sqlite for a folder"),
        ("state=sqlite", "the journal is kept by sqlite already"),
        ("state=memory", "promises no durable writes"),
        ("state=", "names no backend"),
        ("state=nothing", "no state backend 'nothing'"),
        ("graph=kuzu", "saga rebuild --to graph=kuzu"),
        ("ftp://there", "is no address that is known"),
    ],
)
def test_other_targets_are_refused_with_the_remedy(target: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    done = CliRunner().invoke(main, ["move", "--data", str(tmp_path / "data"), "--to", target])
    assert done.exit_code == 2
    assert why in done.output
    assert not (Path.cwd() / "sqlite").exists()


def test_a_journal_that_is_open_is_refused_before_the_target_is_made(tmp_path: Path) -> None:
    async def tried() -> Any:
        async with Saga.open({"storage": {"path": str(tmp_path)}}):
            return await asyncio.to_thread(
                CliRunner().invoke, main, ["move", "--data", str(tmp_path), "--to", f"state={LMDB}"]
            )

    done = asyncio.run(tried())
    assert done.exit_code == 1 and "is open already in this process" in done.output
    assert [each.name for each in tmp_path.glob("state.*") if "lmdb" in each.name] == []


def test_a_target_that_keeps_nothing_is_found_out(tmp_path: Path) -> None:
    asyncio.run(played(tmp_path, [], "I sit down by the fire."))
    losing = "state=tests.backends.losing:state"
    done = CliRunner().invoke(main, ["move", "--data", str(tmp_path), "--to", losing])
    assert done.exit_code == 1, done.output
    assert (
        "tests.backends.losing:state: did not keep what was written to it" in done.output
        and "another backend" in done.output
    )
    assert "From now on configure" not in done.output
    doctor = CliRunner().invoke(main, ["doctor", "--data", str(tmp_path)])
    assert "journal.moved" not in doctor.output


def test_a_target_that_loses_entries_at_once_is_named_and_never_accepted(tmp_path: Path) -> None:
    data = tmp_path / "data"
    asyncio.run(played(data, [], "I sit down by the fire."))
    given = ["move", "--data", str(data), "--to", "state=tests.backends.losing:leaky"]
    first, again, followed = (CliRunner().invoke(main, [*given, *more]) for more in ((), (), ("--follow",)))
    assert [done.exit_code for done in (first, again, followed)] == [1, 1, 1], again.output
    assert "tests.backends.losing:leaky: did not keep what was written to it: it has" in first.output
    assert "stop every server" not in first.output and "saga conformance" in first.output
    for later in (again, followed):
        assert "leaky: did not keep what an earlier move wrote to it" in later.output
        assert "state.tests.backends.losing-leaky away" in later.output


def test_a_journal_is_not_moved_to_where_it_is(tmp_path: Path) -> None:
    data = tmp_path / "data"
    asyncio.run(played(data, [], "I sit down by the fire."))
    (tmp_path / "link").symlink_to(data)
    for target in (data, tmp_path / "link"):
        done = CliRunner().invoke(main, ["move", "--data", str(data), "--to", str(target)])
        assert done.exit_code == 2 and "this is where the journal is already" in done.output


def test_following_what_cannot_be_followed_leaves_no_target(tmp_path: Path) -> None:
    config = tmp_path / "saga.yaml"
    config.write_text(f"storage: {{path: {tmp_path / 'data'}, state: '{LMDB}'}}\n", encoding="utf-8")

    async def tried() -> Any:
        async with Saga.open(config):
            given = ["move", "--config", str(config), "--follow", "--to", "state=sqlite"]
            return await asyncio.to_thread(CliRunner().invoke, main, given)

    done = asyncio.run(tried())
    assert done.exit_code == 2 and "cannot be read while a server has it open" in done.output
    assert not list((tmp_path / "data").glob("state.db*"))


def test_a_journal_of_which_a_part_is_missing_is_refused_with_the_remedy_alone(tmp_path: Path) -> None:
    async def half() -> None:
        store = await open_journal_store(load_config({"storage": {"path": str(tmp_path)}}, environ={}), Counters())
        await store.commit(Batch({keys.MOVING_KEY: b"{}"}))
        await store.aclose()

    asyncio.run(half())
    done = CliRunner().invoke(main, ["sessions", "--data", str(tmp_path)])
    assert done.exit_code == 1
    assert "or give the same command again to finish what was cut off. " in done.stderr
    assert done.stderr.endswith("The journal that it is moved from is whole: you can configure that one again\n")


@frozen
class Move:
    """``saga move`` in a process of its own."""

    data: Path

    def start(self) -> subprocess.Popen[str]:
        """Start it, and return when everything is imported."""
        given = [sys.executable, "-c", MOVES, str(self.data), LMDB]
        process = subprocess.Popen(given, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        return process

    def config(self, **state: str) -> Config:
        return load_config({"storage": {"path": str(self.data), "state": state}}, environ={})

    async def entries(self, **state: str) -> list[Any]:
        """All but the note that the journal was moved away."""
        store = await open_journal_store(self.config(**state), Counters())
        try:
            return [row for row in await store.scan((), limit=100_000) if row[0] != keys.MOVED_KEY]
        finally:
            await store.aclose()

    async def fill(self) -> None:
        store = await open_journal_store(self.config(), Counters())
        for start in range(0, 12_000, 1_000):
            await store.commit(Batch({("turn", "s", f"{n:06}"): b"%d" % n * 40 for n in range(start, start + 1_000)}))
        await store.aclose()


@pytest.mark.deep
def test_a_move_killed_twenty_times_loses_nothing(tmp_path: Path) -> None:
    """Each kill is followed by the same command: half of those are killed too, the others end."""
    move, chance = Move(tmp_path / "data"), random.Random(20)
    asyncio.run(move.fill())
    before = asyncio.run(move.entries())
    target = path_of(move.config(backend=LMDB), "state")
    assert target is not None

    def ended() -> float:
        process, began = move.start(), time.monotonic()
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors
        took = time.monotonic() - began
        assert asyncio.run(move.entries()) == before
        assert asyncio.run(move.entries(backend=LMDB)) == before
        target.rename(tmp_path / f"whole-{time.monotonic_ns()}")
        return took

    whole, kills = ended(), 0
    while kills < 20:
        process = move.start()
        assert process.stdout is not None
        if kills % 5 == 4:  # behind its last commit, and before its end
            process.stdout.readline()
        else:
            time.sleep(chance.uniform(0, whole))
        process.kill()
        _, errors = process.communicate(timeout=60)
        assert process.returncode in (0, -signal.SIGKILL), errors
        kills += process.returncode != 0
        if kills % 2 or process.returncode == 0:
            ended()
    ended()


def test_a_backup_of_a_journal_that_was_moved_says_so(tmp_path: Path) -> None:
    data, chat = tmp_path / "data", list[dict[str, Any]]()
    asyncio.run(played(data, chat, "I sit down by the fire."))
    moved("--data", str(data), "--to", f"state={LMDB}")
    done = CliRunner().invoke(main, ["backup", "--data", str(data), str(tmp_path / "old.db")])
    assert done.exit_code == 0 and done.stdout.startswith(str(tmp_path / "old.db"))
    assert done.stderr.startswith("!!  journal.moved: this journal was moved to ")
    assert done.stderr.rstrip().endswith("What was played in the copy is not in this backup")
    moved("--data", str(data), "--stay")
    assert CliRunner().invoke(main, ["backup", "--data", str(data), str(tmp_path / "new.db")]).stderr == ""


def test_no_backup_is_made_of_half_a_journal(tmp_path: Path) -> None:
    data = tmp_path / "data"
    asyncio.run(played(data, [], "I sit down by the fire."))

    async def halved() -> None:
        async with Saga.open({"storage": {"path": str(data)}}, resume=False) as saga:
            await saga.parts.stores.state.commit(Batch({("meta", "moving"): b"1"}))

    asyncio.run(halved())
    refused = CliRunner().invoke(main, ["backup", "--data", str(data), str(tmp_path / "half.db")])
    assert refused.exit_code == 1
    assert "state.db: a journal is being moved into it, and part of it is missing" in refused.stderr
    assert not list(tmp_path.glob("half*"))
