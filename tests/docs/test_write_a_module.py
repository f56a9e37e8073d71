"""docs/write-a-module.md: its module works as the page says, installed beside SAGA's own, and so do those two."""

from __future__ import annotations

import re
import sys
from collections.abc import AsyncIterator, Iterable
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from saga_core import Saga
from saga_core.config import load_config
from saga_core.errors import BadInput, NotFound
from saga_core.model import Event, WorldState, deltas
from saga_core.modules import ModuleTurn, module
from saga_core.trackers import Tracker, tracker_of
from tests.core.frontend import Frontend
from tests.docs.pages import page

PAGE = page("docs/write-a-module.md")
TIME = {"time": {"kind": "clock", "start": "day 1 08:00"}}


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    block = next(each for each in PAGE.blocks if each.language == "python")
    (tmp_path / "saga_torch.py").write_text(block.text, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    ours = list(module.entry_points(group=module.GROUP))
    assert 'torch = "saga_torch:MODULE"' in PAGE.text
    point = EntryPoint("torch", "saga_torch:MODULE", module.GROUP)
    monkeypatch.setattr(module, "entry_points", lambda group: [*ours, point])
    sys.modules.pop("saga_torch", None)


@pytest.fixture
async def saga(installed: None) -> AsyncIterator[Saga]:
    modules = {name: {"enabled": True} for name in ("torch", "rpg", "map")}
    config = {"storage": {"profile": "memory"}, "modules": modules, "trackers": TIME}
    async with Saga.open(load_config(config)) as opened:
        yield opened


async def told(chat: Frontend, words: str, reply: str, block: str) -> tuple[str, str]:
    """Play one turn with a block as written; return its id and the context of the next."""
    turn = await chat.begin(words)
    turn.replies[0].feed(f"{reply}\n\n```state\npresent: []\n{block}\n```")
    (recorded,) = await turn.commit()
    chat.history += [{"role": "user", "content": words}, {"role": "assistant", "content": recorded.reply}]
    return recorded.id, (await chat.begin("And now?")).context.text


def session_of(chat: Frontend) -> str:
    assert chat.last is not None
    return chat.last.session.id


async def described(saga: Saga, chat: Frontend) -> dict[str, Any]:
    return await saga.views.describe(session_of(chat))


async def test_the_module_of_the_page_counts_tells_shows_and_draws(saga: Saga) -> None:
    chat = Frontend(saga, greeting="A cave.", system="You narrate.", note="")
    turn = await chat.begin("I go in.")
    assert "\ntorch: <12|+3>\n" in turn.plan.text() and "torch: 100/100%" in turn.context.text
    await told(chat, "I go in.", "The rain drips in.", "location: cave")
    _, context = await told(chat, "On.", "Deeper.", "location: cave")
    assert "torch: 60/100%" in context
    for number in range(6):
        _, context = await told(chat, f"On {number}.", f"Deeper {number}.", "location: cave")
    assert "[dark] nobody sees anything" in context
    sections = {row["name"]: row["lines"] for row in (await described(saga, chat))["modules"]}
    assert sections["torch"] == ["dark"]
    assert ElementTree.fromstring(await saga.views.picture(session_of(chat), "torch"))[0].get("width") == "0"
    with pytest.raises(NotFound, match="no module 'rpg' draws a picture"):
        await saga.views.picture(session_of(chat), "rpg")


async def test_a_failing_module_is_left_out_of_the_turn_and_named(saga: Saga, monkeypatch: pytest.MonkeyPatch) -> None:
    chat = Frontend(saga, greeting="A cave.", system="You narrate.", note="")
    await told(chat, "I go in.", "Dark.", "location: cave")
    import saga_torch

    def broken(self: object, turn: object) -> list[object]:
        raise RuntimeError("out of oil")

    with monkeypatch.context() as patched:
        patched.setattr(saga_torch.Torch, "rules", broken)
        await told(chat, "On.", "Deeper.", "location: hall")
        assert "out of oil" in saga.counters.degraded["module.torch"]
    state = await described(saga, chat)
    assert state["location"] == "hall"  # the turn is recorded, and the other modules worked
    assert next(row["value"] for row in state["trackers"] if row["name"] == "torch") == 90
    await told(chat, "On.", "Deeper still.", "location: hall")
    assert "module.torch" not in saga.counters.degraded


async def test_dice_are_rolled_anew_by_a_swipe_and_the_same_by_a_replay(saga: Saga) -> None:
    chat = Frontend(saga, greeting="An inn.", system="You narrate.", note="")
    rolls = set()
    for attempt in range(4):
        turn = await chat.begin("I gamble, roll 2d6+1.")
        turn.replies[0].feed(f"The dice fall, {attempt}.\n\n```state\npresent: []\n```")
        (recorded,) = await turn.commit()
        state = await saga.views.state(turn.session.id, recorded.id)
        rolls.add(state.values["rpg.roll"])
        found = re.fullmatch(r"2d6\+1 = (\d+) \((\d), (\d)\)", state.values["rpg.roll"])
        assert found is not None and int(found[1]) == int(found[2]) + int(found[3]) + 1
        assert (await saga.views.state(turn.session.id, recorded.id)).modules == {"rpg": 1, "torch": 1}
    assert len(rolls) > 1
    chat.history += [
        {"role": "user", "content": "I gamble, roll 2d6+1."},
        {"role": "assistant", "content": recorded.reply},
    ]
    assert f"[roll] {state.values['rpg.roll']}" in (await chat.begin("And?")).context.text


async def test_the_narrator_may_ask_for_a_roll_and_conditions_run_out(saga: Saga) -> None:
    chat = Frontend(saga, greeting="An inn.", system="You narrate.", note="")
    _, context = await told(chat, "I jump.", "She leaps.", "roll: 1d20\nconditions: [+poisoned 2, +cursed]")
    assert re.search(r"\[roll\] 1d20 = \d+", context)
    _, context = await told(chat, "On.", "She lands.", "notes: null")
    assert "[roll]" not in context and "poisoned 1, cursed" in context.replace(
        "cursed, poisoned 1", "poisoned 1, cursed"
    )
    _, context = await told(chat, "On.", "She runs.", "notes: null")
    assert "poisoned" not in context and "cursed" in context


async def test_the_map_is_learned_from_play_and_drawn(saga: Saga) -> None:
    chat = Frontend(saga, greeting="A mill.", system="You narrate.", note="")
    await told(chat, "I wake.", "At the mill.", "location: mill")
    await told(chat, "I walk.", "To the ford.", "location: ford\ntime: +40 min")
    _, context = await told(chat, "I walk on.", "To the <inn>.", 'location: "Crow & Bell"\ntime: +20 min')
    assert "[map] ford 20 min, mill 60 min" in context
    drawn = ElementTree.fromstring(await saga.views.picture(session_of(chat), "map"))
    texts = [each.text for each in drawn if each.tag.endswith("text")]
    assert {"mill", "ford", "Crow & Bell", "40′", "20′"} <= set(texts)
    sections = {row["name"]: row["lines"] for row in (await described(saga, chat))["modules"]}
    assert sections["map"] == ["Crow & Bell: ford"]


class Moon:
    """A module of the world's clock, with a value that follows from it."""

    name = "moon"
    version = 1

    def trackers(self, language: str) -> Iterable[Tracker]:
        yield tracker_of({"name": "time", "kind": "clock", "start": "day 1 20:00"})
        yield tracker_of({"name": "moonlight", "for": "world", "range": "0..100", "start": "0", "derived": "yes"})

    def rules(self, turn: ModuleTurn) -> Iterable[Event]:
        yield deltas.TrackerSet("moonlight", light(turn.after))

    def context(self, state: WorldState, language: str) -> Iterable[str]:
        yield f"[moon] {light(state)} %"

    def section(self, state: WorldState, language: str) -> Iterable[str]:
        yield str(state.counted("time"))

    def picture(self, state: WorldState, language: str) -> str:
        return ""


def light(state: WorldState) -> int:
    assert state.minutes is not None
    return 100 - round(abs(state.minutes // 1440 % 28 - 14) * 100 / 14)


async def test_a_value_that_follows_from_the_clock_is_the_modules_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("moon", f"{__name__}:Moon", module.GROUP)
    monkeypatch.setattr(module, "entry_points", lambda group: [point])
    async with Saga.open({"storage": {"profile": "memory"}, "modules": {"moon": {"enabled": True}}}) as saga:
        chat = Frontend(saga, greeting="A hill.", system="You narrate.", note="")
        asked = (await chat.begin("I look up.")).plan.text()
        assert "\ntime: <" in asked and "\nmoonlight: <" not in asked
        _, context = await told(chat, "I wait.", "A week.", "time: day 8 21:00\nmoonlight: 3")
        assert "moonlight: 50/100" in context and "[moon] 50 %" in context.partition("[Events]")[2]
        state = await described(saga, chat)
        assert state["modules"][0]["lines"] == [str(7 * 1440 + 21 * 60)] and state["problems"] == []
        await saga.memory.correct(session_of(chat), "tracker", {"tracker": "time", "value": "day 15 21:00"})
        assert "[moon] 100 %" in (await chat.begin("And now?")).context.text  # though the rules have not run again
        _, context = await told(chat, "On.", "Light.", "location: hill")
        assert "moonlight: 100/100" in context


async def test_an_unknown_module_is_refused(installed: None) -> None:
    config = load_config({"storage": {"profile": "memory"}, "modules": {"weather": {"enabled": True}}})
    with pytest.raises(BadInput, match=r"modules.weather: no such module is installed; there are map, rpg, torch"):
        async with Saga.open(config):
            pass
    config = load_config({"storage": {"profile": "memory"}, "modules": {"saga_moon:Moon": {"enabled": True}}})
    with pytest.raises(BadInput, match=r"goes into plugins, such as plugins: {saga\.modules: {NAME: saga_moon:Moon}}"):
        await Saga.open(config)
