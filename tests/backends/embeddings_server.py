"""A strict server that speaks the OpenAI embeddings API on 127.0.0.1, scripted by tests: how it answers and fails."""

from __future__ import annotations

import asyncio
import json
import math
import struct
from base64 import b64encode
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Self
from zlib import crc32

from aiohttp import web
from attrs import define, field, frozen

KNOWN = frozenset({"model", "input", "dimensions", "encoding_format", "user"})


@frozen
class Asked:
    """One request as it arrived."""

    headers: Mapping[str, str]
    body: dict[str, Any]

    @property
    def texts(self) -> list[str]:
        found: list[str] = self.body["input"]
        return found


Step = Callable[[web.Request, Asked, "EmbeddingsServer"], Awaitable[web.StreamResponse]]


def vector(text: str, dimension: int) -> list[float]:
    """Of no unit length, the same for the same text, near to that of a text with the same words."""
    found = [0.0] * dimension
    for word in text.split():
        found[crc32(word.encode("utf-8", "surrogatepass")) % dimension] += 3.0
    return found


def encoded(values: Sequence[float], form: str) -> Any:
    if form == "base64":
        return b64encode(struct.pack(f"<{len(values)}f", *values)).decode()
    return list(values)


def answer(vectors: Sequence[Sequence[float]], form: str, **extra: Any) -> dict[str, Any]:
    data = [
        {"object": "embedding", "index": place, "embedding": encoded(each, form), **extra}
        for place, each in enumerate(vectors)
    ]
    return {"object": "list", "data": data, "model": "m", "usage": {"prompt_tokens": 1, "total_tokens": 1}}


@define
class EmbeddingsServer:
    """``async with EmbeddingsServer() as server``. Each request takes the next step of ``script``, or embeds."""

    dimension: int = 16
    script: deque[Step] = field(factory=deque)
    asked: list[Asked] = field(factory=list)
    key: str | None = None
    """The bearer token that it wants."""
    knows_base64: bool = True
    gone: asyncio.Event = field(factory=asyncio.Event)
    """Set when a client went away before it was answered."""
    came: asyncio.Event = field(factory=asyncio.Event)
    port: int = 0
    _runner: web.AppRunner | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def batches(self) -> list[list[str]]:
        return [each.texts for each in self.asked]

    def then(self, *steps: Step) -> None:
        self.script.extend(steps)

    async def arrived(self, count: int) -> None:
        """Wait until ``count`` requests have arrived."""
        while len(self.asked) < count:
            self.came.clear()
            await self.came.wait()

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=64 << 20)
        app.router.add_post("/v1/embeddings", self._embed)
        self._runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.0)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self.port)
        await site.start()
        self.port = site.port
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        assert self._runner is not None
        await self._runner.cleanup()

    async def _embed(self, request: web.Request) -> web.StreamResponse:
        asked = Asked(dict(request.headers), await request.json())
        self.asked.append(asked)
        self.came.set()
        if self.key is not None and request.headers.get("Authorization") != f"Bearer {self.key}":
            shown = request.headers.get("Authorization", "")
            return failure(401, f"Incorrect API key provided: {shown.removeprefix('Bearer ')}")
        problem = self._problem(asked.body)
        if problem:
            return failure(400, problem)
        step = self.script.popleft() if self.script else embeds
        try:
            return await step(request, asked, self)
        except (asyncio.CancelledError, ConnectionError):
            self.gone.set()
            raise

    def _problem(self, body: dict[str, Any]) -> str | None:
        if not set(body) <= KNOWN:
            return f"Unrecognized request arguments supplied: {', '.join(sorted(set(body) - KNOWN))}"
        if not isinstance(body.get("model"), str) or not body["model"]:
            return "you must provide a model parameter"
        texts = body.get("input")
        if not isinstance(texts, list) or not texts or not all(isinstance(text, str) and text for text in texts):
            return "'input' must be a list of texts that are not empty"
        if body.get("encoding_format", "float") not in ("float", "base64"):
            return "bad encoding_format"
        if "dimensions" in body and type(body["dimensions"]) is not int:
            return "bad dimensions"
        return None


def failure(status: int, message: str, headers: Mapping[str, str] | None = None) -> web.Response:
    about = {"message": message, "type": "invalid_request_error", "param": None, "code": None}
    return web.json_response({"error": about}, status=status, headers=headers)


async def embeds(_: web.Request, asked: Asked, server: EmbeddingsServer) -> web.StreamResponse:
    """The right answer."""
    form = asked.body.get("encoding_format", "float") if server.knows_base64 else "float"
    dimension = asked.body.get("dimensions", server.dimension)
    return web.json_response(answer([vector(text, dimension) for text in asked.texts], form))


def fails(status: int, message: str = "no", **headers: str) -> Step:
    """An error status."""

    async def step(*_: Any) -> web.StreamResponse:
        return failure(status, message, {name.replace("_", "-"): value for name, value in headers.items()})

    return step


def raw(body: bytes, kind: str = "application/json") -> Step:
    """Exactly these bytes."""

    async def step(*_: Any) -> web.StreamResponse:
        return web.Response(body=body, content_type=kind)

    return step


def gives(change: Callable[[dict[str, Any]], Any], form: str = "float") -> Step:
    """The right answer, changed."""

    async def step(_: web.Request, asked: Asked, server: EmbeddingsServer) -> web.StreamResponse:
        found = answer([vector(text, server.dimension) for text in asked.texts], form)
        changed = change(found)
        found = changed if isinstance(changed, dict) and "object" in changed and "data" in changed else found
        return web.Response(text=json.dumps(found), content_type="application/json")

    return step


def waits(until: asyncio.Event) -> Step:
    """The right answer, when ``until`` is set."""

    async def step(request: web.Request, asked: Asked, server: EmbeddingsServer) -> web.StreamResponse:
        await until.wait()
        return await embeds(request, asked, server)

    return step


async def hangs(*_: Any) -> web.StreamResponse:
    """No answer, ever."""
    await asyncio.Event().wait()
    raise AssertionError("unreachable")


async def resets(request: web.Request, *_: Any) -> web.StreamResponse:
    """The connection ends without an answer."""
    assert request.transport is not None
    request.transport.abort()
    return web.Response()


def takes(characters: int, batch: int = 1_000) -> Step:
    """Refuses longer texts and larger batches, every time."""

    async def step(request: web.Request, asked: Asked, server: EmbeddingsServer) -> web.StreamResponse:
        server.script.appendleft(step)
        if len(asked.texts) > batch:
            return failure(422, f"batch size {len(asked.texts)} > maximum allowed batch size {batch}")
        if any(len(text) > characters for text in asked.texts):
            return failure(400, "This model's maximum context length is 512 tokens")
        return await embeds(request, asked, server)

    return step


def unit(values: Sequence[float]) -> list[float]:
    norm = math.hypot(*values)
    return [value / norm for value in values]
