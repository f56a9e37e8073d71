"""Reports without a fence and without the form's own names: what trackers they state tells them from the story."""

from __future__ import annotations

from functools import partial
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saga_core.state_block.counted import CountedFilter
from saga_core.state_block.filter import BlockFilter
from saga_core.trackers import Tracker, TrackerKind, Trackers, Whose

OWN = Trackers(
    (
        Tracker(name="hunger"),
        Tracker(name="weather", kind=TrackerKind.CHOICE, whose=Whose.WORLD, steps=((0, "clear"), (1, "rain"))),
        Tracker(name="기분", whose=Whose.CHARACTER),
    )
)
STORY = "She looks up."
REPORTS = (
    "hunger: 5\nweather: rain\nmood: {Ada: 3}",
    "- **Hunger:** 5\n- **Weather:** rain\n- **Mood:** Ada 3",
    "[hunger: 5 | weather: rain | mood: Ada 3]",
    "(OOC: hunger +5, weather: rain, mood: Ada +3)",
    '{"hunger": 5, "weather": "rain", "mood": {"Ada": 3}}',
    '```json\n{\n  "hunger": 5,\n  "weather": "rain",\n  "mood": {"Ada": 3}\n}\n```',
    "| hunger | weather | mood |\n|---|---|---|\n| 5 | rain | Ada 3 |",
    "State: hunger: 5\nState: weather: rain\nState: mood: Ada 3",
    "state hunger: 5 weather: rain mood: Ada 3",
    'update_state(hunger=5, weather="rain", mood={"Ada": 3})',
    "### State\n\nhunger\n5\nweather\nrain\n기분\nAda: 3",
    "허기: 5\n날씨: rain\n기분: Ada 3",
)


def passed(text: str, *, step: int = 0) -> tuple[str, int]:
    found = BlockFilter(OWN)
    pieces = [text[at : at + step] for at in range(0, len(text), step)] if step else [text]
    shown = "".join(map(found.feed, pieces)) + found.finish()
    return shown, len(found.raw_blocks)


@pytest.mark.parametrize("report", REPORTS)
@pytest.mark.parametrize("step", [0, 1, 7])
def test_a_report_is_hidden(report: str, step: int) -> None:
    shown, blocks = passed(f"{STORY}\n\n{report}", step=step)
    assert (shown.strip(), blocks) == (STORY, 1)


def test_the_story_goes_on_behind_it() -> None:
    shown, blocks = passed(f"{STORY}\n\n{REPORTS[0]}\n\nThen she leaves. It is late.")
    assert (shown, blocks) == (f"{STORY}\n\nThen she leaves. It is late.", 1)


@pytest.mark.parametrize(
    "text",
    [
        "Hunger gnawed at her. The weather had turned, and her mood with it.",
        "Weather: rain\nShe closed the window.",
        "Hunger left her long ago.\nWeather had never mattered.\nMood was all she had.",
        "Hunger – a thin thing.\n\nWeather gnaws at her.\n\nMood, too.",
        'Hunger is a beast.\nWeather is a friend.\n\n"Come," she says.',
        "**Hunger**\n\nIt was all she could think of.",
        "hunger: 5\nweather: rain",
        "(She sighs.)\n[Later that night]\nNobody came.",
        "```\nls -la\n```\nThe terminal blinked.",
        "| a | b |\n|---|---|\n| 1 | 2 |",
    ],
)
@pytest.mark.parametrize("step", [0, 1])
def test_a_story_is_shown(text: str, step: int) -> None:
    assert passed(f"{STORY}\n\n{text}", step=step) == (f"{STORY}\n\n{text}", 0)


def test_speech_behind_a_report_is_shown() -> None:
    text = '"Come on," she says, "it is late"'
    shown, blocks = passed(f"{STORY}\n\n{REPORTS[0]}\n{text}\n*She leaves*")
    assert (shown, blocks) == (f"{STORY}\n\n{text}\n*She leaves*", 1)


def test_a_panel_of_a_card_is_read_and_shown() -> None:
    text = f"{STORY}\n\n🍚 hunger: 5\n🌧 weather: rain\n😊 mood: Ada 3"
    assert passed(text) == (text, 1)


def test_a_reply_that_is_one_whole_json_is_not_nothing() -> None:
    text = '{"story": "She looks up and closes the old window.", "hunger": 5, "weather": "rain", "mood": {"Ada": 3}}'
    assert passed(text) == (text, 1)


def test_prose_is_not_held_back() -> None:
    found = CountedFilter(OWN)
    assert CountedFilter(OWN).feed("가방") == "가방"
    assert CountedFilter(OWN).feed("one") == "one"
    assert found.feed("She look") == "She look"
    assert found.feed("s up") == "s up"


def test_lines_without_end_are_not_looked_at_for_ever() -> None:
    found = CountedFilter(OWN)
    text = "[hung\n" * 40_000
    assert found.feed(text) + found.finish() == text


@pytest.mark.parametrize("unit", ["\n", "\t\n", " " * 61 + "\n", "\r\n", ">\n", "<state>", ".\n", "\u00a0\n"])
def test_no_piece_of_a_long_reply_takes_long(unit: str) -> None:
    found, text, longest, shown = BlockFilter(OWN), "a" + unit * (500_000 // len(unit)), 0.0, 0
    for step in (*(partial(found.feed, text[at : at + 4_096]) for at in range(0, len(text), 4_096)), found.finish):
        began = process_time()
        shown += len(step())
        longest = max(longest, process_time() - began)
    assert shown == len(text)
    assert longest < 0.5


lines = st.sampled_from(
    [*(line for report in REPORTS for line in report.split("\n")), STORY, "", "(", "**A**", "hung", ">", "> "]
)


@given(st.lists(lines, max_size=9), st.data())
def test_the_result_does_not_depend_on_the_pieces(chosen: list[str], data: st.DataObject) -> None:
    text = "\n".join(chosen)
    whole = BlockFilter(OWN)
    shown = whole.feed(text) + whole.finish()
    cut = BlockFilter(OWN)
    at, out = 0, ""
    while at < len(text):
        end = at + data.draw(st.integers(1, 9))
        out, at = out + cut.feed(text[at:end]), end
    assert out + cut.finish() == shown
    assert cut.raw_blocks == whole.raw_blocks


@pytest.mark.parametrize(
    "report",
    [
        "1. location: Pier\n2. hunger: 7\n3. weather: rain",
        "tracker_location: Pier\ntracker_hunger: 7\ntracker_weather: rain",
        "player.hunger: 7\nplayer.weather: rain\nworld.location: Pier",
        "🗓️ 1 | location: Pier | 🍞 hunger: 7\nweather: rain",
    ],
)
def test_what_stands_before_a_name_is_no_prose(report: str) -> None:
    found = CountedFilter(OWN)
    for char in f"Rain.\n\n{report}":
        found.feed(char)
    found.finish()
    assert [block.body.strip() for block in found.raw_blocks] == [report]
