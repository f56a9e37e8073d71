"""``Delta``: what one turn changed, who reported it, and how later deltas of the same turn amend it."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from attrs import evolve, frozen

from saga_core.model.deltas import Event


class Source(StrEnum):
    """Who reported a change."""

    BLOCK = "block"
    """The narrator's own state block."""
    EXTRACTION = "extraction"
    """A small model that read the reply."""
    EDIT = "edit"
    """A person."""
    CURATION = "curation"
    NONE = "none"
    """Nobody: nothing is known to have changed."""


class ReportStatus(StrEnum):
    """How completely the change could be read."""

    OK = "ok"
    PARTIAL = "partial"
    CUT = "cut"
    """The block was cut off: an extractor should be asked for the rest."""
    FALLBACK = "fallback"
    """No usable block: an extractor should be asked."""
    NONE = "none"
    """Not asked for: a side request, or a turn that was adopted without one."""


@frozen
class Delta:
    """What one turn changed. The empty delta is valid: nothing changed."""

    events: tuple[Event, ...] = ()
    source: Source = Source.NONE
    status: ReportStatus = ReportStatus.NONE
    problems: tuple[str, ...] = ()
    """What could not be read, in words."""
    id: str = ""
    """Of a later delta: the name under which it can be undone."""
    undoes: str = ""
    """The ``id`` of a later delta of the same turn that counts no more, from this one on."""
    cut: str = ""
    """With the status ``cut``: the body of the block as far as it came."""

    def then(self, other: Delta) -> Delta:
        """This delta followed by ``other``, as one (a continued reply is one turn)."""
        if not other.events and other.source is Source.NONE and other.status is not ReportStatus.FALLBACK:
            return self
        source = other.source if other.source is not Source.NONE else self.source
        problems = self.problems + other.problems
        return Delta(self.events + other.events, source, other.status, problems, cut=other.cut)

    def amended(self, later: Sequence[Delta]) -> Delta:
        """This delta with the ``later`` ones of its turn, in their order, but for those that were undone.

        The latest extraction takes the place of what this one and earlier extractions report, for it read the same
        text; edits and curation are added. They report nothing of the turn itself: how well it is known stays.
        """
        found = self
        counting = _counting(later)
        for delta in counting:
            if delta.source is Source.EXTRACTION:
                found = delta
        for delta in counting:
            if delta.source is not Source.EXTRACTION and delta.status is ReportStatus.NONE:
                source = delta.source if found.source is Source.NONE else found.source
                found = evolve(
                    found, events=found.events + delta.events, source=source, problems=found.problems + delta.problems
                )
            elif delta.source is not Source.EXTRACTION:
                found = found.then(delta)
        return found


def undoings(later: Sequence[Delta]) -> dict[str, str]:
    """The ids of later deltas that count no more, and of what undid each. What undoes may itself be undone."""
    gone: dict[str, str] = {}
    for delta in reversed(later):
        if delta.undoes and delta.id not in gone:
            gone.setdefault(delta.undoes, delta.id)
    return gone


def _counting(later: Sequence[Delta]) -> list[Delta]:
    gone = undoings(later)
    return [delta for delta in later if not delta.undoes and (not delta.id or delta.id not in gone)]
