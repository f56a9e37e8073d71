"""Turn, session and review records, as the journal stores them, and the standing rules of a session."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from attrs import field, frozen

from saga_core.model.turn_delta import Delta, Source
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


BLANK = "[…]"
"""Replaces a forgotten name."""


class TurnKind(StrEnum):
    """How a turn came about."""

    ROOT = "root"
    """The opening of a session: the greeting, before the player's first words. Depth 0."""
    NARRATION = "narration"
    """The player spoke and the narrator answered."""
    CONTINUATION = "continuation"
    """A reply that continues an earlier one. It is a sibling of that turn and has the text of both."""
    ADOPTED = "adopted"
    """A turn found in a history that SAGA had not recorded, or had recorded with another text."""
    IMPORTED = "imported"
    """A turn of an imported chat. No model is asked about it unless the user requests that (``saga backfill``)."""
    SIDE = "side"
    """The reply to a request that did not look like a turn: impersonate, summarise, a quiet prompt."""


@frozen
class Turn:
    """The player's message and the reply: a node in a session's tree."""

    id: str
    session: str
    parent: str | None
    """The previous turn. None only for the root."""
    depth: int
    """The number of turns on the path from the root, which has depth 0."""
    at: float
    """The time of recording, in seconds since the epoch."""
    user: str = ""
    """The player's message in NFC, without text that SAGA added."""
    reply: str = ""
    """The complete reply as the player saw it, in NFC, without state blocks."""
    delta: Delta = field(factory=Delta)
    kind: TurnKind = TurnKind.NARRATION
    model: str = ""
    finish: str = "stop"
    """OpenAI's finish reason, or ``aborted`` if the client disconnected during the reply."""
    jump: str | None = None
    """A distant ancestor. It makes ancestry queries logarithmic."""
    missing: int | None = None
    """The depth up to which turns were missing from the history of its request. None: unknown."""


@frozen
class Session:
    """One tree of turns."""

    id: str
    root: str
    owner: str = ""
    """The fingerprint of the API key that owns the session; empty for none."""
    label: str = ""
    """The explicit name that the client gave it, if any."""
    world: str = ""
    """The name of the session's world."""
    digest: str = ""
    """The digest of that world when the session began. The journal keeps its text."""
    created: float = 0.0
    head: str = ""
    """The turn recorded last: the active head."""
    standing: tuple[StandingRule, ...] = ()
    """The standing rules, one for each proposer and kind."""
