"""What a start imports, what right after it, and that no turn has to wait for more."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from saga_core import registry
from saga_core.assembly.warm_up import warm_up_steps
from saga_core.config import load_config
from saga_server import server as server_module
from saga_server.server import Server

_PLAYED = """
import asyncio, json, sys
from pathlib import Path
from attrs import evolve
import saga_server.cli.saga_command
from saga_core.config import load_config
from saga_server.cli.serve import Server

PROVIDER = {"openai": {"base_url": "http://127.0.0.1:1/v1"}}

async def main():
    told = {"storage": {"path": sys.argv[1]}, "extraction": {"automatic": "never"}}
    config = load_config({**told, "providers": PROVIDER})
    server = Server(evolve(config, server=evolve(config.server, port=0)), environ={})
    await server.start()
    found = [sorted(sys.modules)]  # nothing else ran yet: this is what was there when it was ready
    await server._warming
    found.append(sorted(sys.modules))
    saga = server.saga
    for words in ("광장으로 간다.", "I draw my sword."):
        begun = await saga.begin([{"role": "user", "content": words}], session="s", world="ersia")
        begun.replies[0].feed("아리아가 고개를 끄덕인다.\\n```state\\nlocation: 광장\\nhp: 80\\n```")
        begun.replies[0].finish()
        await begun.commit()
    await saga.drain(30)
    found.append(sorted(sys.modules))
    await server.stop()
    print(json.dumps(found))

asyncio.run(main())
"""

HEAVY = (
    "anthropic chromadb httpx2 kuzu ladybug lancedb networkx numpy openai onnxruntime pydantic rich sqlite_utils "
    "tokenizers yaml"
).split()
LATER = (
    "saga_core.curation.corrections saga_core.curation.rules saga_core.curation.validation "
    "saga_core.maintenance.verify saga_core.extraction.extractor saga_core.strategies.consolidation "
    "saga_core.strategies.learner saga_server.admin.backups saga_server.cli.bench saga_server.cli.data.backup "
    "saga_server.cli.data.data_access saga_server.cli.explain saga_server.cli.memories saga_server.cli.data.rebuild "
    "saga_server.cli.sessions saga_server.cli.data.transfer saga_server.cli.data.verify saga_server.cli.conformance "
    "saga_server.admin.maintenance saga_server.demo saga_server.admin.endpoints saga_server.doctor "
    "saga_server.admin.answers saga_server.admin.openapi "
    "saga_server.cli.top"
).split()


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> list[set[str]]:
    """The modules of a process that serves: when it was ready, when the rest was imported, and after two turns."""
    data = tmp_path_factory.mktemp("data")
    for _ in range(2):  # the first start makes the files
        done = subprocess.run([sys.executable, "-c", _PLAYED, str(data)], capture_output=True, text=True, check=True)
    return [set(names) for names in json.loads(done.stdout.splitlines()[-1])]


def test_what_starting_does_without(modules: list[set[str]]) -> None:
    ready, warm, _ = modules
    assert ready & {*HEAVY, *LATER} == set()
    assert "aiohttp" in ready
    assert warm >= {"saga_core.curation.rules", "saga_core.curation.validation"}


def test_only_the_configured_provider_is_opened(modules: list[set[str]]) -> None:
    _, warm, played = modules
    assert warm >= {"httpx2", "saga_backends.chat.openai"}
    assert played & {"anthropic", "openai", "pydantic", "saga_backends.chat.anthropic"} == set()


def test_every_name_is_one_of_a_module() -> None:
    """A module that was renamed would be missing from a start whatever it imports."""
    root = Path(__file__).resolve().parents[2]
    gone = [name for name in LATER if not list(root.glob(f"{name.replace('.', '/')}*"))]
    assert gone == []


def test_a_turn_imports_nothing_that_could_have_been_there(modules: list[set[str]]) -> None:
    _, warm, played = modules
    assert {name for name in played - warm if name.startswith(("saga_", "numpy", "cattrs"))} == set()


async def test_chats_that_came_meanwhile_go_first(monkeypatch: pytest.MonkeyPatch) -> None:
    happened: list[str] = []
    chats = [1, 1, 0, 1, 0]

    def looked(_: Server) -> int:
        happened.append(f"{chats[0]} open")
        return chats.pop(0)

    monkeypatch.setattr(server_module, "_LOOK_SECONDS", 0.0)
    monkeypatch.setattr(Server, "open_requests", property(looked))
    monkeypatch.setattr(
        server_module, "warm_up_steps", lambda: (partial(happened.append, each) for each in ("one", "two"))
    )
    tree = {"storage": {"profile": "memory"}, "server": {"port": 0}}
    async with Server(load_config(tree, environ={}), {}) as server:
        assert server._warming is not None
        await server._warming
    assert happened == ["1 open", "1 open", "0 open", "one", "1 open", "0 open", "two"]


async def test_chats_that_never_end_are_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    monkeypatch.setattr(server_module, "_LOOK_SECONDS", 0.0)
    monkeypatch.setattr(server_module, "_LOOKS", 3)
    monkeypatch.setattr(Server, "open_requests", property(lambda _: 1))
    monkeypatch.setattr(server_module, "warm_up_steps", lambda: iter([partial(done.append, "one")]))
    tree = {"storage": {"profile": "memory"}, "server": {"port": 0}}
    async with Server(load_config(tree, environ={}), {}) as server:
        assert server._warming is not None
        await server._warming
    assert done == ["one"]


def test_what_is_not_there_is_said_and_met_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(registry, "warm_up", lambda: ("no_such_library",))
    for step in warm_up_steps():
        step()
    assert "no_such_library cannot be imported" in caplog.text
