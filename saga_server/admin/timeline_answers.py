"""Answers of the admin API about timelines."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from saga_server.admin.answers import Rows


@frozen(eq=False, repr=False)
class Timelines:
    """The named timelines and the ends of all other paths."""

    timelines: Rows


@frozen(eq=False, repr=False)
class Timeline:
    """A named timeline. ``enter`` is the session name with which a chat request continues there."""

    name: str
    fork: str
    head: str
    created: float
    enter: str


@frozen(eq=False, repr=False)
class ForgottenName:
    """The name of the timeline that was removed."""

    forgotten: str


@frozen(eq=False, repr=False)
class Ancestor:
    """The last turn that two paths have in common."""

    turn: int
    turn_id: str


@frozen(eq=False, repr=False)
class ComparedSide:
    """One of the two turns in a comparison."""

    name: str
    turn: int
    turn_id: str
    since: Sequence[str]


@frozen(kw_only=True, eq=False, repr=False)
class Comparison:
    """A comparison of two turns: where their paths parted, and what differs."""

    session: str
    ancestor: Ancestor
    one: ComparedSide
    other: ComparedSide
    differences: Rows
    language: str
    words: Sequence[str]


@frozen(eq=False, repr=False)
class Pruned:
    """How many turns were removed, which timelines lost their name, and which now end earlier."""

    pruned: int
    forgotten: Sequence[str]
    shortened: Sequence[str]
