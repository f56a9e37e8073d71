"""The players of a load run. Each plays its script over HTTP as a frontend does, and checks the replies."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

from aiohttp import ClientError, ClientSession
from attrs import define, field

from tests.bench.load.script import Script, tag

_SHOWN = 20
"""Turns of the chat that a frontend sends."""


@define(eq=False)
class Findings:
    """The measurements and errors of all players of a run."""

    context: list[float] = field(factory=list)
    """Milliseconds for reading the context, as the server reports them."""
    first: list[float] = field(factory=list)
    """Milliseconds until the reply's first text."""
    whole: list[float] = field(factory=list)
    """Milliseconds from the reply's last text to the end of the stream, recording included."""
    errors: list[str] = field(factory=list)
    mixed: list[str] = field(factory=list)
    """Signs that a chat was mixed up with another."""
    late: int = 0
    """Turns in which a source of context was left out."""
    turns: int = 0


@define(eq=False)
class Player:
    """One chat. The server recognises it by its history alone."""

    script: Script
    http: ClientSession
    findings: Findings
    session: str = ""
    _turn: str = ""
    _chat: list[tuple[str, str]] = field(factory=list)
    _system: str = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._system = self.script.system

    async def play(self, turns: int, delay: float = 0.0) -> None:
        """Play ``turns`` turns, the first of them after ``delay`` seconds. The first error ends the play."""
        await asyncio.sleep(delay)
        for _ in range(turns):
            try:
                await self._play_one()
            except (ClientError, TimeoutError, ValueError, KeyError) as error:
                self._fault(self.findings.errors, f"{type(error).__name__}: {error}")
                return
            await asyncio.sleep(self.script.options.pause)

    def _fault(self, where: list[str], what: str) -> None:
        where.append(f"session {self.script.number}, turn {self.script.turn}: {what}")

    async def _play_one(self) -> None:
        told = self.script.next()
        history = [
            {"role": role, "content": text}
            for turn in self._chat[-_SHOWN:]
            for role, text in zip(("user", "assistant"), turn, strict=True)
        ]
        body = {
            "model": "scripted",
            "stream": True,
            "user": tag(self.script.number, self.script.turn),
            "messages": [
                {"role": "system", "content": self._system},
                *history,
                {"role": "user", "content": told.words},
            ],
        }
        began = time.perf_counter()
        async with self.http.post("/v1/chat/completions", json=body) as response:
            if response.status != 200:
                raise ValueError(f"{response.status}: {(await response.text())[:300]}")
            text, first, last = await _read(response.content)
        ended = time.perf_counter()
        self._mind(response.headers, text, told.reply)
        self._chat = [*self._chat[-_SHOWN:], (told.words, text)]
        findings = self.findings
        findings.turns += 1
        findings.first.append((first - began) * 1_000)
        findings.whole.append((ended - last) * 1_000)

    def _mind(self, headers: Any, text: str, reply: str) -> None:
        """Check that the reply is the script's, in this chat's session, and continues the previous turn."""
        findings = self.findings
        findings.context.append(float(headers["X-SAGA-Context-Ms"]))
        findings.late += "X-SAGA-Late" in headers
        if "X-SAGA-Notice" in headers:
            self._fault(findings.errors, f"notice: {headers['X-SAGA-Notice']}")
        if text.strip() != reply.strip():
            self._fault(findings.mixed, f"was told {text[:80]!r}, not {reply[:80]!r}")
        if self.session and headers["X-SAGA-Session"] != self.session:
            self._fault(findings.mixed, f"became {headers['X-SAGA-Session']}, was {self.session}")
        if self._turn and headers["X-SAGA-Parent"] != self._turn:
            self._fault(findings.mixed, f"continues {headers['X-SAGA-Parent']}, not {self._turn}")
        self.session, self._turn = headers["X-SAGA-Session"], headers["X-SAGA-Turn"]

    async def check(self) -> None:
        """Check that the server's state of this chat is the one in its script."""
        async with self.http.get(f"/api/sessions/{self.session}/state") as response:
            state = await response.json()
            if response.status != 200:
                self._fault(self.findings.errors, f"state: {response.status}: {state}")
                return
        self.findings.mixed += self.script.faults(state)


async def _read(content: Any) -> tuple[str, float, float]:
    """The text of a stream, and the times of its first and last piece. Raises ``ValueError`` if it breaks off."""
    text, first, last = [], 0.0, 0.0
    done = False
    async for line in content:
        if not line.startswith(b"data: "):
            continue
        if line.startswith(b"data: [DONE]"):
            done = True
            continue
        event = json.loads(line[6:])
        if "error" in event:
            raise ValueError(f"in mid-stream: {event['error']}")
        piece = "".join(choice["delta"].get("content") or "" for choice in event["choices"])
        if piece:
            last = time.perf_counter()
            first = first or last
            text.append(piece)
    if not done or not text:
        raise ValueError("the stream broke off")
    return "".join(text), first, last
