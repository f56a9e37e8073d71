"""The arguments of a request to begin a turn, and the time that each step of answering it took."""

from __future__ import annotations

from attrs import Factory, define, evolve, field, frozen

from saga_core.language import detect, language_of
from saga_core.ports import Clock
from saga_core.transcript import Transcript
from saga_core.world import EMPTY_WORLD, World, WorldLibrary

_HEARD = 8
"""Last messages of a chat without a world from which its language is detected."""


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
            found = await self.worlds.chosen(self.explicit, self.transcript.system_text, self.default)
            self._world = evolve(found, language=self._language(found)) if found == EMPTY_WORLD else found
        return self._world

    async def name(self) -> str:
        """The world's name. Raises as ``get`` does."""
        return (await self.get()).name

    def _language(self, world: World) -> str:
        said = "\n".join(utterance.text for utterance in self.transcript.utterances[-_HEARD:])
        return language_of(detect(said, detect(self.transcript.system_text, world.language))).tag


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

    def total(self) -> None:
        """End the last step, and note the total."""
        self.timings["total"] = (self.clock.monotonic() - self.started) * 1_000


@frozen(kw_only=True)
class Asked:
    """The arguments of one ``Saga.begin``."""

    transcript: Transcript
    session: str | None
    """An explicit session, by id or by any name, optionally followed by a named timeline."""
    owner: str
    world: WorldChoice
    choices: int
    """The number of replies."""
    model: str
    provider: str
    lap: Lap
    player: str = ""
    """The player's name, if the client gives it explicitly."""
    aside: bool = False
    """Whether the client says that the request is no turn of the story."""
    window: int = 0
    """The model's context window in tokens, as the client knows it; 0 if unknown."""
    tools: bool = False
    """Whether the model may call tools."""
