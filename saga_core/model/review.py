"""The record of a review: kept beside its turn, so that a path is reviewed once."""

from __future__ import annotations

from attrs import frozen

from saga_core.values import Proposal


@frozen
class Review:
    """One review."""

    curator: str
    turn: str
    at: float
    since: int
    """The depth behind which its turns began."""
    depth: int
    accepted: tuple[Proposal, ...] = ()
    changes: tuple[str, ...] = ()
    """The ``id`` of the later delta in which each of ``accepted`` stands."""
    refused: tuple[tuple[str, str], ...] = ()
    """(summary, reason) of what was not."""
    notice: str = ""
    """What went otherwise than configured, in words."""
