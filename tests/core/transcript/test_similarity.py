"""Likeness: whether one text is the other with small changes."""

from __future__ import annotations

import pytest

from saga_core.transcript import INHERIT, likeness
from saga_core.transcript.evidence import resembles

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


LAST_SENTENCE = {
    "en": (
        "She takes the letter, reads it twice and puts it away. Outside it snows. ",
        "Then she nods at the door.",
        "The others do not speak.",
    ),
    "ko": (
        "그녀는 편지를 받아 두 번 읽고 품에 넣는다. 창밖에는 눈이 온다. ",
        "말없이 문 쪽을 가리켰다.",
        "다들 숨죽인 채 앉아 있었다.",
    ),
    "ja": (
        "彼女は手紙を受け取り、二度読んで懐にしまう。外では雪が降る。",
        "そして黙って扉を指さした。",
        "誰もが息をひそめていたのだ。",
    ),
    "zh": (
        "她接过信，读了两遍，收进怀里。窗外下着雪，炉火很旺。",
        "她抬手指了指那扇门口。",
        "屋子里再没有谁开口说话。",
    ),
}


@pytest.mark.parametrize("language", LAST_SENTENCE)
def test_a_rewritten_last_sentence_is_a_small_change_in_every_language(language: str) -> None:
    beginning, old, new = LAST_SENTENCE[language]
    assert resembles(beginning + old, beginning + new)
    assert resembles(beginning + new, beginning + old)


@pytest.mark.parametrize("language", ["ko", "ja", "zh"])
def test_a_rewritten_first_half_or_most_of_a_text_is_another_text(language: str) -> None:
    beginning, old, new = LAST_SENTENCE[language]
    assert not resembles(old + beginning[: len(old) * 2], new + beginning[: len(old) * 2])
    third = beginning[: len(beginning) // 3]
    assert not resembles(beginning + old, third + new * 3)
    assert not resembles(beginning[:8] + old[:4], beginning[:8] + new[:4]), "short replies often begin alike"


def test_an_english_text_needs_the_whole_likeness() -> None:
    text = "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqr"
    assert not resembles(text, text[:33] + "0123456789-")
