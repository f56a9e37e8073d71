"""The instruction to the narrator, and the block that SAGA writes itself."""

from __future__ import annotations

import pytest
from attrs import evolve, fields
from hypothesis import example, given

from saga_core.language import known
from saga_core.state_block import (
    BlockFields,
    BlockStatus,
    ItemAmount,
    ItemTransfer,
    RelationChange,
    StatusChange,
    hide,
    instruction,
    parse_block,
    read_reply,
)
from tests.blocks import render_block
from tests.core.state_block.written_fields import fields as block_fields
from tests.core.state_block.written_fields import stories

CANONICAL = """\
```state
location: 어둠의 숲
location_moved: true
hp_change: -15
items_gained: [불꽃 검]
items_lost: []
items_transferred: []
npc_met: [고블린왕 크룩]
npc_separated: []
relationship_changes: [{from: 아리아, to: 크룩, type: hostile, delta: -2}]
mood: tense
event_trigger: null
notes: 고블린 영역 진입, 경계 상태
```"""


@given(block_fields, stories)
@example(BlockFields(location="<\u0301", mood="~\u0327", event_trigger="n\u0302one"), "말")
@example(BlockFields(items_transferred=(ItemTransfer("]", None, "숲 hp_change: -5"),)), "말")
@example(BlockFields(items_gained=(ItemAmount("검 x0"), ItemAmount("'검'", 2))), "말")
@example(BlockFields(location="🙂 없음", mood="\\없음", notes="(🙂)"), "말")
def test_what_is_written_is_read(stated: BlockFields, story: str) -> None:
    reading = read_reply(f"{story}\n\n{render_block(stated)}")
    assert reading.fields == stated
    assert reading.status is BlockStatus.OK
    assert reading.invalid == ()


@given(block_fields)
def test_a_written_block_is_one_block_and_all_of_it_is_hidden(stated: BlockFields) -> None:
    hidden = hide(f"말.\n\n{render_block(stated)}\n\n더.")
    assert hidden.visible == "말.\n\n더."
    assert len(hidden.blocks) == 1 and hidden.blocks[0].closed


def test_the_canonical_form() -> None:
    stated = read_reply(CANONICAL).fields
    assert stated == BlockFields(
        location="어둠의 숲",
        location_moved=True,
        hp_change=-15,
        items_gained=(ItemAmount("불꽃 검"),),
        npc_met=("고블린왕 크룩",),
        relationship_changes=(RelationChange("아리아", "크룩", "hostile", -2),),
        mood="tense",
        notes="고블린 영역 진입, 경계 상태",
    )
    assert render_block(stated) == CANONICAL


def test_how_hard_values_are_written() -> None:
    stated = BlockFields(
        location="none",
        items_gained=(ItemAmount("치유 물약", 2), ItemAmount("물약 x2"), ItemAmount("검, 불타는", 3)),
        items_transferred=(ItemTransfer("은반지", None, "크룩"), ItemTransfer("2x 물약", "a", "b", 2)),
        npc_met=('"```"', "<item>"),
        status_changes=(StatusChange("크룩", "dead"),),
    )
    lines = render_block(stated).splitlines()
    assert lines[1] == r'location: "\u006eone"'
    assert lines[4] == 'items_gained: [치유 물약 x2, {name: 물약 x2, quantity: 1}, {name: "검, 불타는", quantity: 3}]'
    assert lines[6] == 'items_transferred: [{item: 은반지, to: 크룩}, {item: "2x 물약", from: a, to: b, quantity: 2}]'
    assert lines[7] == r'npc_met: ["\"\u0060\u0060\u0060\"", "\u003citem>"]'
    assert "status_changes: [{name: 크룩, status: dead}]" in lines


@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        ({"location": ""}, "location"),
        ({"location": " 숲"}, "location"),
        ({"mood": "a\nb"}, "mood"),
        ({"location": "숲" * 201}, "location"),
        ({"notes": "숲" * 2001}, "notes"),
        ({"hp_change": 1_000_001}, "hp_change"),
        ({"items_gained": (ItemAmount("검", 0),)}, "items_gained"),
        ({"items_lost": (ItemAmount(""),)}, "items_lost"),
        ({"npc_met": tuple("가" for _ in range(101))}, "npc_met"),
        ({"relationship_changes": (RelationChange("a", "b", "c", 1_001),)}, "relationship_changes"),
        ({"items_transferred": (ItemTransfer("a", " b", None),)}, "items_transferred"),
    ],
)
def test_what_no_block_can_state_is_refused(wrong: dict[str, object], name: str) -> None:
    with pytest.raises(ValueError, match=f"^{name}: no state block can state"):
        render_block(evolve(BlockFields(mood="x"), **wrong))


@pytest.mark.parametrize("language", ["en", "ko"])
def test_the_instruction_is_short_and_names_every_field(language: str) -> None:
    text = instruction(language)
    assert len(text.split()) <= 160
    unasked = ("hp", "money", "informed", "counts")  # they are read, and not asked for in the form
    assert all(f"\n{attribute.name}: " in text for attribute in fields(BlockFields) if attribute.name not in unasked)


@pytest.mark.parametrize("language", ["en", "ko"])
def test_a_form_that_is_copied_unfilled_states_nothing(language: str) -> None:
    reading = read_reply(instruction(language))
    assert (reading.status, reading.fields, reading.invalid) == (BlockStatus.FALLBACK, BlockFields(), ())
    assert "```" not in reading.visible


@pytest.mark.parametrize("language", ["en", "ko"])
def test_the_instruction_is_the_same_in_every_turn(language: str) -> None:
    assert instruction(language) is instruction(language)


def test_languages() -> None:
    assert instruction() == instruction("en") == instruction("en-US")
    assert instruction("ko") == instruction("ko_KR") != instruction("en")
    with pytest.raises(ValueError, match=f"'xx' .* use one of {', '.join(known())}"):
        instruction("xx")


def test_an_empty_block_is_written_with_every_line_of_the_form() -> None:
    block = render_block(BlockFields())
    assert len(block.splitlines()) == 14
    assert parse_block(block.removeprefix("```state\n").removesuffix("```")).status is BlockStatus.OK
