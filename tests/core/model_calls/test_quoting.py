"""Texts as material of a question: cut to size, and without what SAGA itself put in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saga_core.model_calls import cut_middle, without_injected


def words(text: str) -> int:
    return len(text.split())


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("[SAGA: 지금 사실인 것]\nHP 5\n[/SAGA]\n\n간다.", "간다."),
        ("Before. [SAGA: what is true now] HP 5 [/SAGA] After.", "Before. \nAfter."),
        ("[SAGA: what is true now] HP 5\nmore of it\n\nThe story.", "The story."),
        ("The story. [SAGA: what is true now] HP 5 to the end", "The story."),
        ("He quotes the [SAGA: Njal] softly, and leaves.", "He quotes the [SAGA: Njal] softly, and leaves."),
        ("[Saga of the north] is a book.", "[Saga of the north] is a book."),
        ("  as it is  ", "  as it is  "),
    ],
)
def test_what_was_told_is_no_news(text: str, left: str) -> None:
    assert without_injected(text) == left


def test_what_fits_is_left_as_it_is() -> None:
    assert cut_middle("a  b", 2, words) == "a  b"


@pytest.mark.parametrize("text", ["가나다라마바사아자차카타파하 " * 30, "the quick brown fox jumps over it " * 30])
def test_of_a_longer_one_the_beginning_and_the_end_are_kept(text: str) -> None:
    cut = cut_middle(text, 60, len)
    head, tail = cut.split(" […] ")
    assert 40 <= len(cut) <= 60 and text.startswith(head) and text.endswith(tail)


@pytest.mark.parametrize("limit", [-1, 0, 3])
def test_where_there_is_no_room_nothing_is_left(limit: int) -> None:
    assert cut_middle("a long text", limit, len) == ""


@given(st.text(max_size=200), st.integers(0, 60))
def test_a_cut_text_never_costs_more_than_the_limit(text: str, limit: int) -> None:
    assert len(cut_middle(text, limit, len)) <= limit
