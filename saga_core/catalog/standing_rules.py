"""The proposers of changes, and the standing rules that decide all proposals of one kind."""

from __future__ import annotations

from attrs import frozen

from saga_core.errors import BadInput, NotFound
from saga_core.model import READING, Delta, Source, StandingRule, undoings
from saga_core.sessions import LiveSession


@frozen
class Proposed:
    """The origin of a change."""

    by: str
    """A curator's name, or the source of the change."""
    kind: str = ""
    """The kind of the proposal; empty if the change was not proposed."""
    summary: str = ""


def proposals(live: LiveSession, turn: str) -> dict[str, Proposed]:
    """Return the later changes of a turn, by id, with the origin of each."""
    found = {
        delta.id: Proposed(delta.source.value, READING if delta.source is Source.EXTRACTION else "")
        for delta in live.amendments.get(turn, ())
        if delta.id and not delta.undoes
    }
    for review in live.reviews.get(turn, ()):
        for change, proposal in zip(review.changes, review.accepted, strict=True):
            found[change] = Proposed(review.curator, proposal.kind, proposal.summary)
    return found


def holds(later: tuple[Delta, ...]) -> set[str]:
    """Return the ids of the deltas that make changes wait for the user."""
    return {delta.id for delta in later if delta.undoes and delta.source is Source.CURATION}


def waiting(later: tuple[Delta, ...]) -> set[str]:
    """Return the ids of the changes that wait for the user."""
    held = holds(later)
    return {change for change, by in undoings(later).items() if by in held}


def proposal_of(live: LiveSession, change: str) -> Proposed:
    """Return a proposal that waits, or waited, for the user. ``NotFound``, and ``BadInput`` if it never waited."""
    for turn, later in live.amendments.items():
        if not any(delta.id == change for delta in later):
            continue
        held = holds(later)
        if not any(delta.id in held and delta.undoes == change for delta in later):
            raise BadInput(f"change: {change!r} never waited for anybody; GET …/changes says which do")
        return proposals(live, turn)[change]
    raise NotFound(f"session {live.session.id} has no change {change!r}")


async def put_rule(live: LiveSession, rule: StandingRule) -> StandingRule:
    """Record a rule and replace the one for the same proposals. An identical rule is kept as it is."""
    for known in live.session.standing:
        if (known.by, known.kind, known.verdict) == (rule.by, rule.kind, rule.verdict):
            return known
    others = (each for each in live.session.standing if (each.by, each.kind) != (rule.by, rule.kind))
    await live.change(standing=(*others, rule))
    return rule


async def end_rule(live: LiveSession, rule: str) -> StandingRule:
    """Remove a rule by its id and return it. ``NotFound``."""
    gone = next((each for each in live.session.standing if each.id == rule), None)
    if gone is None:
        raise NotFound(f"session {live.session.id} has no standing rule {rule!r}")
    await live.change(standing=tuple(each for each in live.session.standing if each.id != rule))
    return gone
