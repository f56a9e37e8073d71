"""``saga move``: a journal goes from a file into PostgreSQL and back, and is the same."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from saga_backends.memory import MemoryState
from saga_core import Saga
from saga_core.counters import Counters
from saga_core.errors import BadInput, StoreError, StoreLocked, StoreUnavailable
from saga_core.journal import Journal
from saga_core.maintenance import move_journal
from saga_core.stores import Batch
from saga_server.cli.saga_command import main
from tests.core.frontend import Frontend


def opened(storage: dict[str, Any]) -> Any:
    return Saga.open({"storage": storage, "session": {"default_world": "ersia"}})


async def played(storage: dict[str, Any], words: str, history: list[dict[str, Any]]) -> dict[str, Any]:
    """One more turn of the chat ``history``, and the state after it."""
    async with opened(storage) as saga:
        frontend = Frontend(saga, session="the tale", history=history)
        await frontend.say(words, f"The innkeeper nods at that: {words}", hp_change=-5)
        await saga.drain(20)
        (summary,) = await saga.sessions.list()
        assert await saga.maintenance.differences(summary.session.id) == []
        return await saga.describe(summary.session.id)


def test_a_story_goes_into_a_database_and_back_into_a_file(
    url: str, schema: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    chat: list[dict[str, Any]] = []
    begun = asyncio.run(played({"path": str(tmp_path / "old")}, "I sit down by the fire.", chat))
    done = CliRunner().invoke(main, ["move", "--data", "old", "--to", url, "--schema", schema])
    assert done.exit_code == 0, done.output
    assert "of the journal copied and compared" in done.output
    place = {"options": {"schema": schema}}
    there = {"profile": "scale", "url": url, "path": str(tmp_path / "scale")}
    there |= dict.fromkeys(("state", "graph", "vector", "cache"), place)
    on = asyncio.run(played(there, "I ask for the way to the river.", chat))
    assert (on["turn"], on["hp"]) == (begun["turn"] + 1, begun["hp"] - 5)
    again = CliRunner().invoke(main, ["move", "--data", "old", "--to", url, "--schema", schema])
    assert again.exit_code == 2
    assert "holds something already" in again.output
    config = tmp_path / "scale.yaml"
    config.write_text(
        f"storage:\n  profile: scale\n  url: {url}\n  state:\n    options: {{schema: {schema}}}\n", encoding="utf-8"
    )
    back = CliRunner().invoke(main, ["move", "--config", str(config), "--to", "new"])
    assert back.exit_code == 0, back.output
    home = asyncio.run(played({"path": str(tmp_path / "new")}, "I thank her and go.", chat))
    assert (home["turn"], home["hp"]) == (begun["turn"] + 2, begun["hp"] - 10)


def at(url: str, schema: str) -> dict[str, Any]:
    place = {"options": {"schema": schema}}
    return {"profile": "scale", "url": url, **dict.fromkeys(("state", "graph", "vector", "cache"), place)}


@asynccontextmanager
async def followed(monkeypatch: pytest.MonkeyPatch, *given: str) -> AsyncIterator[asyncio.Event]:
    """``saga move --follow`` beside what happens inside, until it says that little is left; it ends by itself then."""
    near, loop = asyncio.Event(), asyncio.get_running_loop()

    def heard(text: str) -> None:
        if text.startswith("little is left"):
            loop.call_soon_threadsafe(near.set)

    monkeypatch.setattr("saga_server.cli.data.move.say", heard)
    moving = asyncio.create_task(asyncio.to_thread(CliRunner().invoke, main, ["move", "--follow", *given]))
    moving.add_done_callback(lambda _: near.set())
    try:
        yield near
    finally:
        done = await moving
        assert done.exit_code == 0, done.output


async def test_a_story_is_told_on_while_it_moves_into_a_database_and_back(
    url: str, schema: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("saga_server.cli.data.move._PAUSE", 0.02)
    chat: list[dict[str, Any]] = []
    old, new = {"path": str(tmp_path / "old")}, at(url, schema) | {"path": str(tmp_path / "scale")}
    config = tmp_path / "scale.json"
    config.write_text(json.dumps({"storage": new}), encoding="utf-8")
    begun = await played(old, "I sit down by the fire.", chat)

    async def told_while_moving(storage: dict[str, Any], *given: str) -> None:
        async with AsyncExitStack() as playing:
            frontend = Frontend(await playing.enter_async_context(opened(storage)), session="the tale", history=chat)
            async with followed(monkeypatch, *given) as near:
                while not near.is_set():
                    await frontend.say(f"I look at number {len(chat)} of the stones.", "It is grey.", hp_change=-1)
                    await asyncio.wait({asyncio.ensure_future(near.wait())}, timeout=0.1)
                early = new if storage is old else {"path": str(tmp_path / "new")}
                with pytest.raises(StoreLocked, match=r"is being moved into|is open already"):
                    await played(early, "I am early.", [])
                await frontend.say("I look at the last of the stones.", "It is blue.", hp_change=-1)
                await playing.aclose()

    await told_while_moving(old, "--data", "old", "--to", url, "--schema", schema)
    there = await played(new, "I ask for the way to the river.", chat)
    assert there["turn"] == len(chat) // 2 and there["hp"] == begun["hp"] - (there["turn"] - 2) - 5
    await told_while_moving(new, "--config", str(config), "--to", "new")
    home = await played({"path": str(tmp_path / "new")}, "I thank her and go.", chat)
    assert home["turn"] == len(chat) // 2


async def test_what_servers_play_just_now_is_not_moved_by_half(
    url: str, schema: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    config = tmp_path / "scale.json"
    here = {"storage": at(url, schema) | {"path": str(tmp_path / "a")}, "server": {"name": "a", "lease_seconds": 1.5}}
    config.write_text(json.dumps(here), encoding="utf-8")
    async with Saga.open(here):
        done = await asyncio.to_thread(CliRunner().invoke, main, ["move", "--config", str(config), "--to", "new"])
    assert done.exit_code == 2 and "a#" in done.output and "give --follow" in done.output, done.output
    again = await asyncio.to_thread(CliRunner().invoke, main, ["move", "--config", str(config), "--to", "new"])
    assert again.exit_code == 0, again.output


async def test_a_move_that_was_cut_off_goes_on_and_until_then_nobody_opens_the_target() -> None:
    source, target = MemoryState(), MemoryState()
    await source.commit(Batch({("turn", "s", str(number)): b"%d" % number for number in range(1_200)}))

    def stop(copied: int) -> None:
        raise StoreUnavailable(f"the line is cut behind {copied}")

    with pytest.raises(StoreUnavailable):
        await move_journal(source, target, stop)
    with pytest.raises(StoreLocked, match="give the same command again"):
        await Journal(target, Counters()).open()
    with pytest.raises(BadInput, match="is itself the target of a move"):
        await move_journal(target, MemoryState())
    await source.commit(Batch({("turn", "s", "7"): b"other"}, frozenset({("turn", "s", "8")})))
    assert await move_journal(source, target) == 1_199
    assert await target.scan((), limit=2_000) == await source.scan((), limit=2_000)
    assert await move_journal(source, target) is None, "it is moved already"
    await target.commit(Batch({("turn", "s", "more"): b"{}"}))
    with pytest.raises(BadInput, match="holds something already"):
        await move_journal(source, target)


async def test_a_journal_that_is_written_meanwhile_is_not_taken_for_moved() -> None:
    source, target = MemoryState(), MemoryState()
    await source.commit(Batch({("turn", "s", str(number)): b"{}" for number in range(600)}))
    hasty = iter([True])

    def told(_: int) -> None:
        if next(hasty, False):
            source._values["turn", "s", "0"] = b"other"

    with pytest.raises(StoreError, match="was written while it was moved"):
        await move_journal(source, target, told)


async def test_what_belongs_to_servers_stays_where_it_is() -> None:
    source, target = MemoryState(), MemoryState()
    await source.commit(Batch({("lease", "session", "s"): b"{}", ("meta", "shown-by", "graph"): b"{}", ("a",): b"1"}))
    assert await move_journal(source, target) == 1
    assert await target.scan(()) == [(("a",), b"1")]
