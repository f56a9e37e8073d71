"""Players who are moved between servers, swipe, edit, go back and branch, and ask again when an answer breaks off."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Sequence
from typing import Any

from aiohttp import ClientError, ClientSession, ClientTimeout
from attrs import define, field

from tests.postgres.chaos.history import Appended, Read
from tests.postgres.cluster import Member

_PATIENCE_SECONDS = 120.0


@define(eq=False)
class MovedPlayer:
    """One chat, as its frontend keeps it."""

    name: str
    servers: Sequence[Member]
    draw: random.Random
    history: list[tuple[str, str]] = field(factory=list)
    """Words and the reply to them."""
    ended: set[str] = field(factory=set)
    """Every reply that came to its end, as it was shown."""
    edited: set[str] = field(factory=set)
    """Replies that the player rewrote by hand."""
    below: dict[str, str] = field(factory=dict)
    """Words to the reply that stood before them whenever they were said."""
    asked: int = 0
    """Requests that were made, those that broke off included."""
    unrecorded: set[str] = field(factory=set)
    """Replies whose notice said that they are not recorded, or that the journal could not be read for them."""
    appended: list[Appended] = field(factory=list)
    reads: list[Read] = field(factory=list)
    session: str = ""
    slowest: float = 0.0
    _http: ClientSession | None = None

    async def act(self) -> None:
        """Say something, swipe, edit, or go back and say something else; then look, perhaps."""
        choice = self.draw.random()
        if choice < 0.2 and self.history:
            words, _ = self.history.pop()
        elif choice < 0.3 and len(self.history) > 2:
            del self.history[-self.draw.randrange(1, 3) :]
            words = f"{self.name} goes back and tries another way, number {self.asked}, over the river."
        else:
            if choice < 0.4 and self.history:
                self._edit()
            words = f"{self.name} walks on for the {self.asked}th time and looks at the old walls."
        await self.says(words)
        if self.draw.random() < 0.3:
            await self._look(self.draw.choice(self.servers))

    def _edit(self) -> None:
        said, reply = self.history[-1]
        fresh = f"{reply} A bell rings, {self.asked} times over, and {self.name} counts."
        self.history[-1] = said, fresh
        self.edited.add(fresh)

    async def says(self, words: str) -> None:
        """Ask until a reply comes to its end."""
        before = self.history[-1][1] if self.history else ""
        assert self.below.setdefault(words, before) == before
        began = time.monotonic()
        while True:
            self.asked += 1
            reply = await self._ask(self.draw.choice(self.servers), words)
            if reply:
                break
            assert time.monotonic() - began < _PATIENCE_SECONDS, f"{self.name} waits in vain"
            await asyncio.sleep(0.05)
        self.slowest = max(self.slowest, time.monotonic() - began)
        self.history.append((words, reply))
        self.ended.add(reply)

    def messages(self, words: str) -> list[dict[str, str]]:
        found = [{"role": "system", "content": f"You narrate the tale of {self.name}."}]
        for said, told in self.history:
            found += [{"role": "user", "content": said}, {"role": "assistant", "content": told}]
        return [*found, {"role": "user", "content": words}]

    def _client(self) -> ClientSession:
        if self._http is None:
            self._http = ClientSession(timeout=ClientTimeout(total=60))
        return self._http

    async def _ask(self, server: Member, words: str) -> str:
        """The whole reply; empty when it broke off or was refused for now."""
        stream = self.draw.random() < 0.5
        body = {"model": "narrator-1", "messages": self.messages(words), "stream": stream}
        began = time.time()
        try:
            async with self._client().post(f"{server.url}/v1/chat/completions", json=body) as answer:
                raw = await answer.read()
                if answer.status >= 500:
                    return ""
                assert answer.status == 200, raw
                notice = answer.headers.get("X-SAGA-Notice", "") + raw.decode()
                reply = _streamed(raw) if stream else str(json.loads(raw)["choices"][0]["message"]["content"])
                if not reply:
                    return ""
                self.session = answer.headers.get("X-SAGA-Session", self.session) or self.session
                if "not recorded" in notice or "journal.read" in notice:
                    self.unrecorded.add(reply)
                else:
                    turn = answer.headers["X-SAGA-Turn"]
                    self.appended.append(Appended(self.session, turn, began, time.time()))
                return reply
        except (ClientError, OSError, TimeoutError):
            return ""

    async def _look(self, server: Member) -> None:
        """Read all turns of the session from a server."""
        if not self.session:
            return
        began = time.time()
        try:
            async with self._client().get(f"{server.url}/api/sessions/{self.session}/tree") as answer:
                raw = await answer.read()
                if answer.status >= 500:
                    return
                assert answer.status in (200, 404), raw
                nodes = json.loads(raw)["nodes"] if answer.status == 200 else []
        except (ClientError, OSError, TimeoutError):
            return
        turns = frozenset(node["id"] for node in nodes)
        self.reads.append(Read(self.session, server.name, began, time.time(), turns))

    async def aclose(self) -> None:
        if self._http is not None:
            await self._http.close()


def _streamed(raw: bytes) -> str:
    """The text of a stream that came to its end."""
    events = [block.removeprefix("data: ") for block in raw.decode().split("\n\n") if block.startswith("data: ")]
    if not events or events[-1] != "[DONE]":
        return ""
    told = ""
    for event in events[:-1]:
        found: dict[str, Any] = json.loads(event)
        if "error" in found:
            return ""
        told += "".join(choice["delta"].get("content") or "" for choice in found.get("choices", ()))
    return told
