"""Trackers: how they are declared, how values are read and shown, and how they move in the fold."""

from __future__ import annotations

import json
from typing import Any

import pytest

from saga_core.codec import decode, encode
from saga_core.errors import BadInput
from saga_core.extraction.tool_reports import report_tool
from saga_core.model import Delta, Event, Kind, WorldState, deltas, fold
from saga_core.projection.lines import CountedValue, counted_values
from saga_core.state_block import instruction, parse_block
from saga_core.trackers import (
    NO_TRACKERS,
    Count,
    Tracker,
    TrackerKind,
    Trackers,
    UnreadableValue,
    declaration_of,
    read_table,
    read_value,
    shown_value,
    start_value,
    tracker_in_line,
    tracker_of,
    write_table,
)
from saga_core.trackers.clock import read_time
from saga_core.trackers.reading import Reading
from saga_core.world import EMPTY_WORLD, opening_state, parse_world, render_world


def tracker(name: str, **fields: str) -> Tracker:
    return tracker_of({"name": name, **{key.rstrip("_"): text for key, text in fields.items()}})


GOLD = tracker("gold", range="0..999", unit="coins", start="10")
AFFECTION = tracker("affection", kind="meter", steps="-50 hates, 0 neutral, 30 friendly, 70 loves")
PURSE = tracker("purse", kind="money", steps="copper, 10 silver, 100 gold")
OUTFIT = tracker("outfit", kind="text", for_="character")
WEATHER = tracker("weather", kind="choice", for_="world", steps="clear, rain, storm", start="rain")
TIME = tracker("time", kind="clock", start="Monday 08:00")
CLUES = tracker("clues", kind="list")
CURSED = tracker("cursed", kind="flag")
MOONLIGHT = tracker("moonlight", for_="world", range="0..100", start="0", derived="yes")
EVERY = (GOLD, AFFECTION, PURSE, OUTFIT, WEATHER, TIME, CLUES, CURSED, MOONLIGHT)


@pytest.mark.parametrize(
    ("which", "text", "value"),
    [
        (GOLD, "12", 12),
        (GOLD, "12 → 15", 15),
        (GOLD, "1,200", 1200),
        (GOLD, "12/20", 12),
        (GOLD, "= -5", -5),
        (GOLD, "５", 5),
        (AFFECTION, "=-20", -20),
        (AFFECTION, "friendly", 30),
        (AFFECTION, "45 (+5)", 45),
        (PURSE, "3 gold 5 silver", 350),
        (WEATHER, "Rain", "rain"),
        (WEATHER, "storm (heavy)", "storm"),
        (OUTFIT, "red coat, black hat", "red coat, black hat"),
        (CURSED, "아니오", False),
        (CURSED, "yes", True),
        (CLUES, "a, b", ("a", "b")),
        (CLUES, "none", ()),
    ],
)
def test_a_text_without_a_sign_is_the_new_value(which: Tracker, text: str, value: Any) -> None:
    assert read_value(which, text).value == value


@pytest.mark.parametrize(
    ("which", "text", "by"),
    [(GOLD, "+3", 3), (GOLD, "−3 (paid)", -3), (AFFECTION, "-20", -20), (PURSE, "+2 gold", 200), (TIME, "+2h", 120)],
)
def test_a_number_with_a_sign_is_a_change(which: Tracker, text: str, by: int) -> None:
    assert (read_value(which, text).by, read_value(which, text).value) == (by, None)


def test_a_list_gains_and_loses_items() -> None:
    reading = read_value(CLUES, ["+letter", "-key"])
    assert (reading.added, reading.removed) == (("letter",), ("key",))


@pytest.mark.parametrize("text", ["no change", "unchanged", "변화 없음", ""])
def test_a_word_for_no_change_changes_nothing(text: str) -> None:
    assert not read_value(GOLD, text).changes


@pytest.mark.parametrize(
    ("which", "text"), [(GOLD, "many"), (GOLD, "3.5"), (WEATHER, "snow"), (CURSED, "blue"), (TIME, "x")]
)
def test_what_is_no_value_is_refused(which: Tracker, text: str) -> None:
    with pytest.raises(UnreadableValue):
        read_value(which, text)


