"""The record of a review. It is stored with its turn, so that each path is reviewed only once."""

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
    """The depth after which the reviewed turns begin."""
    depth: int
    accepted: tuple[Proposal, ...] = ()
    changes: tuple[str, ...] = ()
    """The ``id`` of the later delta of each proposal in ``accepted``."""
    refused: tuple[tuple[str, str], ...] = ()
    """(summary, reason) of each refused proposal."""
    notice: str = ""
    """A message if something deviated from the configuration."""
