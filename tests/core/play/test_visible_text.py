"""The client's limits on visible text: tokens and stop sequences, the same however the text is cut."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saga_core.play.pending_turn import VisibleText

TEXTS = st.lists(st.sampled_from(["a", "ab", "\n", "\n\n", " ", "```", "`", "말", "word ", "x" * 50]), max_size=30).map(
    "".join
)


def words(text: str) -> int:
    return len(text.split())


def through(chunks: list[str], limit: int = 0, stops: tuple[str, ...] = ()) -> tuple[str, str]:
    visible = VisibleText(limit, words, stops)
    return "".join([visible.feed(chunk) for chunk in chunks]) + visible.finish(), visible.ended


@st.composite
def chunked(draw: st.DrawFn) -> list[str]:
    text = draw(TEXTS)
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=12))) if draw(st.booleans()) else range(len(text))
    return [text[a:b] for a, b in itertools.pairwise([0, *cuts, len(text)])]


STOPS = st.lists(st.sampled_from(["\n", "\n\n", "```", "aba", "ab", "b\n", "말w"]), max_size=3).map(tuple)


@given(chunked(), STOPS)
def test_the_text_ends_before_the_stop_that_is_whole_first(chunks: list[str], stops: tuple[str, ...]) -> None:
    text = "".join(chunks)
    ends = [(end, start) for end in range(len(text) + 1) for start in range(end) if text[start:end] in stops]
    wanted = (text[: min(ends)[1]], "stop") if ends else (text, "")
    assert through(chunks, stops=stops) == wanted


@given(chunked(), st.integers(1, 12), STOPS)
def test_every_chunking_keeps_to_the_limit_alike(chunks: list[str], limit: int, stops: tuple[str, ...]) -> None:
    shown, ended = through(chunks, limit, stops)
    assert (shown, ended) == through(["".join(chunks)], limit, stops)
    assert through(chunks, stops=stops)[0].startswith(shown)
    if ended == "length":
        assert words(shown) == limit or len(shown) > 200
    elif not stops:
        assert shown == "".join(chunks)


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_long_texts_are_counted_in_parts(size: int) -> None:
    text = "one two " * 800
    chunks = [text[at : at + size] for at in range(0, len(text), size)]
    shown, ended = through(chunks, 1_234)
    assert (words(shown), ended) == (1_234, "length")
    assert through(chunks, 1_600) == (text, "")


def test_no_more_is_held_back_than_may_be_a_stop() -> None:
    visible = VisibleText(stops=("\n\nX",))
    assert [visible.feed(each) for each in ("a\n", "\n", "b", "\n\n", "X c")] == ["a", "", "\n\nb", "", ""]
    assert visible.ended == "stop"
