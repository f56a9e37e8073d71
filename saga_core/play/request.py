"""What enters a turn: the request, what is known where its turn begins, and the time that each step took."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import Factory, define, evolve, field, frozen

from saga_core.language import detect, language_of
from saga_core.model import TurnKind, WorldState
from saga_core.play.prompt_memories import HeldMemory
from saga_core.ports import Clock
from saga_core.sessions import LiveSession
from saga_core.transcript import Transcript
from saga_core.upstream import ModelFacts
from saga_core.world import EMPTY_WORLD, World, WorldLibrary

_HEARD = 8
"""Last messages of a chat without a world from which its language is detected."""


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
    window: int = 0
    tools: bool = False
    local: bool = False


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

    @property
    def session(self) -> str:
        """The id of the session."""
        return self.live.session.id


@frozen(kw_only=True)
class TurnStart:
    """What is known where a turn begins. It is read once, and all parts of play take it from here."""

    request: Request
    place: Place
    turn: str
    """The id of the turn that the first reply becomes."""
    state: WorldState
    """The state at the turn that the request continues."""
    language: str
    """The language of the player's words."""
    facts: ModelFacts
    """The facts about the requested model."""
    memory: HeldMemory
    """The memory of the session's prompts."""
    now: float
    """The time of the request in seconds since the epoch."""
    asks_for_block: bool = True
    """Whether the narrator is asked for a state block. If not, a model reads the reply afterwards."""


@define
class WorldChoice:
    """The world for a new session. Its files are read only if needed, because a known session has its own world."""

    worlds: WorldLibrary
    explicit: str | None
    transcript: Transcript
    default: str | None
    _world: World | None = field(default=None, init=False)

    async def get(self) -> World:
        """The explicit world, or the one that the system prompt names, or the default. Raises as ``choose`` does.

        The empty world gets the language of the chat.
        """
        if self._world is None:
            chosen = await self.worlds.chosen(self.explicit, self.transcript.system_text, self.default)
            self._world = evolve(chosen, language=self._language(chosen)) if chosen == EMPTY_WORLD else chosen
        return self._world

    async def name(self) -> str:
        """The world's name. Raises as ``get`` does."""
        return (await self.get()).name

    def _language(self, world: World) -> str:
        last = "\n".join(utterance.text for utterance in self.transcript.utterances[-_HEARD:])
        return language_of(detect(last, detect(self.transcript.system_text, world.language))).tag


@define
class Lap:
    """Measures the milliseconds of each step of beginning a turn."""

    clock: Clock
    started: float = field(default=Factory(lambda self: self.clock.monotonic(), takes_self=True))
    timings: dict[str, float] = field(factory=dict)
    _last: float = field(default=Factory(lambda self: self.started, takes_self=True))

    def __call__(self, name: str) -> None:
        """End the step ``name``."""
        now = self.clock.monotonic()
        self.timings[name] = (now - self._last) * 1_000
        self._last = now

    def again(self) -> None:
        """Measure again from the start, because all steps are repeated."""
        self._last = self.started

    def total(self) -> dict[str, float]:
        """Note the total, and return the milliseconds of each step."""
        self.timings["total"] = (self.clock.monotonic() - self.started) * 1_000
        return self.timings
