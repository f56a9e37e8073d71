"""A letter mistyped: whose name a long one with another letter is, and when it is somebody else's."""

from __future__ import annotations

import pytest

from saga_core.extraction.writer import read_delta
from saga_core.model import Entity, Kind, WorldState, fold
from saga_core.naming.names import Names
from saga_core.state_block import StateReading, parse_block


def told(state: WorldState, block: str) -> WorldState:
    parsed = parse_block(block)
    delta = read_delta(StateReading("", parsed.status, parsed.fields), state)
    return fold(state, delta, turn=f"t{state.depth + 1}", depth=state.depth + 1)


def company(state: WorldState) -> list[tuple[str, tuple[str, ...]]]:
    return sorted((state.name(who), tuple(state.entities[who].aliases)) for who in state.present)


@pytest.fixture
def opening() -> WorldState:
    return WorldState(turn="t0", player="p", entities={"p": Entity("p", Kind.CHARACTER, "Player")})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("백아린", "백하린"),
        ("김서연", "김시연"),
        ("온실지기 백아린", "온실지기 백하린"),
        ("박지원 선생", "박지현 선생"),
    ],
)
def test_korean_names_that_differ_in_one_syllable_are_two_peoples(opening: WorldState, one: str, other: str) -> None:
    state = told(opening, f"present: [{one}]\nnpc_met: [{one}]")
    both = told(state, f"present: [{one}, {other}]\nnpc_met: [{other}]")
    assert company(both) == sorted([(one, ()), (other, ())])
    assert company(told(state, f"present: [{other}]")) == [(other, ())], "also where only one of them is named"


@pytest.mark.parametrize(
    ("known", "written"),
    [
        ("Odalys Finch", "Odalis Finch"),
        ("Corin Fenwright", "Corin Fenwrihgt"),
        ("세바스티안", "세바스티얀"),
        ("기사 세바스티안", "기사 세바스티얀"),
    ],
)
def test_a_long_name_with_one_letter_mistyped_is_still_that_name(opening: WorldState, known: str, written: str) -> None:
    state = told(told(opening, f"npc_met: [{known}]"), f"npc_met: [{written}]")
    assert company(state) == [(known, (written,))]


@pytest.mark.parametrize(
    "block",
    [
        "present: [Marian Holt, Marion Holt]",
        "npc_met: [Marion Holt]\nnpc_separated: [Marian Holt]",
        "relationship_changes: [{from: Marion Holt, to: Marian Holt, type: sister, delta: 1}]",
        "items_transferred: [{item: a ring, from: Marian Holt, to: Marion Holt}]",
        "npc_met: [Marion Holt]\nstatus_changes: [{name: Marian Holt, status: wounded}]",
    ],
)
def test_whom_one_block_names_at_once_are_two(opening: WorldState, block: str) -> None:
    state = told(told(opening, "npc_met: [Marian Holt]"), block)
    people = {each.name: each.aliases for each in state.entities.values() if each.kind is Kind.CHARACTER}
    assert people == {"Player": (), "Marian Holt": (), "Marion Holt": ()}


def test_a_place_of_short_words_may_still_be_mistyped() -> None:
    gate = Entity("l", Kind.LOCATION, "북쪽 나루터")
    state = WorldState(turn="t", player="p", entities={"l": gate})
    assert Names(state).find(Kind.LOCATION, "북쪽 나루타") == "l"
