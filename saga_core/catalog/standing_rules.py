"""Who proposed a change, and the rules by which a person decides all proposals of that kind at once."""

from __future__ import annotations

from typing import Any

from attrs import asdict, evolve, frozen

from saga_core.errors import BadInput, NotFound
from saga_core.model import READING, Delta, Source, StandingRule, undoings
from saga_core.sessions import LiveSession


@frozen
class Proposed:
    """Where a change comes from."""

    by: str
    """A curator, or the source of the change."""
    kind: str = ""
    """That of the proposal; empty for what nobody proposed."""
    summary: str = ""


def proposals(live: LiveSession, turn: str) -> dict[str, Proposed]:
    """The later changes of a turn, by id, and where each comes from."""
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
    """The ids of what makes changes wait for a person."""
    return {delta.id for delta in later if delta.undoes and delta.source is Source.CURATION}


def waiting(later: tuple[Delta, ...]) -> set[str]:
    """The ids of the changes that wait for a person."""
    held = holds(later)
    return {change for change, by in undoings(later).items() if by in held}


def proposal_of(live: LiveSession, change: str) -> Proposed:
    """The proposal that waits for a person, or waited. ``NotFound``, and ``BadInput`` for what never did."""
    for turn, later in live.amendments.items():
        if not any(delta.id == change for delta in later):
            continue
        held = holds(later)
        if not any(delta.id in held and delta.undoes == change for delta in later):
            raise BadInput(f"change: {change!r} never waited for anybody; GET …/changes says which do")
        return proposals(live, turn)[change]
    raise NotFound(f"session {live.session.id} has no change {change!r}")


def shown_rule(rule: StandingRule) -> dict[str, Any]:
    """A rule, JSON-able."""
    return asdict(rule)


async def put_rule(live: LiveSession, rule: StandingRule) -> StandingRule:
    """Record a rule in the place of the one for the same proposals. One that says the same already stays as it is."""
    for known in live.session.standing:
        if (known.by, known.kind, known.verdict) == (rule.by, rule.kind, rule.verdict):
            return known
    others = (each for each in live.session.standing if (each.by, each.kind) != (rule.by, rule.kind))
    await _write(live, (*others, rule))
    return rule


async def end_rule(live: LiveSession, rule: str) -> StandingRule:
    """Remove a rule by its id, and return it. ``NotFound``."""
    gone = next((each for each in live.session.standing if each.id == rule), None)
    if gone is None:
        raise NotFound(f"session {live.session.id} has no standing rule {rule!r}")
    await _write(live, tuple(each for each in live.session.standing if each.id != rule))
    return gone


async def _write(live: LiveSession, rules: tuple[StandingRule, ...]) -> None:
    changed = evolve(live.session, standing=rules)
    await live.journal.put_session(changed)
    live.session = changed
