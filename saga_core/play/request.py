"""What enters a turn: the request, and what is known where its turn begins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from attrs import frozen

from saga_core.arguments import check_argument
from saga_core.errors import BadInput, StoreError
from saga_core.model import Event, Fact, TurnKind, WorldState
from saga_core.play.prompt_memories import HeldMemory
from saga_core.sessions import LiveSession, NewSession, Perspective
from saga_core.trackers import Tracker, Trackers
from saga_core.transcript import Transcript
from saga_core.upstream import ModelFacts

MOST_CHOICES = 128


@frozen(kw_only=True)
class Request:
    """What ``Saga.begin`` is asked for. Its docstring says what each field means."""

    messages: Sequence[Mapping[str, Any]]
    session: str | None = None
    owner: str = ""
    world: str | None = None
    choices: int = 1
    model: str = ""
    provider: str = ""
    player: str = ""
    aside: bool = False
    speaker: str = ""
    member: str = ""
    continued: str = ""
    window: int = 0
    tools: bool = False
    local: bool = False
    completion: bool = False
    trackers: Sequence[Tracker] = ()
    profile: str = ""
    kind: str = ""
    own_tools: Sequence[Mapping[str, Any]] = ()

    def __attrs_post_init__(self) -> None:
        for name, (kind, words) in _LISTS.items():
            for number, value in enumerate(getattr(self, name)):
                check_argument(f"{name}[{number}]", value, kind, f"give {words}")
        if not 1 <= self.choices <= MOST_CHOICES:
            raise BadInput(f"choices: {self.choices} is out of range; give 1 to {MOST_CHOICES}")
        if self.window < 0:
            raise BadInput(f"window: {self.window} is negative; give a number of tokens, or 0 for no limit")


_LISTS: dict[str, tuple[type, str]] = {
    "trackers": (Tracker, "saga_core.trackers.Tracker"),
    "own_tools": (Mapping, "tools as OpenAI's chat API declares them"),
}
"""The fields that hold a list, with what it holds. Messages are checked when they are read."""


@frozen(kw_only=True)
class Place:
    """The place of a request in a session's tree, and the kind of the request."""

    live: LiveSession
    parent: str
    """The turn that the request continues."""
    transcript: Transcript
    """The request's messages, as they were understood."""
    shown: frozenset[str]
    """Turns of the path that are in the request's history."""
    kind: TurnKind
    timeline: str = ""
    """The named timeline that the request chose."""
    adopted: tuple[str, ...] = ()
    """Turns that were adopted from the request's history just now."""
    unadopted: StoreError | None = None
    """Why turns of the request's history could not be adopted. The turn itself cannot be recorded without them."""
    new: NewSession | None = None
    """The session, if it has no turn but those of running requests."""


Report = Literal["block", "tool", "after"]


@frozen(kw_only=True)
class TurnStart:
    """What is known where a turn begins. It is read once, and all parts of play take it from here."""

    request: Request
    place: Place
    turn: str
    """The id of the turn that the first reply becomes."""
    state: WorldState
    """The state at the turn that the request continues, with what ``declared`` declares."""
    language: str
    """The language of the player's words."""
    facts: ModelFacts
    """The facts about the requested model."""
    memory: HeldMemory
    """The memory of the session's prompts."""
    now: float
    """The time of the request in seconds since the epoch."""
    report: Report = "block"
    """How the narrator is asked to report. ``after``: it is not; a model reads the reply afterwards."""
    member: str = ""
    """The name of the member of a group who speaks next; empty outside of groups."""
    perspective: Perspective | None = None
    """What the member of a group who speaks next knows; None outside of groups."""
    declared: tuple[Event, ...] = ()
    """What the request and the configuration declare and the story does not count yet, and what the session sees of
    its shared world. The turn records it."""
    settled: tuple[Fact, ...] = ()
    """Facts of the shared world about which several sessions said different things. The latest counts."""

    @property
    def told(self) -> WorldState:
        """The state as the prompt may tell it."""
        return self.state if self.perspective is None else self.perspective.state

    @property
    def counted(self) -> Trackers:
        """The trackers that the narrator is asked for."""
        return self.state.trackers if self.perspective is None else self.state.trackers.for_members()

    @property
    def unseen(self) -> frozenset[str]:
        """The turns of the path that the prompt must not tell."""
        return frozenset() if self.perspective is None else self.perspective.unseen
