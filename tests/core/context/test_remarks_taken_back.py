"""What the changes since the pages say of remarks: one that was taken back is not true, one that made room still is."""

from __future__ import annotations

import pytest
from attrs import evolve

from saga_core.context.sources import _unnoted
from saga_core.model import MAX_NOTES, WorldState

Note = tuple[int, str]


def state(*notes: Note) -> WorldState:
    return WorldState(turn="t", player="p", notes=notes)


def numbered(first: int, last: int) -> list[Note]:
    return [(depth, f"note {depth}") for depth in range(first, last + 1)]


FULL = numbered(1, MAX_NOTES)


@pytest.mark.parametrize(
    ("old", "new", "untrue"),
    [
        (numbered(1, 3), numbered(1, 5), []),
        (numbered(1, 3), [(1, "note 1"), (3, "note 3")], [(2, "note 2")]),
        (numbered(1, 3), numbered(2, 4), [(1, "note 1")]),
        (FULL, numbered(4, MAX_NOTES + 3), []),
        (FULL, [each for each in numbered(4, MAX_NOTES + 3) if each[0] != 9], [(9, "note 9")]),
        (FULL, numbered(40, 40 + MAX_NOTES - 1), []),
        # A reply that was continued has two remarks at one depth, of which the first made room.
        ([(0, "a"), (1, "b"), (1, "c"), *numbered(2, MAX_NOTES - 2)], [(1, "c"), *numbered(2, MAX_NOTES)], []),
        # One taken back leaves room for the next: those before it made room all the same.
        (FULL, [each for each in numbered(6, MAX_NOTES + 5) if each[0] != 20], []),
    ],
)
def test_only_what_was_taken_back_is_not_true(old: list[Note], new: list[Note], untrue: list[Note]) -> None:
    assert _unnoted(state(*old), evolve(state(*old), notes=tuple(new))) == untrue
