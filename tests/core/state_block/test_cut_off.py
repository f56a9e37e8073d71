"""Blocks that were cut off: what is whole is read, the half line is not trusted, and the rest is merged in once."""

from __future__ import annotations

import pytest

from saga_core.state_block import (
    BlockFields,
    BlockStatus,
    ItemAmount,
    ItemTransfer,
    RelationChange,
    StatusChange,
    hide,
    merged,
    read_ended,
)
from tests.blocks import render_block

WHOLE = BlockFields(
    location="숲",
    location_moved=True,
    present=("크룩",),
    hp_change=-5,
    items_gained=(ItemAmount("밧줄"), ItemAmount("금화", 3)),
    items_transferred=(ItemTransfer("검", "크룩", "아리아"),),
    npc_met=("크룩",),
    relationship_changes=(RelationChange("크룩", "아리아", "friendly", 2),),
    status_changes=(StatusChange("크룩", "wounded"),),
    mood="calm",
    event_trigger="다리가 무너졌다.",
    notes="비가 온다.",
)
STORY = "그는 걷는다.\n\n"
TEXT = STORY + render_block(WHOLE)


def test_wherever_it_is_cut_the_rest_makes_it_whole_and_doubles_nothing() -> None:
    for end in range(len(STORY) + len("```state\nlocation: 숲\n"), len(TEXT) - 3):
        reading = read_ended(hide(TEXT[:end]), whole=False)
        assert (reading.visible, reading.status) == ("그는 걷는다.", BlockStatus.PARTIAL), end
        assert reading.cut, end
        assert merged(reading.cut, WHOLE) == WHOLE, end


def test_a_whole_block_is_not_cut_though_the_reply_was() -> None:
    assert read_ended(hide(TEXT), whole=False).cut == ""
    assert read_ended(hide(f"{TEXT}\nAnd then"), whole=False).cut == ""


@pytest.mark.parametrize(
    ("tail", "cut"),
    [
        ("mood: calm", False),
        ("mood: calm\n", False),
        ("npc_met: [크룩]", False),
        ("event_trigger:", False),
        ("npc_met: [크", True),
        ("npc_met: [크룩,", True),
        ("items_ga", True),
        ("items_gained: [{name: 밧줄", True),
    ],
)
def test_of_a_reply_that_ended_by_itself_only_a_half_line_tells_of_a_cut(tail: str, cut: bool) -> None:
    reading = read_ended(hide(f"{STORY}```state\nlocation: 숲\nhp_change: -5\n{tail}"), whole=True)
    assert bool(reading.cut) is cut
    assert (reading.fields.location, reading.fields.hp_change) == ("숲", -5)
    assert reading.fields.npc_met == (("크룩",) if tail == "npc_met: [크룩]" else ())


@pytest.mark.parametrize("opener", ["<state>", "```yaml", "[state]", "state:"])
def test_a_report_without_a_fence_of_its_own_is_cut_off_too(opener: str) -> None:
    reading = read_ended(hide(f"{STORY}{opener}\nlocation: 숲\nhp_change: -5\nnpc_m"), whole=False)
    assert reading.visible == "그는 걷는다."
    assert reading.cut
    assert merged(reading.cut, WHOLE).npc_met == ("크룩",)


def test_what_the_block_says_holds_against_the_rest() -> None:
    cut = "location: 숲\nhp: 80/100\nitems_gained: [밧줄]\nitems_lost: []\nnpc_met:\n- 크룩\n- 에르"
    rest = BlockFields(
        location="마을",
        location_moved=True,
        hp_change=-20,
        items_gained=(ItemAmount("방패"),),
        items_lost=(ItemAmount("검"),),
        npc_met=("크룩", "에르겐"),
        mood="tense",
    )
    found = merged(cut, rest)
    assert (found.location, found.location_moved, found.hp_change) == ("숲", True, None)
    assert (found.items_gained, found.items_lost) == ((ItemAmount("밧줄"),), ())
    assert found.npc_met == ("크룩", "에르겐")
    assert found.mood == "tense"
