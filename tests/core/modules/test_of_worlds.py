"""A world names the modules that its stories use."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from saga_core import Saga
from saga_core.counters import Counters
from saga_core.modules import open_modules
from saga_core.world import WorldLibrary
from tests.core.frontend import Frontend

WORLDS = Path(__file__).parents[3] / "worlds"


def test_the_example_worlds_use_both_modules() -> None:
    library = WorldLibrary((WORLDS,))
    assert {name for world in ("ersia", "harrow") for name in library.get(world).modules} == {"rpg", "map"}


def test_a_world_adds_modules_and_the_configuration_switches_them_off() -> None:
    counters = Counters()
    modules = open_modules({"rpg": False}, counters)
    assert [each.name for each in modules.of_world(("map", "rpg")).modules] == ["map"]
    assert modules.of_world(("map",)) is modules.of_world(("map",))
    assert modules.of_world(()) is modules
    assert not counters.degraded


def test_a_module_that_is_not_installed_is_said_and_the_story_goes_on() -> None:
    counters = Counters()
    modules = open_modules({}, counters).of_world(("weather", "map"))
    assert [each.name for each in modules.modules] == ["map"]
    assert "no such module is installed" in counters.degraded["module.weather"]


async def test_a_story_of_the_world_has_its_trackers() -> None:
    config = {"storage": {"profile": "memory"}, "session": {"default_world": "harrow"}}
    async with Saga.open(config) as saga:
        chat = Frontend(saga, system="", greeting="", note="")
        await chat.say("I look.", "Water.\n\n```state\ntide: high\nstrength: +1\n```")
        assert chat.last is not None
        shown = await saga.views.describe(chat.last.session.id)
        found = {each["name"]: each["value"] for each in shown["trackers"]}
        assert (found["tide"], found["strength"]) == ("high", 3)
        assert {each["name"] for each in shown["modules"]} == {"rpg", "map"}


async def test_a_map_is_xml_whatever_the_places_are_called() -> None:
    async with Saga.open({"storage": {"profile": "memory"}}) as saga:
        chat = Frontend(saga, system="", greeting="", note="")
        place = "A\\u0001B\\u001bC\\u0085\\ufffeD\\uffff\\u202eE"
        await chat.say("I look.", f'Water.\n\n```state\nlocation: "{place}"\n```')
        assert chat.last is not None
        drawn = await saga.views.picture(chat.last.session.id, "map", None)
        assert "A\ufffdB\ufffdC" in "".join(ElementTree.fromstring(drawn).itertext())
        assert not set("\x01\x1b\x85\ufffe\uffff\u202e") & set(drawn)
