"""What the pages say of trying a plugin: its file beside the program, and its place in the configuration."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from saga_core import Saga, registry
from saga_core.config import load_config
from saga_core.errors import ConfigError
from saga_core.maintenance import ImportOptions
from saga_server.doctor import examination
from tests.core.frontend import Frontend
from tests.core.strategies.stage import model
from tests.docs.pages import page
from tests.docs.test_examples import run
from tests.server.client import Client

Beside = Callable[[str, str, str], Mapping[str, Any]]


@pytest.fixture
def beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Beside:
    """Save the block of a page that defines a value as a module, and return the ``plugins`` of the page."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(registry, "_configured", {})

    def saved(name: str, value: str, of: str) -> Mapping[str, Any]:
        blocks = page(of).blocks
        block = next(each for each in blocks if each.language == "python" and f"\n{value} = " in each.text)
        (tmp_path / f"{name}.py").write_text(block.text, encoding="utf-8")
        sys.modules.pop(name, None)
        found = next(yaml.safe_load(each.text) for each in blocks if each.language == "yaml" and name in each.text)
        plugins: Mapping[str, Any] = found["plugins"]
        return plugins

    return saved


async def test_a_door(beside: Beside) -> None:
    async with Client.of({"plugins": beside("saga_say", "DOOR", "docs/write-a-door.md")}, {}) as client:
        assert (await client.get("/api/status")).json["doors"]["say"] == ""
        assert list((await client.post("/say", json={"say": ["I look around."]})).json) == ["reply"]


async def test_an_importer(beside: Beside) -> None:
    config = {"storage": {"profile": "memory"}, "plugins": beside("campfire", "CAMPFIRE", "docs/write-an-importer.md")}
    lines = [{"by": "Tam", "me": True, "text": "I add wood."}, {"by": "Odile", "text": "It catches."}]
    raw = json.dumps({"campfire": 1, "lines": lines}).encode()
    async with Saga.open(config) as saga:
        taken = await saga.maintenance.import_files([("evening.json", raw)], ImportOptions())
        assert [each.kind for each in taken.things] == ["campfire_chat"]


async def test_a_strategy(beside: Beside) -> None:
    plugins = beside("rumours", "RUMOURS", "docs/write-a-backend.md")
    assert plugins["saga.backends"]["strategy.rumours"] == "rumours:RUMOURS"
    config = {"storage": {"profile": "memory"}, "plugins": plugins, "memory_strategies": {"rumours": {"every": 1}}}
    async with Saga.open(config) as saga:
        assert "no model" in saga.counters.degraded["curation.memory.rumours"]
    by_place = {"mine": {"use": "rumours:RUMOURS"}}
    async with Saga.open({"storage": {"profile": "memory"}, "memory_strategies": by_place}) as saga:
        assert "no model" in saga.counters.degraded["curation.memory.mine"]


async def test_a_strategy_learns_from_the_answer_on_the_page(beside: Beside) -> None:
    plugins = beside("rumours", "RUMOURS", "docs/write-a-backend.md")
    config = {"storage": {"profile": "memory"}, "plugins": plugins, "memory_strategies": {"rumours": {"every": 1}}}
    block = next(each for each in page("docs/write-a-backend.md").blocks if '"records"' in each.text)
    async with Saga.open(config, curator=model(block.text)) as saga:
        chat = Frontend(saga)
        await chat.say("I listen.", "Odile says that Mira is a smuggler.", notes="x")
        turn = await chat.say("I go on.", "Rain falls.", notes="x")
        await saga.drain(5)
        (found,) = (await saga.memory.records(turn.session.id))["memories"]
        assert (found["text"], found["details"]) == ("Mira is a smuggler.", {"teller": "Odile"})


def test_a_module(tmp_path: Path) -> None:
    blocks = page("docs/write-a-module.md").blocks
    module, play = (each.text for each in blocks if each.language == "python")
    (tmp_path / "saga_torch.py").write_text(module, encoding="utf-8")
    script = tmp_path / "play.py"
    script.write_text(play, encoding="utf-8")
    shown = run(script, tmp_path, tmp_path).strip()
    assert shown == "70/100% ['light']"
    assert f"`{shown}`" in page("docs/write-a-module.md").text


PLUGINS = """
from saga_core.context import Piece, Section
from saga_core.stores import Health, StoreInfo


class Weather:
    id, dimension, baseline, semantic = "weather-1", 2, 0.0, False

    async def embed(self, texts, mode):
        return []

    async def aclose(self):
        pass


class Silent:
    info = StoreInfo(kind="curator", name="silent")

    async def review(self, view):
        return ()

    async def check(self, *, thorough=False):
        return Health(ok=True)

    async def aclose(self):
        pass


class Tide:
    name, needs = "tide", ()

    async def gather(self, scene, given):
        return [Piece("tide", "tide", Section.EVENTS, "The tide is high.", 3.0)]


class Fog:
    name, version = "fog", 1

    def trackers(self, language):
        return ()

    def rules(self, turn):
        return ()

    def context(self, state, language):
        return ["fog everywhere"]

    def section(self, state, language):
        return ()

    def picture(self, state, language):
        return ""


TIDE = Tide()
"""


async def test_every_other_kind_is_named_in_the_same_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "plugs.py").write_text(PLUGINS)
    example = page("docs/write-a-backend.md").path.parent / "examples" / "dict_state.py"
    (tmp_path / "dict_state.py").write_bytes(example.read_bytes())
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(registry, "_configured", {})
    backends = {
        "state.mine": "dict_state:BACKEND",
        "embedder.mine": "plugs:Weather",
        "curator.mine": "plugs:Silent",
        "context.tide": "plugs:TIDE",
    }
    config = {
        "plugins": {"saga.backends": backends, "saga.modules": {"fog": "plugs:Fog"}},
        "storage": {"profile": "memory", "state": "mine"},
        "recall": {"embedder": "mine", "sources": {"tide": {}}},
        "curator": {"backend": "mine"},
        "modules": {"fog": {"enabled": True}},
    }
    async with Saga.open(config) as saga:
        status = await saga.status()
        assert (status["stores"]["state"]["backend"], status["embedder"]) == ("dict", "weather-1")
        turn = await saga.begin([{"role": "user", "content": "I look around."}])
        assert "The tide is high." in turn.context.text and "fog everywhere" in turn.context.text
    assert registry.names("curator")[-2:] == ["mine", "rules"]


@pytest.mark.parametrize("wrong", [{"saga.stores": {}}, {"saga.modules": {"fog": "plugs"}}, {"saga.modules": "fog"}])
def test_what_is_no_entry_point_is_refused(wrong: Mapping[str, Any]) -> None:
    with pytest.raises(ConfigError, match="give entry points by their group"):
        load_config({"plugins": wrong})


def test_doctor_names_a_plugin_that_is_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    nowhere = {"saga.modules": {"none": "nowhere:MODULE"}, "saga.importers": {"absent": "nowhere:IMPORTER"}}
    monkeypatch.setattr(registry, "_configured", {})
    registry.add_entry_points(nowhere)
    lines: list[str] = []
    examination._settings(load_config({"server": {"port": 0}}), examination.DoctorReport(lines.append))
    assert "!!  module none: nowhere:MODULE cannot be loaded: No module named 'nowhere'" in lines
    assert "!!  importer absent: cannot be loaded (ModuleNotFoundError: No module named 'nowhere')" in lines
