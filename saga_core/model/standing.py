"""Standing rules: a user's decision for all proposals of one kind by one proposer, in one session.

A rule decides proposals that would otherwise wait for the user (``review: ask``). Where proposals do not wait, rules
have no effect.
"""

from __future__ import annotations

from collections.abc import Iterable

from attrs import frozen

from saga_core.model.turn_delta import Delta, Source

ACCEPT, REFUSE = "accept", "refuse"
READING = "reading"
"""The kind of changes that an extraction model reads in a turn. The other kinds are those of ``Proposal``."""


@frozen(kw_only=True)
class StandingRule:
    """The decision for proposals of one kind by one proposer."""

    id: str
    by: str
    """The curator's name (including ``memory.<strategy>``), or ``extraction``."""
    kind: str
    """The kind of the proposals, or ``READING``."""
    verdict: str
    """``ACCEPT`` or ``REFUSE``."""
    at: float
    """When the rule was made, in seconds since the epoch."""


def held(rules: Iterable[StandingRule], by: str, kind: str, *, change: str, number: str) -> list[tuple[str, Delta]]:
    """Return the later delta, with its number, that undoes a proposal until the user accepts it.

    The list is empty if a rule accepts such proposals. If a rule refuses them, the delta counts as an edit.
    """
    verdict = next((each.verdict for each in rules if (each.by, each.kind) == (by, kind)), "")
    if verdict == ACCEPT:
        return []
    return [(number, Delta((), Source.EDIT if verdict == REFUSE else Source.CURATION, id=number, undoes=change))]
