"""Turns and sessions are stored by these words and defaults."""

from __future__ import annotations

from saga_core import codec
from saga_core.model import BLANK, Session, Turn, TurnKind


def test_the_kinds_of_turns_are_stored_by_these_words() -> None:
    kinds = ["root", "narration", "continuation", "adopted", "imported", "side"]
    assert [kind.value for kind in TurnKind] == kinds


def test_of_a_record_only_what_differs_from_the_default_is_stored() -> None:
    turn = Turn("t1", "s1", None, 0, 5.0)
    assert codec.to_plain(turn) == {"id": "t1", "session": "s1", "parent": None, "depth": 0, "at": 5.0}
    assert (turn.kind, turn.finish, turn.jump) == (TurnKind.NARRATION, "stop", None)
    assert codec.to_plain(Session("s1", "t0")) == {"id": "s1", "root": "t0"}


def test_a_forgotten_name_leaves_no_letter() -> None:
    assert BLANK == "[…]"
