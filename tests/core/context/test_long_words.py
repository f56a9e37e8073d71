"""A message that is longer than anybody says: its beginning and its end count."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from saga_backends.chat.offline import OfflineNarrator
from saga_core.language import detect
from saga_core.messages import Block, Origin, PromptPlan
from tests.core.context.reading_stage import ask

MANY = 1_000_000


@given(st.text(max_size=200))
def test_what_is_said_is_looked_through_whole(said: str) -> None:
    assert (ask(said).player_words, ask(recent=(said,)).recent) == (said, (said,))


def test_of_a_book_the_beginning_and_the_end_are() -> None:
    book = f"등대지기{' ' * MANY}우물지기"
    for looked_through in (ask(book).player_words, *ask(recent=("가", book)).recent[1:]):
        assert len(looked_through) < 20_000
        assert looked_through.startswith("등대지기 ") and looked_through.endswith(" 우물지기")


def test_neither_its_language_nor_the_built_in_narrator_takes_long() -> None:
    book = "나는 숲으로 간다. 어제 만난 노인은 어디에 있지? " * (MANY // 30)
    began = time.process_time()
    assert detect(book) == "ko"
    assert OfflineNarrator()._replies(PromptPlan((Block("user", book, Origin.WORDS),)), 1)
    assert time.process_time() - began < 3
