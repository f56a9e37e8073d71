"""A form that a model copies states nothing, in any language's words; names that only look alike stay."""

from __future__ import annotations

import re

import pytest

from saga_core.language import Language, every
from saga_core.state_block import FIELDS, BlockFields, BlockStatus, instruction, parse_block

FORMS = {each.tag: instruction(each.tag).partition("```state\n")[2].removesuffix("```") for each in every()}


@pytest.mark.parametrize("tag", FORMS)
@pytest.mark.parametrize(
    "mark", ["<{}>", "{}", '"[{}]"', '"{{{}}}"', "({})", '"【{}】"', "{}1", "{} 2", '"<{}_3>"', "[[{} 1]]"]
)
def test_the_form_copied_in_any_dress_states_nothing(tag: str, mark: str) -> None:
    form = re.sub(r"<([^<>|]*)>", lambda slot: mark.format(slot[1]), plain_kinds(FORMS[tag]))
    parsed = parse_block(form)
    assert parsed.fields == BlockFields()
    assert parsed.status is BlockStatus.FALLBACK
    assert parsed.problems[0].startswith("the block is a copy of the form (")


@pytest.mark.parametrize("each", every(), ids=lambda each: each.tag)
def test_the_whole_form_is_no_report(each: Language) -> None:
    assert parse_block(FORMS[each.tag]).status is BlockStatus.FALLBACK


@pytest.mark.parametrize(
    "body",
    [
        "location_moved: true/false",
        "location_moved: true/false\nhp_change: <number>\nitems_gained: [item1]\nmood: one word",
        "location: <장소>\nhp_change: <숫자>\nitems_gained: [아이템]\nitems_lost: [<item> x2]\nnpc_met: [NPC 이름]\n"
        "relationship_changes: [{from: <이름>, to: <이름>, type: hostile, delta: -2}]\nnotes: ...",
        "location: <place>\nlocation_moved: true|false\nitems_lost: []",
        '{"location": "<place>", "items_gained": ["item name"], "items_lost": []}',
    ],
)
def test_placeholders_alone_are_no_report(body: str) -> None:
    parsed = parse_block(body)
    assert (parsed.status, parsed.fields) == (BlockStatus.FALLBACK, BlockFields()) and parsed.problems


@pytest.mark.parametrize(
    "body",
    [
        "location_moved: false\nhp_change: 0\nlocation: <place>\nitems_gained: [<item>]",
        "items_gained: []\nitems_lost: []\nnpc_met: none\nlocation: <place>",
        "present: []\nlocation: <place>\nmood: <one word>",
        "items_gained: []",
        "location: none",
    ],
)
def test_a_placeholder_that_was_left_in_a_report_does_no_harm(body: str) -> None:
    assert parse_block(body).status is BlockStatus.OK


def plain_kinds(form: str) -> str:
    return re.sub(r"^(location_moved|hp_change): .*\n", "", form, flags=re.M)


@pytest.mark.parametrize("field", FIELDS, ids=lambda field: field.name)
def test_the_words_of_a_template_may_be_numbered(field: object) -> None:
    assert field in FIELDS
    templates = field.templates  # type: ignore[attr-defined]
    for word in sorted(templates.words):
        assert templates.holds(word) and templates.holds(f"[{word}]")
        assert templates.holds(f"{word}1") is templates.numbered
        assert templates.holds(f"{word}_12") is templates.numbered


@pytest.mark.parametrize(
    "body",
    [
        "items_gained: [아이템1, 아이템 2]",
        "location: [current location]",
        'location: "[current location]"',
        "location: [현재 장소의 이름]",
        "location: [新しい場所]",
        "location: [当前地点]",
        "npc_met: ['[NPC name]', NPC1, NPC A]",
        "npc_met: ['[name of the NPC]']",
        "npc_met: [人物甲, 名前A, 이름B]",
        "present: [이름1, 이름2]",
        "items_gained: [物品一, 道具2, アイテムA]",
        "items_lost: [item_1, 아이템3]",
        "items_transferred: [아이템1: 이름1 -> 이름2]",
        "items_transferred: [{item: item1, from: NPC1, to: NPC2}]",
        "relationship_changes: [{from: NPC1, to: NPC2, type: hostile, delta: -2}]",
        "relationship_changes: [이름1 -> 이름2: hostile (-2)]",
        "status_changes: [{name: 이름1, status: dead}]",
        "mood: one word",
        "mood: 한 단어",
        "notes: 一行备注",
        "event_trigger: [event name]",
    ],
)
def test_a_placeholder_states_nothing(body: str) -> None:
    parsed = parse_block(body)
    assert (parsed.status, parsed.fields) == (BlockStatus.FALLBACK, BlockFields())
    assert parsed.problems == (f"the block is a copy of the form ({body.partition(':')[0]})",)


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ("npc_met: [Item]", BlockFields(npc_met=("Item",))),
        ("location: Item", BlockFields(location="Item")),
        ("location: The Place", BlockFields(location="The Place")),
        ("location: [Forest]", BlockFields(location="Forest")),
        ("location: [The Inn]", BlockFields(location="The Inn")),
        ("npc_met: [Name Taker, 이름 없는 자]", BlockFields(npc_met=("Name Taker", "이름 없는 자"))),
        ("npc_met: [Placido, 村民A, 人物画家]", BlockFields(npc_met=("Placido", "村民A", "人物画家"))),
        ("mood: moody", BlockFields(mood="moody")),
    ],
)
def test_what_only_looks_alike_stays(body: str, fields: BlockFields) -> None:
    assert parse_block(body).fields == fields
