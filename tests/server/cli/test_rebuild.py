"""``saga rebuild``: what was thrown away or damaged comes back from the journal."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from saga_core import Saga
from saga_core.config import load_config
from saga_core.config.model import StoreConfig
from saga_core.errors import BadInput
from saga_server.cli.data.rebuild import towards
from saga_server.cli.saga_command import main
from tests.backends.recorded_play import Chat, play
from tests.core.frontend import Frontend

ROOT = Path(__file__).resolve().parents[3]


async def _play(folder: Path) -> str:
    async with Saga.open({"storage": {"path": str(folder)}, "session": {"default_world": "ersia"}}) as saga:
        chat = Frontend(saga, session="모험")
        turn = await chat.say("숲으로 간다.", "낡은 길을 따라 숲 속으로 들어선다.", location="어둠의 숲", hp_change=-5)
        await saga.drain(20)
        return turn.session.id


async def test_views_come_back(tmp_path: Path) -> None:
    data = tmp_path / "data"
    session = await _play(data)
    shutil.rmtree(data / "pages")
    for left in data.glob("vectors.db*"):
        left.unlink()
    result = await asyncio.to_thread(CliRunner().invoke, main, ["rebuild", "--data", str(data)])
    assert result.exit_code == 0, result.output
    assert f"{session}: rebuilt, and equal to the journal" in result.output
    assert any("어둠의 숲" in page.read_text("utf-8") for page in (data / "pages").rglob("state.md"))


async def test_an_unknown_session_is_named(tmp_path: Path) -> None:
    await _play(tmp_path / "data")
    result = await asyncio.to_thread(CliRunner().invoke, main, ["rebuild", "nobody", "--data", str(tmp_path / "data")])
    assert result.exit_code != 0
    assert "nobody" in result.output


LOSING = "tests.backends.losing"


@pytest.mark.parametrize(("kind", "store"), [("vector", "vectors"), ("graph", "graph"), ("cache", "pages")])
async def test_an_engine_that_keeps_nothing_is_named(kind: str, store: str, tmp_path: Path) -> None:
    data = tmp_path / "data"
    session = await _play(data)
    config = tmp_path / "saga.yaml"
    settings = {"storage": {"path": str(data), kind: f"{LOSING}:{kind}"}, "session": {"default_world": "ersia"}}
    config.write_text(json.dumps(settings), encoding="utf-8")

    async def told(*given: str) -> str:
        done = await asyncio.to_thread(CliRunner().invoke, main, [*given, "--config", str(config)])
        assert done.exit_code == 1, done.output
        return str(done.output)

    for output in (await told("rebuild"), await told("verify", "--repair")):
        assert f"{store}: " in output and f"storage.{kind}: the backend {LOSING}:{kind} did not keep" in output
        assert "equal to the journal\n" not in output.replace("not equal to the journal\n", "")
        assert "Set another backend, then give `saga rebuild` again" in output
        assert "repaired" not in output
    assert f"{session}: {store}: " in await told("rebuild", session)
    await asyncio.to_thread(CliRunner().invoke, main, ["backup", str(tmp_path / "kept.db"), "--config", str(config)])
    restored = await told("restore", str(tmp_path / "kept.db"), "--force")
    assert f"{store}: " in restored and f"storage.{kind}: the backend {LOSING}:{kind} did not keep" in restored
    assert "equal to the journal" not in restored


@pytest.mark.parametrize("kind", ["vector", "graph"])
async def test_a_move_to_an_engine_that_keeps_nothing_leaves_the_configuration(kind: str, tmp_path: Path) -> None:
    data = tmp_path / "data"
    await _play(data)
    given = ["rebuild", "--data", str(data), "--to", f"{kind}={LOSING}:{kind}"]
    done = await asyncio.to_thread(CliRunner().invoke, main, given)
    assert done.exit_code == 1, done.output
    assert f"storage.{kind}: the backend {LOSING}:{kind} did not keep" in done.output
    assert "leave the configuration as it is" in done.output and "now set" not in done.output


async def test_what_is_kept_in_memory_on_purpose_is_no_finding(tmp_path: Path) -> None:
    session = await _play(tmp_path / "data")
    config = tmp_path / "saga.yaml"
    storage = {"path": str(tmp_path / "data"), "vector": "memory", "graph": "memory", "cache": "memory"}
    config.write_text(json.dumps({"storage": storage}), encoding="utf-8")
    done = await asyncio.to_thread(CliRunner().invoke, main, ["rebuild", "--config", str(config)])
    assert done.exit_code == 0, done.output
    assert f"{session}: rebuilt, and equal to the journal" in done.output


async def _long_play(folder: Path) -> None:
    """Two sessions with swipes and branches, in Korean and in English, played into the stores of ``lite``."""
    config = folder / "saga.yaml"
    settings = {"storage": {"path": "data"}, "session": {"default_world": "ersia"}, "recall": {"deadline_ms": 10_000}}
    config.write_text(json.dumps(settings), encoding="utf-8")
    async with Saga.open(config) as saga:
        for lang in ("ko", "en"):
            await play(saga, Chat(lang, 12), lambda _messages, _begun: None)
        assert len(await saga.sessions.list()) == 2


_MOVES = (("full", "full-lance", "lite", "full"), ("graph=kuzu", "lite"))
"""One process does not bear both Kuzu and Ladybug. Each begins and goes back to engines that have missed nothing."""


@pytest.mark.deep
async def test_a_played_directory_moves_to_other_engines_and_back(tmp_path: Path) -> None:
    await _long_play(tmp_path)
    config = load_config(tmp_path / "saga.yaml", environ={})
    async with Saga.open(config) as saga:  # a rebuild shows the timeline of the head alone
        for each in await saga.sessions.list():
            await saga.maintenance.rebuild(each.session.id)
    found: dict[str, dict[str, Any]] = {}
    for moves in _MOVES:
        command = [sys.executable, "-m", "tests.server.projections", str(tmp_path), *moves]
        done = await asyncio.to_thread(subprocess.run, command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-3_000:]
        lines = done.stdout.splitlines()
        assert len(lines) == len(moves)
        for number, (move, line) in enumerate(zip(moves, lines, strict=True)):
            found[f"{move} {number}"] = json.loads(line)
    wanted = found["lite 2"]
    for move, shown in found.items():
        assert shown["exit"] == 0, (move, shown["said"])
        assert shown["said"].count("rebuilt, and equal to the journal") == 2
        assert shown["degraded"] == {}, "the engine is no news after the move"
        assert shown["problems"] == []
        for what in ("vectors", "pages", "values"):
            assert shown[what] == wanted[what], (move, what)
        if "networkx" not in str(shown["engines"]):  # whose graph is gone when the process ends
            assert len(shown["graph"]) == 2
            assert shown["graph"] == found["full 0"]["graph"], move
    assert sum(len(scope["items"]) for scope in wanted["vectors"].values()) > 30
    assert {move: shown["engines"] for move, shown in found.items()} == {
        "full 0": ["graph ladybug", "vector chroma"],
        "full-lance 1": ["graph ladybug", "vector lancedb"],
        "lite 2": ["graph networkx", "vector sqlite"],
        "full 3": ["graph ladybug", "vector chroma"],
        "graph=kuzu 0": ["graph kuzu", "vector sqlite"],
        "lite 1": ["graph networkx", "vector sqlite"],
    }


class TestTargets:
    def towards(self, *targets: str, **storage: Any) -> Any:
        return towards(load_config({"storage": storage}, environ={}), targets).storage

    def test_a_profile_takes_the_place_of_named_engines(self) -> None:
        found = self.towards("full", graph={"backend": "kuzu", "path": "g", "options": {"buffer_pool_mb": 64}})
        assert found.profile == "full"
        assert found.graph == StoreConfig()

    def test_an_engine_that_stays_keeps_its_options(self) -> None:
        graph = {"backend": "ladybug", "path": "g", "options": {"buffer_pool_mb": 64}, "resident_mb": 9}
        found = self.towards("full-lance", graph=graph, vector={"backend": "chroma", "path": "v", "resident_mb": 8})
        assert (found.graph.path, found.graph.options, found.graph.resident_mb) == ("g", {"buffer_pool_mb": 64}, 9)
        assert found.vector == StoreConfig(resident_mb=8)

    def test_engines_by_name(self) -> None:
        found = self.towards("kuzu", "vector=sqlite", profile="full")
        assert (found.profile, found.graph.backend, found.vector.backend) == ("full", "kuzu", "sqlite")

    def test_an_engine_by_its_place(self) -> None:
        assert self.towards("vector=package.module:OBJECT").vector.backend == "package.module:OBJECT"

    def test_the_journal_stays_where_it_is(self) -> None:
        assert self.towards("full", profile="memory").state.backend == "memory"

    @pytest.mark.parametrize(
        "target",
        [
            "nope",
            "package.module:OBJECT",
            "graph=chroma",
            "files",
            "vector=",
            "",
        ],
    )
    def test_what_is_no_target_is_refused(self, target: str) -> None:
        with pytest.raises(BadInput, match=r"is no target; give a profile .* or a backend .*graph=kuzu"):
            self.towards(target)

    def test_the_journal_is_sent_to_the_command_that_moves_it(self) -> None:
        with pytest.raises(BadInput, match=r"the journal is not rendered but moved: saga move --to state=rocks$"):
            self.towards("state=rocks")

    @pytest.mark.parametrize("target", ["memory", "graph=memory"])
    def test_nothing_moves_into_memory(self, target: str) -> None:
        with pytest.raises(BadInput, match="keeps nothing"):
            self.towards(target)


def test_a_move_to_an_engine_that_is_missing_fails(tmp_path: Path) -> None:
    program = "import sys; sys.modules['lancedb'] = None\nfrom saga_server.cli.saga_command import main\nmain()"
    command = [sys.executable, "-c", program, "rebuild", "--data", str(tmp_path / "data"), "--to", "vector=lancedb"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "pip install 'saga-rp[lancedb]'" in done.stderr
    assert "rebuilt" not in done.stdout


def test_a_session_is_not_moved_alone() -> None:
    result = CliRunner().invoke(main, ["rebuild", "one", "--to", "full"])
    assert result.exit_code == 2
    assert "leave SESSION out" in result.output
