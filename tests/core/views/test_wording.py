"""A text that somebody asks about: which words another text has of it, and whether it says it."""

from __future__ import annotations

import random
import time

import pytest

from saga_core.views.search import SearchWords

FOUND = [
    ("칼이", "그는 칼을 뽑았다."),
    ("칼도", "칼은 무거웠다."),
    ("칼", "칼에 찔렸다."),
    ("쌀이", "쌀을 씻는다."),
    ("쌀로", "곳간에 쌀은 없다."),
    ("강은", "강을 건넌다."),
    ("콩이", "콩을 볶는다."),
    ("칼에서", "그것은 칼이었다."),
    ("별들이", "별이 떴다."),
    ("종", "종이 울렸다."),
    ("종", "종을 친다. 종이 흔들린다."),
    ("종이", "종을 친다."),
    ("종이", "종이를 접는다."),
    ("길이", "길을 잃었다."),
    ("입을", "입이 무겁다."),
    ("은침통이", "은침통을 품에 넣는다."),
    ("무현", "강무현이 웃는다."),
]
NOT_FOUND = [
    ("칼", "칼집을 찼다."),
    ("칼이", "칼집을 찼다."),
    ("쌀", "쌀겨를 쓴다."),
    ("집을", "칼집을 찼다."),
    ("종", "솔이의 종이 ×7이 있다."),
    ("종", "종이를 접는다."),
    ("나", "나이가 많다."),
    ("마", "마을을 떠난다."),
    ("강", "강도가 들었다."),
    ("별", "별로 좋지 않다."),
    ("검", "검은 옷을 입었다."),
    ("위", "위로의 말을 건넨다."),
]


@pytest.mark.parametrize(("asked", "text"), FOUND)
def test_a_korean_word_is_found_whatever_particle_stands_behind_it(asked: str, text: str) -> None:
    wording = SearchWords.of(asked)
    assert len(wording.found_in(text)) == len(wording.words) == 1


@pytest.mark.parametrize(("asked", "text"), NOT_FOUND)
def test_a_syllable_is_not_found_inside_of_other_words(asked: str, text: str) -> None:
    wording = SearchWords.of(asked)
    assert wording.found_in(text) == [] and not wording.stands_in(text)


@pytest.mark.parametrize(
    ("asked", "text", "verbatim"),
    [
        ("종", "종이 울렸다.", True),
        ("칼", "칼을 뽑는다.", True),
        ("칼이", "칼을 뽑는다.", False),
        ("침통", "은침통을 품는다.", False),
        ("은침", "은침통을 품는다.", False),
        ("은침통", "은침통을 품는다.", True),
        ("민도겸", "민도겸이었다.", True),
        ("은침통을 돌려주었다", '"은침통을 돌려주었다고 하더이다."', True),
        ("loupe", "He has two loupes.", False),
        ("the Brass loupe", "He has the brass, loupe and all.", True),
        ("鈴", "彼は鈴を鳴らす。", True),
    ],
)
def test_word_for_word_is_no_part_of_a_word(asked: str, text: str, verbatim: bool) -> None:
    assert SearchWords.of(asked).stands_in(text) is verbatim


LONG = {
    "en": ("The pump wheezed. " * 20, "She hid the key in the left boot", ", and sang. " + "Rain fell. " * 20),
    "ko": ("펌프가 씩씩거렸다. " * 20, "그녀는 열쇠를 왼쪽 장화에 숨겼다", "고 노래했다. " + "비가 내렸다. " * 20),
}


@pytest.mark.parametrize("language", LONG)
def test_what_is_shown_of_a_text_is_the_sentence_that_says_it(language: str) -> None:
    before, said, behind = LONG[language]
    shown = SearchWords.of(said).around(before + said + behind, 280)
    assert shown == f"… {said}{behind.split('. ')[0]}. …"
    text = before.replace(". ", " ") + said + behind
    shown = SearchWords.of(said).around(text, 100)
    assert shown is not None and said in shown and len(shown) < 110


@pytest.mark.parametrize("letters", ["abcdefgh", "가나다라마바사아자차카타파하"])
def test_many_words_are_searched_in_many_rows_in_little_time(letters: str) -> None:
    dice = random.Random(7)
    words = ["".join(dice.choice(letters) for _ in range(4)) for _ in range(4_000)]
    rows = [f"{word}x and {words[number // 2]} went." for number, word in enumerate(words)]
    wording = SearchWords.of(" ".join(words[::2]))
    began = time.process_time()
    found = [wording.typed(row) for row in rows[:1_800]]
    assert time.process_time() - began < 0.6
    assert sum(map(bool, found)) >= 900 and len(wording.words) > 1_000
