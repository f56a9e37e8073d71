"""Of a text that is longer than anybody says, what is read on the event loop is its beginning and its end."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from saga_core import Saga
from saga_core.language import LONG, looked_through, tokens
from saga_core.model import Delta, WorldState
from saga_core.projection import render_episode
from saga_core.recall import lorebook, questions
from saga_core.transcript import dialogue
from saga_core.transcript.dialogue import asks_for_a_line, split_note, stops_the_story, tells_nothing_else
from saga_core.world import library
from tests.core.frontend import memory_config

BOOK = "On the road to the mill it rains. " * 30_000
NOTE = "\n[Pause the roleplay and write a summary of the story.]"
MOST = 2 * (LONG + 1) + 1
"""Characters: the player's words and the reply, together."""


def test_a_short_text_is_itself_and_a_long_one_its_ends() -> None:
    assert looked_through("a" * LONG) == "a" * LONG
    ends = looked_through(f"first {BOOK} last")
    assert len(ends) == LONG + 1
    assert ends.startswith("first ")
    assert ends.endswith(" last")


async def test_by_a_whole_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    here, looked = threading.get_ident(), dict[str, int]()

    def measured(module: ModuleType, name: str) -> None:
        inner: Callable[..., Any] = getattr(module, name)

        def call(text: str, *more: Any) -> Any:
            if threading.get_ident() == here:
                looked[name] = max(looked.get(name, 0), len(text))
            return inner(text, *more)

        monkeypatch.setattr(module, name, call)

    measured(library, "match_text")
    measured(lorebook, "match_text")
    measured(tokens, "folded_terms")
    measured(dialogue, "languages_in")
    measured(questions, "languages_in")
    async with Saga.open(memory_config()) as saga:
        first = await saga.begin([{"role": "user", "content": BOOK}])
        first.replies[0].feed("It rains on. " + BOOK)
        await first.commit()
        said = [{"role": "user", "content": BOOK}, {"role": "assistant", "content": "It rains on. " + BOOK}]
        turn = await saga.begin([*said, {"role": "user", "content": BOOK + "When was it, yesterday or on May 3?"}])
        turn.replies[0].feed("Both.")
        await turn.commit()
        assert turn.session.id == first.session.id
    assert set(looked) == {"match_text", "languages_in", "folded_terms"}
    assert max(looked.values()) <= MOST, looked


def test_a_frontends_note_at_the_end_of_a_book_is_found() -> None:
    assert split_note(BOOK + NOTE) == (BOOK.rstrip(), NOTE.strip())
    assert split_note(NOTE.strip() + "\n" + BOOK)[1] == "", "at its end, not 30,000 sentences above it"
    assert stops_the_story(BOOK + NOTE)
    assert not asks_for_a_line(BOOK)


def test_a_chat_in_one_text_is_told_by_its_ends() -> None:
    lines = "Mina: It rains on the mill again today.\nTaro: So it does, and it did yesterday.\n" * 4_000
    assert tells_nothing_else(lines, behind=True)
    assert not tells_nothing_else("Once upon a time.\n" + lines, behind=True)


@pytest.mark.parametrize("blanks", [" ", "\n\n"])
def test_an_episode_has_both_ends_of_a_book(blanks: str) -> None:
    text = f"First of all.{blanks}{BOOK}{blanks}Last of all."
    episode = render_episode(Delta(), WorldState(), text, "", "en")
    assert "> First of all. On the road" in episode
    assert episode.endswith("it rains. Last of all.")
    assert len(episode) < 2_000
