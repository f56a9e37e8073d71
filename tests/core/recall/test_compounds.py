"""Compounds: the same word written apart and in one."""

from __future__ import annotations

import pytest

from saga_core.recall.lexical import LexicalIndex, compounds


def found(query: str, *texts: str) -> set[str]:
    index = LexicalIndex()
    for number, text in enumerate(texts):
        index.add(f"t{number}", text)
    return {id_ for id_, _ in index.search(query, k=10)}


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("Who sold me the icecream?", "She brought ice cream from the harbour."),
        ("Who sold me the ice cream?", "She brought icecream from the harbour."),
        ("Where is the sketchbook?", "I drew it into my sketch book last night."),
        ("Where are the sketch books?", "I drew it into my sketchbook last night."),
        ("누가 아이스크림을 팔았지?", "항구에서 아이스 크림을 사 왔어."),
        ("누가 아이스 크림을 팔았지?", "항구에서 아이스크림을 사 왔어."),
    ],
)
def test_a_word_is_found_however_it_is_parted(query: str, told: str) -> None:
    assert found(query, "Nothing of that kind.", told, "그런 일은 없었다.") == {"t1"}


def test_only_what_is_known_is_made_of_words_and_no_function_word_is_a_part() -> None:
    known = {"rain", "coat", "raincoat", "for", "ever", "cat", "tle"}.__contains__
    assert compounds("the raincoats", known) == []
    assert compounds("a rain coat", known) == ["raincoat"]
    assert compounds("cattle forever", known) == ["cat", "tle"]
    assert compounds("rain, rain", known) == []
    assert compounds("a to be 7", known) == [] and compounds("", known) == []


def test_of_several_ways_to_part_a_word_that_into_the_longest_parts_counts() -> None:
    known = {"fire", "flies", "fir", "eflies", "firef", "lies", "fli"}.__contains__
    assert compounds("fireflies", known)[0] == "fire"


def test_a_text_without_spaces_is_not_split_at_every_letter() -> None:
    asked: list[str] = []

    def known(term: str) -> bool:
        asked.append(term)
        return False

    assert compounds("x" * 24_000 + " " + "fireflies" * 1_000, known) == []
    assert len(asked) < 1_000
