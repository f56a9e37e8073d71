"""Likeness: whether one text is the other with small changes."""

from __future__ import annotations

import pytest

from saga_core.transcript import INHERIT, likeness
from saga_core.transcript.similarity import resembles

KO = "고블린이 달려든다. 칼날이 팔을 스친다. 뜨거운 피가 흐른다."
EN = "The goblin charges. The blade grazes an arm. Hot blood runs down."


@pytest.mark.parametrize("text", [KO, EN])
def test_a_text_is_itself_whatever_its_decoration(text: str) -> None:
    assert likeness(text, text) == likeness(f"*{text}*", f"Mina: {text}") == 1.0


@pytest.mark.parametrize(("one", "other"), [(KO, KO.replace("뜨거운", "붉은")), (EN, EN.replace("Hot", "Red"))])
def test_a_small_edit_is_alike_in_part_and_either_way(one: str, other: str) -> None:
    assert INHERIT < likeness(one, other) < 1.0
    assert likeness(one, other) == likeness(other, one)
    assert resembles(one, other)


@pytest.mark.parametrize(("one", "other"), [(KO, EN), (KO, "광장은 다시 조용해졌다."), ("", ""), ("…*", ""), (EN, "")])
def test_below_the_threshold_and_of_nothing_it_is_none(one: str, other: str) -> None:
    assert likeness(one, other) == (1.0 if one == other != "" else 0.0)
    assert not resembles(one, other)


def test_twice_the_common_part_over_both_lengths() -> None:
    assert likeness("abcdefghij", "abcdefghijkl") == pytest.approx(20 / 22)
    assert likeness("a" * 10, "a" * 15) == pytest.approx(0.8)
    assert likeness("a" * 10, "a" * 16) == 0.0


def test_of_long_texts_the_beginnings_are_compared() -> None:
    assert likeness("가" * 4_000 + "나" * 9_000, "가" * 4_000 + "다" * 9_000) == 1.0
