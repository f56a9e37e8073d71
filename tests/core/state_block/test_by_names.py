"""Reports that are read by the names of trackers and people, because nothing else in them is as it was asked for."""

from __future__ import annotations

import pytest

from saga_core.state_block.by_names import named_in, read_by_names
from saga_core.state_block.fields import CountReport
from saga_core.state_block.parser import BlockStatus, parse_block, read_reply
from saga_core.trackers import Tracker, TrackerKind, Trackers, Whose

OWN = Trackers(
    (
        Tracker(name="hunger"),
        Tracker(name="gold", kind=TrackerKind.MONEY, steps=((1, "copper"), (10, "silver"), (100, "gold"))),
        Tracker(name="weather", kind=TrackerKind.CHOICE, whose=Whose.WORLD, steps=((0, "clear"), (1, "rain"))),
        Tracker(name="clues", kind=TrackerKind.LIST),
        Tracker(name="outfit", kind=TrackerKind.TEXT, whose=Whose.CHARACTER),
        Tracker(name="mood", whose=Whose.CHARACTER),
        Tracker(name="affection", kind=TrackerKind.METER, whose=Whose.PAIR),
    )
)
PEOPLE = ("Ada", "Ben")


def counts(body: str, own: Trackers = OWN) -> list[tuple[str, str, str]]:
    return [(each.tracker, each.subject, ", ".join(each.values)) for each in read_by_names(body, own, PEOPLE)]


@pytest.mark.parametrize(
    "body",
    [
        "<mood><Ada>3</Ada><Ben>-1</Ben></mood>",
        "mood.Ada = 3\nmood.Ben = -1",
        "mood[Ada]: 3\nmood[Ben]: -1",
        "[mood]\nAda = 3\nBen = -1",
        "Ada's mood: 3\nBen's mood: -1",
        "mood (Ada): 3\nmood (Ben): -1",
        "Ada:\n  mood: 3\nBen:\n  mood: -1",
        "**Ada**\n- mood: 3\n\n**Ben**\n- mood: -1",
        '{"mood": [{"name": "Ada", "value": 3}, {"name": "Ben", "value": -1}]}',
        '[{"name": "Ada", "mood": 3}, {"name": "Ben", "mood": -1}]',
        '<mood name="Ada" value="3"/>\n<mood name="Ben" value="-1"/>',
        "npc_Ada_mood: 3\nnpc_Ben_mood: -1",
        "| who | mood | outfit |\n|---|---|---|\n| Ada | 3 | |\n| Ben | -1 | |",
        "| | Ada | Ben |\n|---|---|---|\n| mood | 3 | -1 |",
        "mood: Ada - 3; Ben: -1",
        '[{"tracker": "mood", "who": "Ada", "value": 3}, {"tracker": "mood", "who": "Ben", "value": -1}]',
    ],
)
def test_a_value_is_hers_whose_name_stands_beside_it(body: str) -> None:
    assert [row for row in counts(body) if row[0] == "mood"] == [("mood", "Ada", "3"), ("mood", "Ben", "-1")]


@pytest.mark.parametrize(
    ("body", "value"),
    [
        ('{"hunger": {"change": 7}}', "+7"),
        ('{"hunger": {"old": 20, "new": 27}}', "27"),
        ("| hunger | 20 | 7 | 27 |", "27"),
        ('{"op": "increase", "path": "hunger", "value": 7}', "+7"),
        ("_.set('hunger', 20, 27); // nothing to eat", "27"),
        ("player.hunger: 27", "27"),
        ("hunger (+7)", "+7"),
    ],
)
def test_of_a_record_the_value_counts(body: str, value: str) -> None:
    assert counts(body) == [("hunger", "", value)]


def test_a_name_in_a_text_is_no_value() -> None:
    assert counts("outfit: {Ada: a dress in mood colours}\nclues: [+gold coin, Ben's ring]") == [
        ("outfit", "Ada", "a dress in mood colours"),
        ("clues", "", "+gold coin, Ben's ring"),
    ]
    assert named_in("She was in no mood for hunger.", OWN) == set()


def test_a_number_that_is_none_is_left_out() -> None:
    assert counts("hunger: unclear") == []


def test_what_was_read_well_stays() -> None:
    parsed = parse_block("mood: {Ada: 3}\nhunger: 5\nMina's mood: 9", own=OWN, people=PEOPLE)
    assert CountReport("mood", ("3",), "Ada") in parsed.fields.counts
    assert CountReport("hunger", ("5",)) in parsed.fields.counts


def test_a_report_that_only_names_show_is_one() -> None:
    parsed = parse_block("(hunger +7, gold -1 silver, mood Ada +2)", own=OWN, people=PEOPLE)
    assert parsed.status is BlockStatus.OK
    assert {(each.tracker, each.subject, each.values) for each in parsed.fields.counts} == {
        ("hunger", "", ("+7",)),
        ("gold", "", ("-1 silver",)),
        ("mood", "Ada", ("+2",)),
    }


@pytest.mark.parametrize(
    ("name", "key"),
    [("허기", "hunger"), ("空腹", "Hunger"), ("饥饿", "hunger"), ("hunger", "허기"), ("날씨", "weather")],
)
def test_what_is_often_counted_is_found_in_every_language(name: str, key: str) -> None:
    own = Trackers((Tracker(name=name),))
    assert own.find(key) == own.declared[0]
    assert counts(f"{key}: 3", own) == [(name, "", "3")]


def test_a_declared_name_goes_before_that_of_another_language() -> None:
    own = Trackers((Tracker(name="돈"), Tracker(name="gold")))
    assert own.find("gold") == own.declared[1]
    assert own.find("money") == own.declared[0]


def test_a_report_in_several_blocks_is_one() -> None:
    reading = read_reply("Rain.\n\n```state\nhunger: 5\n```\n```state\nweather: rain\n```", OWN)
    assert {each.tracker for each in reading.fields.counts} == {"hunger", "weather"}
    again = read_reply("Rain.\n\n```state\nhunger: 5\n```\n```state\nhunger: 6\n```", OWN)
    assert again.fields.counts == (CountReport("hunger", ("6",)),)


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("hunger: 5\nmood (Ada): -1\nmood (Ben): 3", {("mood", "Ada", "-1"), ("mood", "Ben", "3")}),
        ("hunger: 5\nmood: Ada 0 -> 1", {("mood", "Ada", "0 → 1")}),
        ('{"hunger": 5, "affection": {"Ada": {"before": 10, "after": 13}}}', {("affection", "Ada", "13")}),
        ('{\\"hunger\\": 5, \\"mood\\": {\\"Ada\\": 2}}', {("mood", "Ada", "2")}),
        ("hunger: 5\nclues:\n+ a key\n- a map", {("clues", "", "+a key, -a map")}),
        ('{"hunger": 5, "clues": {"新增": ["key"], "移除": ["map"]}}', {("clues", "", "+key, -map")}),
    ],
)
def test_habits_of_models_are_read(body: str, found: set[tuple[str, str, str]]) -> None:
    counted = parse_block(body, own=OWN, people=PEOPLE).fields.counts
    assert {(each.tracker, each.subject, ", ".join(each.values)) for each in counted} == {("hunger", "", "5"), *found}


def test_an_empty_fence_before_a_report_is_no_report() -> None:
    reading = read_reply("Rain.\n\n```state\n```\nlocation: hall\npresent: [Ada]\nmood: calm\nhp_change: -1\n", OWN)
    assert reading.fields.location == "hall"
