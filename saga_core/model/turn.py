"""Turn and session records, as the journal stores them."""

from __future__ import annotations

from enum import StrEnum

from attrs import field, frozen

from saga_core.model.standing import StandingRule
from saga_core.model.turn_delta import Delta

BLANK = "[…]"
"""What stands where a forgotten name stood."""


class TurnKind(StrEnum):
    """How a turn came about."""

    ROOT = "root"
    """The opening of a session: the greeting, before the player's first words. Depth 0."""
    NARRATION = "narration"
    """The player spoke and the narrator answered."""
    CONTINUATION = "continuation"
    """A reply that goes on with an earlier one: one turn with it, a sibling of it, with the text of both."""
    ADOPTED = "adopted"
    """A turn that a history proved and that SAGA had not seen, or had seen with another text."""
    IMPORTED = "imported"
    """A turn of a chat's file. No model is asked about it unless somebody has it read (``saga backfill``)."""
    SIDE = "side"
    """The answer to a request that looked like no turn: impersonate, summarise, a quiet prompt."""


@frozen
class Turn:
    """What the player said and the reply to it: a node in a session's tree."""

    id: str
    session: str
    parent: str | None
    """The turn before; None for the root alone."""
    depth: int
    """Turns on the path from the root, which is 0."""
    at: float
    """Seconds since the epoch when it was recorded."""
    user: str = ""
    """The player's words, NFC, without anything SAGA added."""
    reply: str = ""
    """The reply as the player saw it: whole, NFC, without state blocks."""
    delta: Delta = field(factory=Delta)
    kind: TurnKind = TurnKind.NARRATION
    model: str = ""
    finish: str = "stop"
    """OpenAI's finish reason, or ``aborted`` when the client went away in mid-reply."""
    jump: str | None = None
    """A far ancestor, by which ancestry is told in logarithmic time."""
    missing: int | None = None
    """The depth up to which turns did not stand in the history that its request was sent with; None: nobody knows."""


@frozen
class Session:
    """One tree of turns."""

    id: str
    root: str
    owner: str = ""
    """The fingerprint of the API key that it belongs to; empty for none."""
    label: str = ""
    """The explicit name that the client gave it, if any."""
    world: str = ""
    """The name of the world that it plays in."""
    digest: str = ""
    """The digest of that world as it was when the session began; the journal keeps its text."""
    created: float = 0.0
    head: str = ""
    """The turn recorded last: the active head."""
    standing: tuple[StandingRule, ...] = ()
    """What becomes of proposals that nobody needs to be asked about; one for each proposer and kind."""
