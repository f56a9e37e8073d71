"""Alias plays: whom a narrator means by a name; what fits several, or nobody, stays its own entity."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from attrs import evolve

from saga_core.extraction.writer import read_delta
from saga_core.model.entities import Kind
from saga_core.model.folding import fold
from saga_core.model.world_state import WorldState
from saga_core.naming.names import Names
from saga_core.state_block import StateReading, parse_block
from saga_core.world.library import WorldLibrary, default_roots
from saga_core.world.opening import opening_state

PLAYS: dict[str, list[dict[str, Any]]] = yaml.load(
    Path(__file__).with_name("aliases.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader
)
MET: list[dict[str, Any]] = yaml.load(
    Path(__file__).with_name("aliases_met.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader
)


def opening(world: str) -> WorldState:
    return opening_state(WorldLibrary(default_roots(Path.cwd())).get(world), "t0")


def told(state: WorldState, block: str, turn: int = 1) -> WorldState:
    parsed = parse_block(block)
    delta = read_delta(StateReading("", parsed.status, parsed.fields), state)
    return fold(state, delta, turn=f"t{turn}", depth=turn)


def test_precision_and_recall() -> None:
    right, wrong, missed = 0, list[str](), list[str]()
    for world, mentions in PLAYS.items():
        state = opening(world)
        names = Names(state)
        for mention in mentions:
            kind = Kind(mention.get("kind", "character"))
            found = names.find(kind, mention["name"])
            known = state.entities[found].name if found else "new"
            if known == mention["is"]:
                right += known != "new"
            elif found:
                wrong.append(f"{mention['name']} is taken for {known}, not {mention['is']}")
            else:
                missed.append(f"{mention['name']} is {mention['is']}")
    meant = sum(mention["is"] != "new" for mentions in PLAYS.values() for mention in mentions)
    assert meant >= 70
    assert right / (right + len(wrong)) >= 0.97, wrong
    assert right / meant >= 0.9, missed


def test_precision_and_recall_of_those_whom_a_play_brings_in() -> None:
    right, wrong, missed = 0, list[str](), list[str]()
    for play in MET:
        state = opening(play["world"])
        for turn, block in enumerate(play["told"], 1):
            state = told(state, block, turn)
        names = Names(state)
        for name, meant in play["mentions"]:
            found = names.find(Kind.CHARACTER, name)
            known = state.entities[found].name if found else "new"
            if known == meant:
                right += known != "new"
            elif found:
                wrong.append(f"{name} is taken for {known}, not {meant}")
            else:
                missed.append(f"{name} is {meant}")
    total = right + len(missed)
    assert total >= 180
    assert right / (right + len(wrong)) >= 0.97, wrong
    assert right / total >= 0.9, missed


def test_who_is_present_decides_between_two() -> None:
    state = opening("harrow")
    assert Names(state).find(Kind.CHARACTER, "Pell") is None
    josiah = Names(state).find(Kind.CHARACTER, "Josiah Pell")
    assert josiah is not None
    assert Names(evolve(state, present=(josiah,))).find(Kind.CHARACTER, "Pell") == josiah


def test_two_in_one_name_are_two_only_when_both_are_known() -> None:
    state = told(opening("ersia"), "npc_met: [크룩과 바르가, 먼지와 재]")
    assert [state.name(who) for who in state.met] == ["고블린왕 크룩", "고블린 족장 바르가", "먼지와 재"]
    english = told(opening("harrow"), "npc_met: [Corin and Dorcas Quill, Salt and Iron]")
    assert [english.name(who) for who in english.met] == ["Corin Fenwright", "Dorcas Quill", "Salt and Iron"]


@pytest.mark.parametrize("word", ["dead", "사망", "killed", "죽음", "Deceased"])
def test_whoever_is_dead_is_dead_by_any_word(word: str) -> None:
    state = told(opening("ersia"), f"status_changes: [{{name: 크룩, status: {word}}}]")
    (crook,) = [each for each in state.entities.values() if each.name == "고블린왕 크룩"]
    assert crook.dead
    again = told(state, "status_changes: [{name: 크룩, status: 부활}]", 2)
    assert not again.entities[crook.id].dead


def test_a_thing_is_introduced_without_its_article_and_found_with_any() -> None:
    state = told(opening("harrow"), "items_gained: [a rope hook]")
    (hook,) = [each for each in state.entities.values() if each.name == "rope hook"]
    for name in ("the rope hook", "a rope hook", "Rope Hook"):
        assert Names(state).find(Kind.ITEM, name) == hook.id


def test_the_same_name_introduces_once_over_a_long_play() -> None:
    state, before = opening("ersia"), 0
    for turn, name in enumerate(("두건 쓴 남자", "두건 쓴 남자가", "두건쓴 남자", "두건 쓴 남자에게"), 1):
        state = told(state, f"npc_met: [{name}]", turn)
        before = before or len(state.entities)
        assert len(state.entities) == before