@pytest.mark.parametrize("which", [GOLD, PURSE, AFFECTION, tracker("coins", kind="money")], ids=lambda each: each.name)
@pytest.mark.parametrize("text", ["1e308", "1E5", "=1e3", "-2e+9", "1.e5", "3 (1e7)"])
def test_a_number_with_an_exponent_is_not_read_in_parts(which: Tracker, text: str) -> None:
    with pytest.raises(UnreadableValue):
        read_value(which, text)


MONDAY_8 = 480


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("14:30", "Day 1, Monday, 14:30"),
        ("three days later", "Day 4, Thursday, 08:00"),
        ("Saturday", "Day 6, Saturday, 08:00"),
        ("Saturday 19:00", "Day 6, Saturday, 19:00"),
        ("day 3, 14:30", "Day 3, Wednesday, 14:30"),
        ("evening", "Day 1, Monday, 19:00"),
        ("next morning", "Day 2, Tuesday, 08:00"),
        ("7pm", "Day 1, Monday, 19:00"),
        ("07:00", "Day 2, Tuesday, 07:00"),
        ("3일 후", "Day 4, Thursday, 08:00"),
        ("사흘 뒤", "Day 4, Thursday, 08:00"),
        ("토요일", "Day 6, Saturday, 08:00"),
        *((text, "Day 2, Tuesday, 20:00") for text in ("第二天晚上8点", "第二天晚上八点", "翌晚20:00")),
        ("오후 3시", "Day 1, Monday, 15:00"),
        ("3日後", "Day 4, Thursday, 08:00"),
        ("翌朝", "Day 2, Tuesday, 08:00"),
        ("第3天", "Day 3, Wednesday, 00:00"),
        ("周六晚上8点", "Day 6, Saturday, 20:00"),
        *(
            (text, "Day 2, Tuesday, 05:00")
            for text in ("2일 5:00", "2일 새벽", "2日 5:00", "2日の5時", "2号5点", "2日凌晨5:00")
        ),
        *(
            (text, "Day 3, Wednesday, 05:00")
            for text in ("2일 뒤 5:00", "+2일 5:00", "이틀 후 새벽 5시", "2日後5時", "2天后5点")
        ),
        ("day 2, 7:30 in the evening", "Day 2, Tuesday, 19:30"),
        ("2일 (화요일) 저녁 7시 반", "Day 2, Tuesday, 19:30"),
        *(
            (text, "Day 1, Monday, 19:30")
            for text in ("저녁 7시 반", "저녁 일곱 시 반", "午後7時半", "下午七点半", "오후 7:30")
        ),
        *((text, "Day 2, Tuesday, 01:00") for text in ("밤 1시", "1 o'clock at night", "夜1時", "深夜1点")),
        ("9 in the evening", "Day 1, Monday, 21:00"),
        ("seven in the morning", "Day 2, Tuesday, 07:00"),
        ("nine at night", "Day 1, Monday, 21:00"),
        ("half past nine in the evening", "Day 1, Monday, 21:30"),
        ("Half past nine", "Day 1, Monday, 09:30"),
        ("a quarter to six in the evening", "Day 1, Monday, 17:45"),
        ("ten minutes past eleven at night", "Day 1, Monday, 23:10"),
        ("twenty to one in the afternoon", "Day 1, Monday, 12:40"),
        ("five to midnight", "Day 1, Monday, 23:55"),
        ("quarter past 8 pm", "Day 1, Monday, 20:15"),
        ("ten to twelve hours later", "Day 1, Monday, 20:00"),
        ("twelve hours later", "Day 1, Monday, 20:00"),
        ("twenty minutes later", "Day 1, Monday, 08:20"),
        *((text, "Day 1, Monday, 20:30") for text in ("20.30", "8.30 pm", "Monday, 20.30", "8.30 in the evening")),
        ("1.25 hours later", "Day 1, Monday, 09:15"),
        ("Day 9 in the evening", "Day 9, Tuesday, 19:00"),
        *((text, "Day 8, Monday, 08:00") for text in ("일주일 뒤", "1주일 뒤")),
        ("한 달 뒤", "Day 31, Wednesday, 08:00"),
    ],
)
def test_a_clock_reads_days_hours_and_lengths_of_time(text: str, shown: str) -> None:
    reading = read_value(TIME, text, MONDAY_8)
    now = reading.value if reading.value is not None else MONDAY_8 + reading.by
    assert shown_value(TIME, now) == shown


