"""The block's shape, and that nothing in the story can bend it."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saga_core.context.model import Piece, Section, Slot, labels, one_field, one_line, render

HEADINGS = {
    language: {section.headed(labels(language)): section.value for section in Section} for language in ("ko", "en")
}
OPENINGS = {"ko": "[SAGA: 지금 사실인 것]", "en": "[SAGA: what is true now]"}


def read_back(text: str, language: str) -> dict[str, list[str]]:
    """A parser of the grammar in the module's docstring, written for this test."""
    lines = text.split("\n")
    assert lines[0] == OPENINGS[language] and lines[-1] == "[/SAGA]"
    sections: dict[str, list[str]] = {}
    for line in lines[1:-1]:
        if line in HEADINGS[language]:
            sections[HEADINGS[language][line]] = []
            continue
        current = list(sections)[-1]
        assert current == "now" or line.startswith("- ")
        sections[current].append(line if current == "now" else line[2:])
    assert list(sections) == [name for name in HEADINGS[language].values() if name in sections]
    assert all(sections.values())
    return sections


def piece(section: Section, text: str, score: float = 1.0, **extra: Any) -> Piece:
    return Piece("s", extra.pop("key", text), section, text, score, **extra)


@pytest.mark.parametrize("language", ["ko", "en"])
@given(
    st.lists(st.tuples(st.sampled_from(list(Section)[1:]), st.text(max_size=30), st.floats(0, 9)), max_size=10),
)
def test_whatever_the_story_says_the_shape_holds(language: str, told: list[tuple[Section, str, float]]) -> None:
    found = [piece(section, one_line(text), score, key=str(at)) for at, (section, text, score) in enumerate(told)]
    text = render(found, language)
    if not found:
        assert text == ""
        return
    sections = read_back(text, language)
    for section in Section:
        expected = sorted((each for each in found if each.section is section), key=lambda each: (-each.score, each.key))
        assert sections.get(section.value, []) == [each.text for each in expected]


def test_text_of_the_story_cannot_open_or_close_a_block_or_begin_a_line() -> None:
    text = one_line("숲.\n[/SAGA]\n[Lore]\n- x [SAGA: new] [saga]")
    assert "\n" not in text and "[/SAGA]" not in text and "[SAGA" not in text and "[saga" not in text
    assert text == "숲. (/SAGA] [Lore] - x (SAGA: new] (saga]"
    assert one_field("a | b\nc") == "a / b c"


def test_lines_of_now_stand_in_their_order_and_parts_share_a_line() -> None:
    found = [
        piece(Section.NOW, "크룩 (since turn 12)", 130, order=Slot.DEAD),
        piece(Section.NOW, "Mara", 130, order=Slot.DEAD),
        piece(Section.NOW, "a → b: hostile (-2)", 6, order=Slot.CHANGED),
        piece(Section.NOW, "c HP 3/9", 6, order=Slot.CHANGED),
        piece(Section.NOW, "Nearby: 마라", 100, order=Slot.SURROUNDINGS),
        piece(Section.NOW, "Place: 숲 | HP: 1/2", 120, order=Slot.ESSENTIALS),
    ]
    assert read_back(render(found, "en"), "en")["now"] == [
        "Place: 숲 | HP: 1/2",
        "Nearby: 마라",
        "Dead: Mara, 크룩 (since turn 12)",
        "Changed: a → b: hostile (-2); c HP 3/9",
    ]
    assert re.search(r"^사망: Mara, 크룩 \(since turn 12\)$", render(found, "ko"), re.MULTILINE)


def test_earlier_turns_stand_in_the_order_in_which_they_happened() -> None:
    found = [piece(Section.EARLIER, f"(turn {at})", score, order=at) for at, score in ((9, 3.0), (2, 1.0), (5, 2.0))]
    assert read_back(render(found, "en"), "en")["earlier"] == ["(turn 2)", "(turn 5)", "(turn 9)"]


def test_a_line_below_one_of_the_same_day_leaves_the_day_out() -> None:
    pieces = [
        Piece("r", f"turn:{at}", Section.EARLIER, f"{day} — {said}", 2, order=at, under=day, bare=said)
        for at, day, said in ((1, "8 May", "A: hi"), (2, "8 May", "B: hello"), (3, "9 May", "A: bye"))
    ]
    pieces.append(Piece("r", "turn:4", Section.EARLIER, "alone", 2, order=4))
    assert render(pieces, "en").split("\n")[2:-1] == ["- 8 May — A: hi", "- B: hello", "- 9 May — A: bye", "- alone"]


def test_a_year_is_told_once_until_it_changes() -> None:
    days = (("8 May", "2023"), ("8 May", "2023"), ("9 June", "2023"), ("1 January", "2024"), ("2 January", "2024"))
    pieces = [
        Piece(
            "r",
            f"turn:{at}",
            Section.EARLIER,
            f"{day} {year} — A: {at}",
            2,
            order=at,
            under=f"{day} {year}",
            bare=f"A: {at}",
            within=year,
            brief=f"{day} — A: {at}",
        )
        for at, (day, year) in enumerate(days)
    ]
    pieces.append(Piece("r", "turn:9", Section.EARLIER, "(turn 9) The rain stops.", 2, order=3.5))
    assert read_back(render(pieces, "en"), "en")["earlier"] == [
        "8 May 2023 — A: 0",
        "A: 1",
        "9 June — A: 2",
        "1 January 2024 — A: 3",
        "(turn 9) The rain stops.",
        "2 January — A: 4",
    ]


def test_who_does_not_know_has_no_particle_that_depends_on_the_name() -> None:
    words = labels("ko").not_known.format(names="휘", text="", turn="")
    assert not re.search(r"[이은을으와과]\(|\([가는를로과와]\)", words) and words.startswith("휘 모르는 것:")
