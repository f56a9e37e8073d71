"""Bearing: which turns have to do with words that ask for nothing."""

from __future__ import annotations

import pytest

from saga_core.recall.episodes import related_turns
from tests.core.context.reading_stage import path_episodes

_DAY = "I walk on, sit down by the fire and draw my sword. Mara nods."
PAST = path_episodes(
    [
        "",
        *(
            f"Turn {at}\n{_DAY}"
            + {7: " The silver seal is cracked.", 30: " 은빛 새장이 열렸다."}.get(at, "")
            + (" A grey horse." if at % 40 == 0 else "")
            + (" A grey gate." if at % 40 == 1 else "")
            for at in range(1, 201)
        ),
    ]
)


@pytest.mark.parametrize(
    ("words", "turns"),
    [
        ("I take out the silver seal.", {"t7"}),
        ("은빛 새장을 들어 올린다.", {"t30"}),
        ("I mount the grey horse.", {"t40", "t80", "t120", "t160", "t200"}),
        ("I pass the grey gate.", {"t1", "t41", "t81", "t121", "t161"}),
        ("I see something grey.", set()),
        ("I draw my sword and walk on.", set()),
        ("Mara nods.", set()),
        ("", set()),
    ],
)
def test_a_turn_has_a_bearing_on_words_if_it_shares_a_rare_term_or_two_seldom_ones(words: str, turns: set[str]) -> None:
    assert related_turns(words.casefold(), PAST) == turns


def test_in_a_short_story_one_turn_is_rare() -> None:
    few = path_episodes(["", *(f"Turn {at}\n{_DAY}" for at in range(1, 30)), "Turn 30\nThe kiln cracked."])
    assert related_turns("the kiln", few) == {"t30"}


@pytest.mark.parametrize(
    ("told", "words", "idle"),
    [
        ("ミナが銀の印章を裏返してみせた。", "銀の印章を取り出してみる。", "もう一杯注いでから、裏へ出てみせる。"),
        ("米娜把银印章翻了过来。", "我拿出银印章。", "我把桌子都收拾过来了。"),
    ],
)
def test_pieces_of_inflection_have_no_bearing_where_words_have_no_spaces(told: str, words: str, idle: str) -> None:
    past = path_episodes(["", *(f"Turn {at}\n{_DAY}" for at in range(1, 40)), f"Turn 40\n{told}"])
    assert related_turns(words, past) == {"t40"}
    assert related_turns(idle, past) == set()
