"""Providers and routes: the provider that a request goes to, and the model's name there.

Slots limit how many calls a provider answers at the same time. Waiting calls queue there, with narrations first.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from attrs import define, field, frozen

from saga_backends.http_client import is_local


@define(eq=False)
class Slots:
    """``count`` slots; 0 means no limit. When no slot is free, a narration takes the slot of a background call."""

    count: int = 0
    _busy: int = field(default=0, init=False)
    _narrations: deque[asyncio.Future[None]] = field(factory=deque, init=False)
    _others: deque[asyncio.Future[None]] = field(factory=deque, init=False)
    _yielding: dict[asyncio.Event, None] = field(factory=dict, init=False)
    """The running background calls, in order. Each is represented by the event that asks it to give up its slot."""
    _giving_way: set[asyncio.Event] = field(factory=set, init=False)
    """The calls in ``_yielding`` that give way to any narration."""

    @property
    def waiting(self) -> int:
        """The number of calls in the queues."""
        return len(self._narrations) + len(self._others)

    @asynccontextmanager
    async def narration(self) -> AsyncIterator[None]:
        """Hold a slot for a narration."""
        for wanted in self._giving_way:
            wanted.set()
        if self.count and self._busy >= self.count:
            one = next((event for event in reversed(self._yielding) if not event.is_set()), None)
            if one is not None:
                one.set()
        await self._take(self._narrations)
        try:
            yield
        finally:
            self._give()

    @asynccontextmanager
    async def background(self, *, gives_way: bool = False) -> AsyncIterator[asyncio.Event]:
        """Hold a slot for a background call. The event is set when a narration needs the slot.

        With ``gives_way`` the event is set when any narration begins, even if a slot is free.
        """
        await self._take(self._others)
        wanted = asyncio.Event()
        self._yielding[wanted] = None
        if gives_way:
            self._giving_way.add(wanted)
        try:
            yield wanted
        finally:
            del self._yielding[wanted]
            self._giving_way.discard(wanted)
            self._give()

    async def _take(self, line: deque[asyncio.Future[None]]) -> None:
        if not self.count or (self._busy < self.count and not self.waiting):
            self._busy += 1
            return
        turn = asyncio.get_running_loop().create_future()
        line.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._give()  # the slot had been assigned already
            elif turn in line:
                line.remove(turn)
            raise

    def _give(self) -> None:
        """Free a slot, and assign it to the next call in the queues."""
        self._busy -= 1
        for line in (self._narrations, self._others):
            while line:
                turn = line.popleft()
                if not turn.done():
                    self._busy += 1
                    turn.set_result(None)
                    return


@frozen
class Provider:
    """A configured provider."""

    name: str
    backend: str
    """The registered chat backend for its protocol. Providers without a backend of their own use ``openai``."""
    options: Mapping[str, Any] = field(factory=dict, repr=False)
    passthrough_key: bool = False
    where: str = ""
    """Its address, to show to people."""
    dialect: str = "any"
    """Whose API rules apply: ``anthropic``, ``openai``, ``google`` or ``openrouter``, or ``any`` when it is unknown."""
    slots: Slots = field(factory=Slots, eq=False, repr=False)

    @property
    def is_near(self) -> bool:
        """Whether it is on this machine or a private network, and does not have the dialect of a commercial one."""
        return self.dialect == "any" and is_local(str(self.options.get("base_url") or ""))

    @property
    def completes_text(self) -> bool:
        """Whether plain text prompts are passed on unchanged, as to any unknown server with the OpenAI API."""
        return self.backend == "openai" and self.dialect == "any"


@frozen
class Route:
    """The provider that a request goes to, and the model's name there."""

    provider: Provider
    model: str