@pytest.mark.parametrize(
    "text", ["第二天", "第二日早上", "第二天早上八点", "next day 08:00", "翌日8:00", "이튿날 8:00"]
)
def test_the_next_day_is_that_of_the_day_that_it_is(text: str) -> None:
    assert shown_value(TIME, read_value(TIME, text, 9 * 1440 + 540).value) == "Day 11, Thursday, 08:00"


POUNDS = Tracker(name="cash", kind=TrackerKind.MONEY, steps=((1, "pence"), (100, "pounds")))
CASH = Tracker(name="cash", kind=TrackerKind.MONEY)


@pytest.mark.parametrize(
    ("tracker", "said", "reading"),
    [
        (POUNDS, "£25", Reading(2500)),
        (POUNDS, "-£4.60", Reading(by=-460)),
        (POUNDS, "-4.60 pounds", Reading(by=-460)),
        (POUNDS, "-15€", Reading(by=-1500)),
        (POUNDS, "-4 pounds 60 pence", Reading(by=-460)),
        (POUNDS, "-60 pence", Reading(by=-60)),
        (POUNDS, "+1,200 pounds", Reading(by=120_000)),
        (CASH, "-$15", Reading(by=-15)),
        (CASH, "+$1,200", Reading(by=1200)),
        (CASH, "-₩12,000", Reading(by=-12_000)),
        (CASH, "$40", Reading(40)),
        (CASH, "+5만 원", Reading(by=50_000)),
        (CASH, "3만 원", Reading(30_000)),
        (CASH, "-1만 2천 원", Reading(by=-12_000)),
        (CASH, "-3천 원", Reading(by=-3_000)),
        (CASH, "+1万5千円", Reading(by=15_000)),
    ],
)
def test_money_is_read_with_signs_of_currencies_and_words_for_thousands(
    tracker: Tracker, said: str, reading: Reading
) -> None:
    assert read_value(tracker, said) == reading


FUND = tracker("fund", kind="money", steps="원")
GOLD_COINS = tracker("gold", kind="money", steps="copper, 10 silver, 100 gold")


@pytest.mark.parametrize(
    ("which", "said", "reading"),
    [
        (GOLD_COINS, "5", Reading(500)),
        (GOLD_COINS, "-2", Reading(by=-200)),
        (GOLD_COINS, "5 copper", Reading(5)),
        (PURSE, "5", Reading(5)),
        (tracker("gold and silver", kind="money", steps="copper, 10 silver, 100 gold"), "5", Reading(5)),
        (tracker("Silver purse", kind="money", steps="copper, 10 silver, 100 gold"), "+5", Reading(by=50)),
        (tracker("purse", kind="money", steps="5 nickel, 10 dime"), "3", Reading(15)),
        (PURSE, "=-3 gold 5 silver", Reading(-350)),
        (PURSE, "-은화 7닢", Reading(by=-70)),
        (PURSE, "+銀貨2枚、銅貨3枚", Reading(by=23)),
    ],
)
def test_a_bare_number_counts_the_coin_that_the_money_is_called_after_or_the_smallest(
    which: Tracker, said: str, reading: Reading
) -> None:
    assert read_value(which, said) == reading
    assert shown_value(PURSE, -350) == "-3 gold 5 silver"


CROWNS = tracker("purse", kind="money", steps="pence, 12 shilling, 240 crown")


@pytest.mark.parametrize(
    ("which", "said", "reading"),
    [
        (CROWNS, "one crown less", Reading(by=-240)),
        (CROWNS, "2 crowns more", Reading(by=480)),
        (CROWNS, "received 2 crowns from the Dame", Reading(by=480)),
        (CROWNS, "gave Pell 3 shillings", Reading(by=-36)),
        (CROWNS, "paid 1 crown, got 4 shillings back", Reading(by=-192)),
        (CROWNS, "paid 1 crown and 4 shillings", Reading(by=-288)),
        (CROWNS, "-5s", Reading(by=-60)),
        (CROWNS, "-6d", Reading(by=-6)),
        (FUND, "3백원 지출", Reading(by=-300)),
        (FUND, "천 원 받음", Reading(by=1000)),
        (FUND, "5백 원을 냈다", Reading(by=-500)),
        (FUND, "2백 원", Reading(200)),
    ],
)
def test_words_say_whether_money_was_paid_or_received(which: Tracker, said: str, reading: Reading) -> None:
    assert read_value(which, said) == reading


