"""Names as players and models dress them: however a name is dressed, it is that name, and no other."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from saga_core.language import clean_name, fold_name, mentions, spoken_name

NAMES = [
    "Mara",
    "Zoë Vance",
    "علیرضا",
    "נועה",
    "Анна",
    "अनिता",
    "ไหม",
    "佐藤花",
    "서도윤",
    "Łucja",
    "D'Arcy",
    "Nguyễn Ánh",
]
SILENT = [
    "\u200b",
    "\u200c",
    "\u200d",
    "\u200e",
    "\u200f",
    "\u00ad",
    "\ufeff",
    "\u2060",
    "\u2068",
    "\u2069",
    "\ufe0f",
    "\u061c",
]
PICTURES = ["❤", "❤️", "✨", "🌙", "★", "♪", "👩🏽‍🚀", "🏴󠁧󠁢󠁳󠁣󠁴󠁿", "☆", "♡"]


@st.composite
def dressed(draw: st.DrawFn) -> tuple[str, str]:
    """A name, and the name as somebody writes it."""
    name = draw(st.sampled_from(NAMES))
    written = name
    for silent in draw(st.lists(st.sampled_from(SILENT), max_size=3)):
        at = draw(st.integers(0, len(written)))
        if at == len(written) or not unicodedata.combining(written[at]):
            written = written[:at] + silent + written[at:]
    written = unicodedata.normalize(draw(st.sampled_from(["NFC", "NFD"])), written)
    pictures = st.lists(st.sampled_from(PICTURES), max_size=2).map("".join)
    return name, draw(pictures) + draw(st.sampled_from(["", " "])) + written + draw(pictures)


@given(dressed())
def test_a_dressed_name_is_the_name(pair: tuple[str, str]) -> None:
    name, written = pair
    assert fold_name(clean_name(written)) == fold_name(name)
    assert clean_name(clean_name(written)) == clean_name(written)
    assert spoken_name(clean_name(written)).split() == name.split()


@given(dressed(), dressed())
def test_two_names_stay_two(one: tuple[str, str], other: tuple[str, str]) -> None:
    alike = fold_name(clean_name(one[1])) == fold_name(clean_name(other[1]))
    assert alike is (one[0] == other[0])


@given(dressed())
def test_a_story_mentions_it(pair: tuple[str, str]) -> None:
    name, written = pair
    assert mentions(f"Then {name} waits.", clean_name(written))
