"""Adventures: what the player says in each step, and what must be true after it. ``adventures`` has one a language."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Literal

import yaml
from attrs import frozen
from cattrs import Converter

Action = Literal["send", "swipe", "branch", "return", "kill"]


@frozen(kw_only=True)
class Expected:
    """What must be true after a step. None means that it is not checked."""

    place: str | None = None
    hp: int | None = None
    inventory: Mapping[str, int] | None = None
    """The whole inventory, with the quantity of each item."""
    present: frozenset[str] | None = None
    met: frozenset[str] | None = None
    relations: Mapping[str, tuple[str, int]] | None = None
    """All relationships of the player, as (type, strength) by character."""
    dead: frozenset[str] | None = None
    counts: Mapping[str, str] | None = None
    """Values of trackers of the world or the player by name, as they are shown. Others may be there."""
    threads: frozenset[str] | None = None
    """All open threads."""
    says: tuple[str, ...] = ()
    """Words that the reply must contain."""
    silent: tuple[str, ...] = ()
    """Words that the reply must not contain."""
    repeats: int | None = None
    """The number of an earlier step. The last quotation in its reply must appear in this reply."""


@frozen
class AdventureStep:
    """One step.

    ``send`` plays a turn. ``swipe`` requests another reply for the last turn and keeps it. ``branch`` cuts the history
    to the turn of step ``at`` and continues there. ``return`` goes back to the main path, with its whole history.
    ``kill`` plays a turn, and kills and restarts the server after the last byte of the reply.
    """

    number: int
    action: Action = "send"
    words: str = ""
    """What the player says; empty for a swipe."""
    stream: bool = False
    at: int | None = None
    remark: str = ""
    """The purpose of this step, shown on the screen."""
    expected: Expected = Expected()


@frozen(kw_only=True)
class Adventure:
    """A story to play, with the prompt that the frontend sends with it."""

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
    """How many of the latest turns the frontend sends. It leaves out earlier ones."""
    steps: tuple[AdventureStep, ...]
    final: Expected
    """What must be true at the end."""
    nowhere: str
    """An item of the branch, which must never appear on the main path."""
    screen: Mapping[str, str]
    """The words of the demo's own output, by key."""


@cache
def adventure(language: str) -> Adventure:
    """The adventure in ``ko`` or ``en``."""
    text = (files("saga_server.demo") / "adventures" / f"{language}.yaml").read_text(encoding="utf-8")
    return Converter(forbid_extra_keys=True).structure(yaml.safe_load(text), Adventure)