def test_the_form_names_the_coins_of_money() -> None:
    form = instruction("en", counted=Trackers((GOLD_COINS, FUND, tracker("sum", kind="money"))))
    assert "\ngold: <12 gold|+3 silver|-5 copper>\n" in form
    assert "\nfund: <12 원|+3 원>\n" in form and "\nsum: <12|+3>\n" in form


def test_values_are_shown_with_units_coins_and_steps() -> None:
    assert shown_value(GOLD, 12) == "12/999 coins"
    assert shown_value(AFFECTION, 45) == "+45 (friendly)"
    assert shown_value(PURSE, 352) == "3 gold 5 silver 2 copper"
    assert shown_value(TIME, MONDAY_8, "ko") == "1일째, 월요일, 08:00"


@pytest.mark.parametrize(
    ("value", "step"),
    [(-1, "neutral"), (-49, "neutral"), (-50, "hates"), (-80, "hates"), (0, "neutral"), (29, "neutral")],
)
def test_a_step_below_zero_is_reached_from_above(value: int, step: str) -> None:
    assert shown_value(AFFECTION, value) == f"{value:+d} ({step})"


@pytest.mark.parametrize("each", EVERY)
def test_a_declaration_is_written_and_read_again(each: Tracker) -> None:
    assert tracker_of(declaration_of(each)) == each
    assert read_table(write_table([each])).trackers == (each,)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"name": ""}, "name: '' is no name for a tracker; give one of at most 40 letters"),
        ({"name": "go\u202eld"}, r"name: 'go\u202eld' holds '\u202e', which nobody sees; leave it out"),
        ({"name": "go\0ld"}, r"name: 'go\ufffdld' holds '\ufffd', which nobody sees; leave it out"),
        ({"name": "a", "start": "1e999"}, "start: '1e999' is no value of a number"),
        ({"name": "notes"}, "name: 'notes' is a field that every state block has; choose another name"),
        ({"name": "a", "kind": "nummer"}, "kind: 'nummer' is not known; use one of number, counter"),
        ({"name": "a", "range": "9..1"}, "range: '9..1' ends before it begins; write two whole numbers"),
        ({"name": "a", "kind": "choice"}, "steps: a choice has none; write its options"),
        ({"name": "a", "kind": "clock", "for": "pair"}, "for: 'pair' has no clock"),
        (
            {"name": "a", "kind": "clock", "start": "soon"},
            "start: 'soon' is no value of a clock; write a day",
        ),
        ({"name": "a", "kind": "text", "decay": "-1/turn"}, "decay: a text does not decay"),
        ({"name": "a", "derived": "maybe"}, "derived: 'maybe' is not known; write yes or no"),
        ({"name": "a", "colour": "red"}, "colour: a tracker has no such field; it has name, kind"),
    ],
)
def test_a_wrong_declaration_names_its_field_and_the_remedy(fields: dict[str, str], message: str) -> None:
    with pytest.raises(BadInput) as refused:
        tracker_of(fields)
    assert str(refused.value).startswith(message)


OPTIONS = ",".join(f"s{number}" for number in range(20_000))
LONG = ", ".join(f"{number} {number}" + "a" * 35 for number in range(40))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (f"k | kind=choice | steps={OPTIONS}", "name: 'k | kind=choice | steps=s0,s1,s2,s3,s4,s'… has "),
        (f"k | kind=choice | steps={OPTIONS[:500]}", "steps: 's0,s1,s2,s3,s4,s5,s6,s7,s8,s9,s10,s11,s1'… has 1"),
        (f"k | kind=choice | steps=a, {'b' * 41}", f"steps: '{'b' * 40}'… has 41 characters; give a step at most 40"),
        (f"k | steps={LONG}", "steps: '0 0aaaaa"),
        (f"k | unit={'b' * 241}", f"unit: '{'b' * 40}'… has 241 characters; give at most 240"),
        (f"k | range={'1' * 2_000}", f"range: '{'1' * 40}'… has 2000 characters; give at most 240"),
        (f"k | {'c' * 2_000}=1", f"{'c' * 40}: a tracker has no such field"),
    ],
)
def test_a_declaration_is_short_and_so_is_what_refuses_it(line: str, message: str) -> None:
    with pytest.raises(BadInput) as refused:
        tracker_in_line(line)
    assert str(refused.value).startswith(message)
    assert len(str(refused.value)) < 240


