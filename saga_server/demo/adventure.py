"""An adventure as data: what the player says, in which order, and what must be true afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from attrs import field, frozen

Action = Literal["send", "swipe", "branch", "return", "kill"]


@frozen(kw_only=True)
class Expected:
    """What must be true after a step. None: not looked at."""

    place: str | None = None
    hp: int | None = None
    inventory: Mapping[str, int] | None = None
    """All of the inventory, item to quantity."""
    present: frozenset[str] | None = None
    met: frozenset[str] | None = None
    relations: Mapping[str, tuple[str, int]] | None = None
    """How the player stands to whom: (type, strength). All of them."""
    dead: frozenset[str] | None = None
    says: tuple[str, ...] = ()
    """Words that the reply must hold."""
    silent: tuple[str, ...] = ()
    """Words that the reply must not hold."""
    repeats: int | None = None
    """The number of an earlier step, what was said in which must be in the reply."""


@frozen
class Step:
    """One step.

    ``send`` is a turn. ``swipe`` asks the last turn again and keeps the new reply. ``branch`` cuts the history to the
    turn of step ``at`` and goes on from there. ``return`` goes back to the main path, with all of its history. ``kill``
    is a turn after whose last byte the server is killed, and started again.
    """

    number: int
    action: Action
    words: str = ""
    """What the player says; nothing for a swipe."""
    stream: bool = False
    at: int | None = None
    remark: str = ""
    """What this step is for, shown to the reader."""
    expected: Expected = Expected()


@frozen(kw_only=True)
class Adventure:
    """A story to play, with the prompt that its frontend sends around it."""

    language: Literal["ko", "en"]
    world: str
    title: str
    player: str
    card: tuple[str, ...]
    """System messages before the chat."""
    greeting: str
    after: str
    """The system message after the player's words."""
    window: int
    """How many of the latest turns the frontend's context holds; earlier ones it leaves out."""
    steps: tuple[Step, ...] = field()
    final: Expected = field()
    """What must be true in the end, all of it."""
    nowhere: str = field(kw_only=True)
    """An item of the branch, which must never be on the main path."""
