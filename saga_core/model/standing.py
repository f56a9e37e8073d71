"""Standing rules: what a person decided once for all proposals of one kind by one proposer, in one session.

A rule decides what would wait for her otherwise (``review: ask``). Where nothing waits, no rule is asked.
"""

from __future__ import annotations

from collections.abc import Iterable

from attrs import frozen

from saga_core.model.turn_delta import Delta, Source

ACCEPT, REFUSE = "accept", "refuse"
READING = "reading"
"""The kind of what an extraction model reads in a turn; the others are those of ``Proposal``."""


@frozen(kw_only=True)
class StandingRule:
    """What becomes of proposals of one kind by one proposer."""

    id: str
    by: str
    """The curator's name, ``memory.<strategy>`` among them, or ``extraction``."""
    kind: str
    """That of the proposals, or ``READING``."""
    verdict: str
    """``ACCEPT`` or ``REFUSE``."""
    at: float
    """Since when, in seconds since the epoch."""


def held(rules: Iterable[StandingRule], by: str, kind: str, *, change: str, number: str) -> list[tuple[str, Delta]]:
    """The later delta ``number`` that undoes what was proposed: until a person accepts it, or as she said once.

    With its number before it; empty where she said that such proposals count.
    """
    verdict = next((each.verdict for each in rules if (each.by, each.kind) == (by, kind)), "")
    if verdict == ACCEPT:
        return []
    return [(number, Delta((), Source.EDIT if verdict == REFUSE else Source.CURATION, id=number, undoes=change))]
