"""What stands behind a chat at every turn, and an instruction behind that."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from saga_core.model import TurnKind
from saga_core.transcript import Match, UsualNotes, read_transcript
from saga_core.transcript.matching import Located
from saga_core.transcript.request_kind import classify
from tests.core.transcript.known import EN, told, user

NUDGE = "[Write the next reply only as Mina.]"
MATCH = Match("s1", "s1-t001", how="reply")
CHAT = told("go", EN[0])


def located(messages: list[dict[str, Any]], *notes: str, speaker: str = "") -> Located:
    behind = [{"role": "system", "content": note} for note in notes]
    transcript = read_transcript([*messages, *behind])
    if speaker:
        transcript = evolve(transcript, speaker=speaker)
    return Located(transcript, MATCH, classify(transcript))


def kind(usual: UsualNotes, *notes: str, speaker: str = "") -> TurnKind:
    return usual.corrected(located(CHAT, *notes, speaker=speaker)).kind


@pytest.mark.parametrize("merged", [False, True], ids=["messages", "one message"])
def test_what_stands_behind_the_usual_notes_is_an_instruction(merged: bool) -> None:
    usual = UsualNotes()
    usual.learn("s1", located([*CHAT, *user("And now?")], NUDGE, "Keep it short."))
    more = (NUDGE, "Keep it short.", "Name three things.")
    assert kind(usual, *(["\n\n".join(more)] if merged else more)) is TurnKind.SIDE
    assert kind(usual, NUDGE, "Keep it short.") is TurnKind.NARRATION
    assert kind(usual, NUDGE) is TurnKind.NARRATION, "the notes were taken away"
    assert kind(usual, NUDGE, "Keep it long.", "Be kind.") is TurnKind.NARRATION, "they were changed"


def test_of_a_chat_without_a_turn_nothing_is_usual() -> None:
    usual = UsualNotes()
    assert kind(usual, NUDGE, "Keep it short.", "Name three things.") is TurnKind.NARRATION
    usual.learn("s2", located([*CHAT, *user("And now?")], NUDGE))
    assert kind(usual, NUDGE, "Name three things.") is TurnKind.NARRATION, "another chat's notes count for nothing"


def test_without_words_of_the_player_only_less_becomes_usual() -> None:
    usual = UsualNotes()
    usual.learn("s1", located(CHAT, NUDGE, "Keep it short."))
    usual.learn("s1", located(CHAT, NUDGE, "Keep it short.", "Name three things."))
    assert kind(usual, NUDGE, "Keep it short.", "Name three things.") is TurnKind.SIDE
    usual.learn("s1", located(CHAT, NUDGE))
    assert kind(usual, NUDGE, "Keep it short.") is TurnKind.SIDE


def test_where_a_name_alone_asks_for_the_next_reply_its_absence_asks_for_more_of_the_last() -> None:
    usual = UsualNotes()
    usual.learn("s1", located([*CHAT, *user("And now?")], "Keep it short.", speaker="Mina"))
    assert kind(usual, "Keep it short.") is TurnKind.CONTINUATION
    assert kind(usual, "Keep it short.", speaker="Mina") is TurnKind.NARRATION
    assert kind(usual, "Keep it short.", "Name three things.") is TurnKind.SIDE
