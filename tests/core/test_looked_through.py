"""Texts without what a search on the event loop need not see."""

from __future__ import annotations

import pytest

from saga_core.language import looked_through, without_empty_lines
from saga_core.transcript.dialogue import split_note


def test_the_beginning_and_the_end_of_a_long_text_are_left() -> None:
    assert looked_through("문" * 10, 10) == "문" * 10
    assert looked_through("a" * 6 + "b" * 6, 10) == "a" * 5 + "\n" + "b" * 5


@pytest.mark.parametrize("line", ["\n", " \n", "\t\r\n"])
def test_of_many_empty_lines_one_is_left(line: str) -> None:
    assert without_empty_lines("비가 온다.\n" + line * 200 + "문을 연다.\n끝.") == "비가 온다.\n\n문을 연다.\n끝."


def test_a_page_of_words_stays_as_it_is() -> None:
    page = "\n\n".join(f"{number}. It rains." for number in range(100))
    assert without_empty_lines(page) == page
    assert without_empty_lines("a\n\n\n\nb") == "a\n\n\n\nb", "few lines cost nothing"


def test_an_instruction_behind_a_page_of_empty_lines_is_separated() -> None:
    text = "I open the door." + "\n" * 300 + "[Write the next reply in a fictional chat between Mina and Jon.]"
    words, note = split_note(text)
    assert words == "I open the door." and note.startswith("[Write the next reply")