def test_of_an_older_record_beyond_the_limits_the_first_steps_count() -> None:
    steps = [[number, f"s{number}"] for number in range(20_000)]
    fields = {"name": "k", "kind": "choice", "description": "d" * 9_000, "steps": steps}
    plain = json.loads(encode(deltas.TrackersDeclared((GOLD,))))
    opened = decode(json.dumps({**plain, "trackers": [fields]}).encode(), deltas.TrackersDeclared).trackers[0]
    assert [name for _, name in opened.steps] == [f"s{number}" for number in range(64)]
    assert tracker_of(declaration_of(opened)) == opened
    assert len(instruction("en", counted=Trackers((opened,)))) < 4_000


def test_a_line_declares_a_tracker() -> None:
    assert tracker_in_line("gold | range=0..999 | unit=coins | start=10") == GOLD


# -- worlds ------------------------------------------------------------------------------------------------------------

TABLE = """\
A kingdom.

## Trackers

| name | kind | for | range | description |
| --- | --- | --- | --- | --- |
| grain | number | world | 0..100 | food of the realm |
| favour | meter | | | what the court thinks |

## Tone

Dry.
"""
SHEETS = """\
## Queen

- player: true
- favour: Duke: 20, Abbot -5

## Duke

## Abbot
"""


def test_a_world_declares_trackers_in_a_table_that_is_not_told() -> None:
    world, warnings = parse_world({"WORLD.md": TABLE, "CHARACTERS.md": SHEETS}, "kingdom")
    assert [each.name for each in world.trackers] == ["grain", "favour"] and not warnings
    assert "grain" not in world.description and "## Tone" in world.description
    again, _ = parse_world(render_world(world), "kingdom")
    assert again == world
    state = opening_state(world, "r")
    favour = world.trackers[1]
    queen, duke, abbot = (
        next(id_ for id_, each in state.entities.items() if each.name == name) for name in ("Queen", "Duke", "Abbot")
    )
    assert [getattr(state.count(favour, queen, each), "value", None) for each in (duke, abbot)] == [20, -5]


def test_a_fault_in_a_table_has_line_column_and_remedy() -> None:
    with pytest.raises(BadInput) as refused:
        parse_world({"WORLD.md": TABLE.replace("0..100", "much")}, "kingdom")
    assert "WORLD.md:7: column \"range\": 'much' is no range; write two whole numbers" in str(refused.value)
    with pytest.raises(BadInput, match=r'WORLD.md:5: column "rnge" is not known; use some of name, kind'):
        parse_world({"WORLD.md": TABLE.replace("range", "rnge")}, "kingdom")


def test_a_heading_without_a_table_stays_text() -> None:
    world, _ = parse_world({"WORLD.md": "## Trackers\n\nTwo men who follow you."}, "hunt")
    assert world.trackers == () and "Two men" in world.description


# -- the block ---------------------------------------------------------------------------------------------------------


def test_the_instruction_asks_for_what_is_declared_in_few_words() -> None:
    plain, counted = instruction("en"), instruction("en", counted=Trackers(EVERY))
    assert instruction("en", counted=NO_TRACKERS) == plain
    assert "\naffection: {<name>: <+5>}\n" in counted and "\nweather: <clear|rain|storm>\n" in counted
    assert len(counted) - len(plain) < 60 * len(EVERY)
    assert not parse_block(counted.rpartition("```state\n")[2].removesuffix("```"), own=Trackers(EVERY)).fields.counts


def test_nobody_is_asked_for_what_is_derived() -> None:
    for counted, has in ((Trackers((GOLD, MOONLIGHT)), True), (Trackers((MOONLIGHT,)), False)):
        asked = (instruction("en", counted=counted), json.dumps(report_tool("en", counted)))
        assert not any("moonlight" in each for each in asked)
        assert all(("gold" in each) is has for each in asked)
        assert ("counted" in asked[1]) is has
    assert instruction("en", counted=Trackers((MOONLIGHT,))) == instruction("en")


@pytest.mark.parametrize(
    "body",
    [
        "gold: +3\naffection: {Mina: +5}\nclues: [+letter]",
        '{"gold": "+3", "affection": {"Mina": "+5"}, "clues": ["+letter"]}',
        "- Gold: +3\n- affection:\n    Mina: +5\n- clues:\n    - +letter",
        "**gold:** +3\nAffection: {Mina: +5},\nclues: +letter",
    ],
)
def test_a_block_reports_declared_trackers_in_any_form(body: str) -> None:
    found = parse_block(body, own=Trackers((GOLD, AFFECTION, CLUES))).fields.counts
    said = [(each.tracker, each.subject, each.values) for each in found]
    assert said == [("gold", "", ("+3",)), ("affection", "Mina", ("+5",)), ("clues", "", ("+letter",))]


