"""SAGA in this process, and a plain HTTP client for it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import ClientResponse, ClientSession, ClientTimeout
from attrs import define, frozen

from saga_core.config import load_config
from saga_core.state_block import BlockFields
from saga_server.server import Server
from tests.blocks import render_block

CHAT = "/v1/chat/completions"
BLOCK = render_block(BlockFields(location="어둠의 숲", hp_change=-10))


def words(*texts: str, system: str | None = "You are the narrator of Ersia.") -> list[dict[str, Any]]:
    """A history: the player and the narrator in turns, the player first and last."""
    roles = ("user", "assistant")
    said = [{"role": roles[at % 2], "content": text} for at, text in enumerate(texts)]
    return [{"role": "system", "content": system}, *said] if system is not None else said


@frozen
class Reply:
    """An answer in one piece."""

    status: int
    headers: Mapping[str, str]
    raw: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.raw)

    @property
    def text(self) -> str:
        found: str = self.json["choices"][0]["message"]["content"]
        return found

    @property
    def error(self) -> dict[str, Any]:
        body = self.json
        assert set(body) == {"error"}
        assert set(body["error"]) == {"message", "type", "param", "code"}
        found: dict[str, Any] = body["error"]
        return found

    @property
    def turn(self) -> str:
        return self.headers["X-SAGA-Turn"]

    @property
    def session(self) -> str:
        return self.headers["X-SAGA-Session"]

    @property
    def events(self) -> list[Any]:
        """The data of the server-sent events; ``[DONE]`` as that text. Comments, which clients pass over, are none."""
        found = []
        for block in self.raw.decode().split("\n\n"):
            if block and not block.startswith(": "):
                assert block.startswith("data: "), block
                data = block.removeprefix("data: ")
                found.append(data if data == "[DONE]" else json.loads(data))
        return found

    def streamed(self, index: int = 0) -> str:
        """A choice's text."""
        deltas = (
            choice["delta"]
            for event in self.events
            if isinstance(event, dict)
            for choice in event.get("choices", ())
            if choice["index"] == index
        )
        return "".join(delta.get("content") or "" for delta in deltas)


@define
class Client:
    """Requests to one server. ``key`` is the bearer token, if any."""

    server: Server
    http: ClientSession
    key: str | None = None

    @staticmethod
    @asynccontextmanager
    async def of(
        sections: Mapping[str, Any], environ: Mapping[str, str], *, asks_context_sizes: bool = False
    ) -> AsyncIterator[Client]:
        tree: dict[str, Any] = {"storage": {"profile": "memory"}, **sections}
        tree.setdefault("extraction", {"automatic": "never"})  # the upstream of tests is on this machine
        tree["server"] = {"port": 0, "drain_timeout": 5, **sections.get("server", {})}
        async with (
            Server(load_config(tree, environ=environ), environ, asks_context_sizes=asks_context_sizes) as server,
            ClientSession(base_url=server.url, timeout=ClientTimeout(total=20)) as http,
        ):
            yield Client(server, http)

    def request(self, method: str, path: str, **given: Any) -> Any:
        headers = dict(given.pop("headers", {}))
        if self.key is not None:
            headers.setdefault("Authorization", f"Bearer {self.key}")
        return self.http.request(method, path, headers=headers, **given)

    async def send(self, method: str, path: str, **given: Any) -> Reply:
        async with self.request(method, path, **given) as response:
            return await _reply(response)

    async def get(self, path: str, **given: Any) -> Reply:
        return await self.send("GET", path, **given)

    async def post(self, path: str, **given: Any) -> Reply:
        return await self.send("POST", path, **given)

    async def chat(
        self,
        messages: list[dict[str, Any]],
        *,
        path: str = CHAT,
        headers: Mapping[str, str] | None = None,
        **fields: Any,
    ) -> Reply:
        """Ask for a reply."""
        body = {"model": "narrator-1", "messages": messages, **fields}
        return await self.post(path, json=body, headers=headers or {})

    async def turns(self, session: str) -> list[dict[str, Any]]:
        """The turns of the active head's path, the root left out, after all work is done."""
        drained = await self.post("/api/drain")
        assert drained.json["settled"], drained.json
        found: list[dict[str, Any]] = (await self.get(f"/api/sessions/{session}/turns")).json["turns"]
        return found[1:]

    async def metric(self, line: str) -> float:
        """The value of one line of ``/metrics``."""
        text = (await self.get("/metrics")).raw.decode()
        return float(next(row.rsplit(" ", 1)[1] for row in text.splitlines() if row.startswith(line + " ")))


async def _reply(response: ClientResponse) -> Reply:
    return Reply(response.status, response.headers, await response.read())


async def until(true: Callable[[], bool]) -> None:
    """Wait for something, for ten seconds at most."""
    for _ in range(1_000):
        if true():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it did not come about")
