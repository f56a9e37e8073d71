"""Passages: what an embedder is given of an episode, and the day that one was on."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saga_core.projection.episodes import spoken_day
from saga_core.recall.episodes import passage_of, year_of


@given(st.dates())
def test_a_day_tells_its_year_and_the_rest_of_it(day: date) -> None:
    year, rest = year_of(spoken_day(day, "en"))
    assert year == str(day.year) and spoken_day(day, "en") == f"{rest} {year}"
    year, rest = year_of(spoken_day(day, "ko"))
    assert year == str(day.year) and spoken_day(day, "ko") == f"{year}년 {rest}"


@pytest.mark.parametrize("text", ["", "place: inn", "Turn 8 | 8 May 2023", "8 May", "2023년", "met: 8 May 2023"])
def test_what_is_no_day_has_no_year(text: str) -> None:
    assert year_of(text) == ("", "")


@pytest.mark.parametrize(
    ("episode", "passage"),
    [
        ("Turn 12 | place: inn\n> Hello.\nMara nods.", "place: inn\n> Hello.\nMara nods."),
        ("Turn 12\nMara nods.", "Mara nods."),
        ("Turn 3 | 장소: 숲", "장소: 숲"),
        ("8 May 2023\nMelanie: My kitten sleeps.", "Melanie: My kitten sleeps."),
        ("2023년 5월 8일\n지수: 고양이가 자.", "지수: 고양이가 자."),
        ("\nMelanie: My kitten sleeps.", "Melanie: My kitten sleeps."),
        ("Turn 12", "Turn 12"),
        ("place: inn | met: Mara", "place: inn | met: Mara"),
    ],
)
def test_an_embedder_is_given_neither_number_nor_day(episode: str, passage: str) -> None:
    assert passage_of(episode) == passage