def test_what_nothing_declares_is_kept() -> None:
    parsed = parse_block("location: inn\nmana: 5\nxp: {Mina: 3}")
    assert parsed.others == (("mana", "5"), ("xp", "Mina: 3"))


# -- the fold ----------------------------------------------------------------------------------------------------------

OPENING = opening_state(EMPTY_WORLD, "r")
PLAYER = OPENING.player


def after(state: WorldState, *events: Event, depth: int | None = None) -> WorldState:
    return fold(state, Delta(events), turn="t", depth=state.depth + 1 if depth is None else depth)


def value(state: WorldState, which: Tracker, subject: str = "", other: str = "") -> Any:
    count = state.count(which, subject, other)
    return count.value if count is not None else None


def test_a_change_stays_within_the_limits_and_a_limit_is_an_event() -> None:
    hunger = tracker("hunger", range="0..10", start="8", limit="faints from hunger")
    state = after(OPENING, deltas.TrackersDeclared((hunger,)), deltas.TrackerChanged("Hunger", 5, PLAYER))
    assert value(state, hunger, PLAYER) == 10 and state.happenings[-1].name == "faints from hunger"
    assert state.counts["hunger"][PLAYER].earlier == ((0, 8),)
    again = after(state, deltas.TrackerChanged("hunger", 5, PLAYER))
    assert again.happenings == state.happenings


def test_a_value_decays_by_turns_and_by_the_hours_of_the_story() -> None:
    oil = tracker("oil", start="10", range="0..10", decay="-1/turn")
    warmth = tracker("warmth", start="10", range="0..10", decay="-2/hour")
    state = after(OPENING, deltas.TrackersDeclared((oil, warmth, TIME)))
    assert value(state, oil, PLAYER) == 10
    state = after(state, deltas.TrackerChanged("time", 150))
    assert (value(state, oil, PLAYER), value(state, warmth, PLAYER)) == (9, 6)
    assert value(after(state, depth=state.depth + 3), oil, PLAYER) == 6


def test_what_cannot_be_is_a_problem_and_changes_nothing() -> None:
    state = after(OPENING, deltas.TrackersDeclared((GOLD, WEATHER, AFFECTION)))
    wrong = (
        deltas.TrackerSet("mana", 3, PLAYER),
        deltas.TrackerSet("gold", "many", PLAYER),
        deltas.TrackerSet("weather", "snow"),
        deltas.TrackerChanged("affection", 3, PLAYER),
        deltas.TrackerChanged("gold", 3, "nobody"),
    )
    after_all = after(state, *wrong)
    assert after_all.counts == state.counts and len(after_all.problems) == len(wrong)


def test_observations_are_few_and_end_when_they_are_declared() -> None:
    state = after(OPENING, *(deltas.Observed(f"k{number}", "1") for number in range(40)), deltas.Observed("mana", "3"))
    assert len(state.observed) == 24 and state.observed["mana"].value == "3"
    state = after(state, deltas.Observed("mana", "4"))
    assert state.observed["mana"].times == 2
    assert "mana" not in after(state, deltas.TrackersDeclared((tracker("Mana"),))).observed


def test_a_removed_tracker_is_not_missed() -> None:
    state = after(OPENING, deltas.TrackersDeclared((GOLD,)), deltas.TrackerRemoved("GOLD"))
    assert not state.trackers and not state.trackers.missing([GOLD])
    assert OPENING.trackers.missing([GOLD]) == (GOLD,)
    assert after(state, deltas.TrackersDeclared((GOLD,))).trackers.declared == (GOLD,)


def test_one_who_is_merged_brings_her_values_along() -> None:
    people = [deltas.Introduced(id_, Kind.CHARACTER, id_) for id_ in ("m", "mina")]
    state = after(OPENING, *people, deltas.TrackersDeclared((AFFECTION, OUTFIT)))
    state = after(state, deltas.TrackerSet("affection", 7, "m", PLAYER), deltas.TrackerSet("outfit", "cloak", "m"))
    state = after(state, deltas.Merged("m", "mina"), deltas.TrackerChanged("affection", 1, "m", PLAYER))
    assert value(state, AFFECTION, "mina", PLAYER) == 8 and value(state, OUTFIT, "mina") == "cloak"
    assert value(after(state, deltas.Forgotten("mina")), OUTFIT, "mina") is None


