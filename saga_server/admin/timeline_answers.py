"""What the admin API answers about timelines."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from saga_server.admin.answers import Rows


@frozen(eq=False, repr=False)
class Timelines:
    """Named timelines and the ends of other paths."""

    timelines: Rows


@frozen(eq=False, repr=False)
class Timeline:
    """A named timeline, and what a request names to go on there."""

    name: str
    fork: str
    head: str
    created: float
    enter: str


@frozen(eq=False, repr=False)
class ForgottenName:
    """The name that went."""

    forgotten: str


@frozen(eq=False, repr=False)
class Ancestor:
    """Where two paths parted."""

    turn: int
    turn_id: str


@frozen(eq=False, repr=False)
class ComparedSide:
    """One of two turns that are compared."""

    name: str
    turn: int
    turn_id: str
    since: Sequence[str]


@frozen(kw_only=True, eq=False, repr=False)
class Comparison:
    """Where two turns parted, and what differs."""

    session: str
    ancestor: Ancestor
    one: ComparedSide
    other: ComparedSide
    differences: Rows
    language: str
    words: Sequence[str]


@frozen(eq=False, repr=False)
class Pruned:
    """How many turns went, and what became of timelines there."""

    pruned: int
    forgotten: Sequence[str]
    shortened: Sequence[str]