def test_states_and_deltas_with_trackers_are_stored_exactly() -> None:
    events = (deltas.TrackersDeclared(EVERY), deltas.TrackerSet("clues", ("a", "b"), PLAYER), deltas.Observed("k", "v"))
    delta = Delta(events)
    state = after(OPENING, *events)
    assert decode(encode(delta), Delta) == delta and decode(encode(state), WorldState) == state


def test_a_value_is_told_within_a_tenth_of_a_limit() -> None:
    hunger = tracker("hunger", range="0..100", told="near-limit")
    told = [at for at in (0, 10, 11, 89, 90, 100) if CountedValue(hunger, "", "", Count(at)).is_told(1)]
    assert told == [0, 10, 90, 100]


def test_a_value_is_read_by_name_and_for_whom_it_is() -> None:
    state = after(
        OPENING,
        deltas.TrackersDeclared((GOLD, TIME, AFFECTION, OUTFIT)),
        deltas.Introduced("m", Kind.CHARACTER, "Mina"),
        deltas.TrackerSet("gold", 12, PLAYER),
        deltas.TrackerSet("time", 90),
        deltas.TrackerSet("affection", 7, "m", PLAYER),
        deltas.TrackerSet("outfit", "cloak", "m"),
    )
    assert state.counted("Gold") == state.counted("gold", PLAYER) == 12
    assert state.counted("time") == state.minutes == 90
    assert state.counted("affection", "m", PLAYER) == 7 and state.counted("outfit", "m") == "cloak"
    assert state.counted("mana") is None and OPENING.minutes is None


@pytest.mark.parametrize(
    ("which", "subjects", "message"),
    [
        (TIME, (PLAYER,), f"time: is for world, and has no value of {PLAYER}"),
        (OUTFIT, (), "outfit: is for character, and has no value of nobody"),
        (AFFECTION, (PLAYER,), f"affection: is for pair, and has no value of {PLAYER}"),
        (GOLD, (PLAYER, PLAYER), f"gold: is for player, and has no value of {PLAYER} and {PLAYER}"),
    ],
)
def test_a_value_that_there_cannot_be_is_refused(which: Tracker, subjects: tuple[str, ...], message: str) -> None:
    state = after(OPENING, deltas.TrackersDeclared((which,)))
    for read in (lambda: state.count(which, *subjects), lambda: state.counted(which.name, *subjects)):
        with pytest.raises(BadInput, match=f"^{message}$"):
            read()
    with pytest.raises(BadInput, match=r"'Mina' is no id; state\.entities has each id"):
        state.counted(which.name, "Mina")


def test_a_tracker_that_is_declared_for_somebody_else_shows_nothing_of_before() -> None:
    state = after(OPENING, deltas.TrackersDeclared((GOLD,)), deltas.TrackerSet("gold", 12, PLAYER))
    state = after(state, deltas.TrackersDeclared((tracker("gold", for_="world", start="3"),)))
    assert [(each.subject, each.count.value) for each in counted_values(state)] == [("", 3)]


def test_what_nobody_said_is_unknown() -> None:
    assert start_value(CLUES) is None and value(OPENING, CLUES, PLAYER) is None
    assert start_value(GOLD) == 10


@pytest.mark.parametrize(
    ("told", "day", "hour"),
    [
        ("11:30 am", 0, "11:30"),
        ("Tuesday 12:30 am", 1, "00:30"),
        ("Monday 4:30 p.m.", 0, "16:30"),
        ("오후 4시 30분", 0, "16:30"),
        ("화요일 아침 8시 15분", 1, "08:15"),
        ("다음 날 오전 10시 30분", 1, "10:30"),
        ("午後4時30分", 0, "16:30"),
        ("下午4点30分", 0, "16:30"),
    ],
)
def test_the_minutes_of_an_hour_are_no_length_of_time(told: str, day: int, hour: str) -> None:
    at, passed = read_time(told, 9 * 60, 0, ())
    assert passed is None and at is not None
    assert (at // 1440, f"{at % 1440 // 60:02d}:{at % 60:02d}") == (day, hour)


@pytest.mark.parametrize(
    ("told", "day", "hour"),
    [
        *((text, 0, "22:00") for text in ("tonight", "by tonight", "tonight at ten", "at 10 tonight", "今晩")),
        *(("tonight, at nine", 0, "21:00"), ("at noon", 0, "12:00"), ("今晚", 0, "20:00"), ("今晚九点", 0, "21:00")),
        *((text, 1, "08:00") for text in ("tomorrow morning", "明朝", "明早", "내일 아침")),
        *(
            ("tomorrow at nine", 1, "09:00"),
            ("Tuesday at nine", 1, "09:00"),
            ("明晩", 1, "22:00"),
            ("明晚", 1, "20:00"),
        ),
        *((text, 2, "08:00") for text in ("the day after tomorrow", "明後日", "后天", "모레")),
        *((text, 1, "08:00") for text in ("next day 08:00", "the next day, 8 am", "the following day 08:00")),
        *(
            (text, 1, "08:00")
            for text in ("the day after, 08:00", "next day 8 o'clock", "the next day 8 in the morning")
        ),
        *(
            (text, 1, "19:00")
            for text in ("next evening", "the following evening 19:00", "next day 7pm", "next day 19.00")
        ),
        *(
            (text, 1, "08:00")
            for text in ("익일 08:00", "이튿날 아침", "翌日8時", "次の朝", "あくる日8:00", "明くる朝")
        ),
        *((text, 1, "08:00") for text in ("隔天 08:00", "次晨", "第二日早上", "翌早8点", "轉天08:00")),
        *((text, 2, "08:00") for text in ("다다음 날", "翌々日8:00")),
        *((text, 3, "08:00") for text in ("글피", "明々後日", "大后天")),
        *((text, 2, "08:00") for text in ("day 3 08:00", "day 3: 08:00", "next day (day 3), 08:00")),
        ("market day 14:00", 0, "14:00"),
        *((text, 1, "22:00") for text in ("翌晩", "the next night")),
        ("this morning", 0, "09:00"),
        *((text, 7, "08:00") for text in ("next week", "다음 주", "来週", "下周")),
        *((text, 8, "08:00") for text in ("next week Tuesday", "Tuesday next week", "다음 주 화요일", "来週の火曜日")),
        *(("下周二 19:00", 8, "19:00"), ("다다음 주 월요일", 14, "08:00"), ("the week after next", 14, "08:00")),
    ],
)
def test_a_day_is_counted_from_now(told: str, day: int, hour: str) -> None:
    at, passed = read_time(told, 9 * 60, 0, ())
    assert passed is None and at is not None
    assert (at // 1440, f"{at % 1440 // 60:02d}:{at % 60:02d}") == (day, hour)


@pytest.mark.parametrize(
    ("told", "minutes"),
    [
        *(("3시간 30분 뒤", 210), ("a minute later", 1), ("+2h", 120)),
        *((text, 30) for text in ("half an hour later", "반 시간 뒤", "半時間後", "半小时后", "半个小时之后")),
        *((text, 90) for text in ("an hour and a half", "한 시간 반 뒤", "1時間半後", "一个半小时后")),
        *(("half a day later", 720), ("반나절 뒤", 360), ("한나절 뒤", 720), ("半日後", 720), ("半天后", 720)),
        *(("하루 반 뒤", 2160), ("3일", 4320), ("3日", 4320), ("2일 5시간 뒤", 3180)),
        *((text, 90) for text in ("+1.5 hours", "+1,5 hours", "+1½ hours", "1 ½ hours later", "1.5시간 뒤", "+1.5h")),
        *(("½ hour later", 30), ("+.5 hours", 30), ("+1,000 minutes", 1000), ("+1 day, 3 hours", 1620)),
    ],
)
def test_a_length_of_time_moves_the_clock(told: str, minutes: int) -> None:
    assert read_time(told, 9 * 60, 0, ()) == (None, minutes)


@pytest.mark.parametrize(
    "told",
    [
        "+0.0000001 hours",
        "+1.000 hours",
        "+1/5 hours",
        "+1:05 hours",
        "+1234567 hours",
        "nan days later",
        "+sixty-one min",
    ],
)
def test_a_number_is_read_whole_or_not_at_all(told: str) -> None:
    assert read_time(told, 9 * 60, 0, ()) == (None, None)
