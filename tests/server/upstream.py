"""A strict server that speaks the OpenAI chat API on 127.0.0.1, scripted by tests: what it says and how it fails."""

from __future__ import annotations

import asyncio
import json
import socket
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from aiohttp import web
from attrs import define, field, frozen

KNOWN = frozenset(
    "messages model stream stream_options temperature top_p n max_tokens max_completion_tokens stop presence_penalty "
    "frequency_penalty logit_bias user seed tools tool_choice response_format logprobs top_logprobs "
    "reasoning_effort".split()
)
USAGE = {
    "prompt_tokens": 100,
    "completion_tokens": 20,
    "total_tokens": 120,
    "prompt_tokens_details": {"cached_tokens": 64},
}


@frozen
class Received:
    """One request as it arrived."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]

    @property
    def messages(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.body["messages"]
        return found

    @property
    def text(self) -> str:
        return json.dumps(self.body["messages"], ensure_ascii=False)


Step = Callable[[web.Request, Received], Awaitable[web.StreamResponse]]


@define
class Upstream:
    """``async with Upstream() as upstream``. Each request takes the next step of ``script``, or ``otherwise``."""

    script: deque[Step] = field(factory=deque)
    otherwise: Step = field(factory=lambda: says("The rain ", "stops."))
    requests: list[Received] = field(factory=list)
    key: str | None = None
    """The bearer token that it wants."""
    lenient: bool = False
    """Takes unknown fields."""
    models: list[str] = field(factory=lambda: ["narrator-1", "narrator-2"])
    sizes: dict[str, int] = field(factory=dict)
    """The tokens of the contexts that it tells with its models."""
    gone: asyncio.Event = field(factory=asyncio.Event)
    """Set when a client went away in mid-reply."""
    port: int = 0
    _runner: web.AppRunner | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def then(self, *steps: Step) -> None:
        self.script.extend(steps)

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=64 << 20)
        app.router.add_post("/v1/chat/completions", self._complete)
        app.router.add_get("/v1/models", self._models)
        app.router.add_route("*", "/html/{rest:.*}", self._page)
        self._runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.0)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.port = site.port
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        assert self._runner is not None
        await self._runner.cleanup()

    async def _page(self, request: web.Request) -> web.StreamResponse:
        return web.Response(text="<html>Welcome</html>", content_type="text/html")

    async def _models(self, request: web.Request) -> web.StreamResponse:
        self.requests.append(Received(request.path, dict(request.headers), {}))
        if self.script:
            return await self.script.popleft()(request, self.requests[-1])
        return web.json_response({"object": "list", "data": list(map(self._model, self.models))})

    def _model(self, name: str) -> dict[str, Any]:
        size = self.sizes.get(name)
        return {"id": name, "object": "model", **({"max_model_len": size} if size else {})}

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        received = Received(request.path, dict(request.headers), await request.json())
        self.requests.append(received)
        if self.key is not None and request.headers.get("Authorization") != f"Bearer {self.key}":
            return _error(401, "Incorrect API key provided: sk-abcdefgh1234.", "invalid_request_error")
        problem = _problem(received.body, self.lenient)
        if problem:
            return _error(400, problem, "invalid_request_error")
        step = self.script.popleft() if self.script else self.otherwise
        try:
            return await step(request, received)
        except (asyncio.CancelledError, ConnectionError):
            self.gone.set()
            raise


def _problem(body: dict[str, Any], lenient: bool) -> str | None:
    if not isinstance(body.get("model"), str) or not body["model"]:
        return "you must provide a model parameter"
    if not lenient and not set(body) <= KNOWN:
        return f"Unrecognized request arguments supplied: {', '.join(sorted(set(body) - KNOWN))}"
    if not body.get("messages"):
        return "messages must not be empty"
    for at, message in enumerate(body["messages"]):
        if message.get("role") not in ("system", "developer", "user", "assistant", "tool"):
            return f"messages[{at}]: bad role {message.get('role')!r}"
        content = message.get("content")
        parts = isinstance(content, list) and content and all(part.get("type") for part in content)
        if not isinstance(content, str) and not parts and not message.get("tool_calls"):
            return f"messages[{at}]: bad content {content!r}"
        if not set(message) <= {"role", "content", "name", "tool_calls", "tool_call_id"}:
            return f"messages[{at}]: unknown fields"
    if "stream_options" in body and not body.get("stream"):
        return "stream_options needs stream"
    return None


def _error(status: int, message: str, kind: str, headers: Mapping[str, str] | None = None) -> web.Response:
    return web.json_response(
        {"error": {"message": message, "type": kind, "param": None, "code": None}}, status=status, headers=headers
    )


def chunk(delta: dict[str, Any], *, index: int = 0, finish: str | None = None) -> dict[str, Any]:
    return {
        "id": "chatcmpl-up",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "narrator-1",
        "choices": [{"index": index, "delta": delta, "finish_reason": finish}],
    }


async def _begin(request: web.Request, kind: str = "text/event-stream") -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": kind})
    await response.prepare(request)
    return response


async def _send(response: web.StreamResponse, data: Any) -> None:
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
    await response.write(f"data: {text}\n\n".encode())


# -- steps -----------------------------------------------------------------------------------------------------


def says(
    *pieces: str,
    finish: str = "stop",
    usage: dict[str, Any] | None = USAGE,
    extra: dict[str, Any] | None = None,
    others: Sequence[str] = (),
    gate: asyncio.Event | None = None,
) -> Step:
    """A good reply in pieces, ``others`` being further choices. With a gate the rest waits after the first piece."""

    async def step(request: web.Request, received: Received) -> web.StreamResponse:
        texts = ["".join(pieces), *others][: received.body.get("n") or 1]
        if not received.body.get("stream"):
            if gate is not None:
                await gate.wait()
            choices = [
                {"index": at, "message": {"role": "assistant", "content": text, **(extra or {})},
                 "finish_reason": finish}
                for at, text in enumerate(texts)
            ]  # fmt: skip
            answer = {"id": "chatcmpl-up", "object": "chat.completion", "created": 1, "model": "narrator-1"}
            return web.json_response({**answer, "choices": choices, **({"usage": usage} if usage else {})})
        response = await _begin(request)
        await _send(response, chunk({"role": "assistant", "content": ""}))
        if extra:
            await _send(response, chunk(extra))
        for number, piece in enumerate(pieces):
            await _send(response, chunk({"content": piece}))
            if gate is not None and number == 0:
                await gate.wait()
        for at, text in enumerate(texts[1:], 1):
            await _send(response, chunk({"content": text}, index=at))
        for at in range(len(texts)):
            await _send(response, chunk({}, index=at, finish=finish))
        if usage and (received.body.get("stream_options") or {}).get("include_usage"):
            await _send(response, {**chunk({}), "choices": [], "usage": usage})
        await _send(response, "[DONE]")
        return response

    return step


def fails(status: int, message: str = "no", kind: str = "server_error", **headers: str) -> Step:
    """An error in OpenAI's shape."""

    async def step(request: web.Request, received: Received) -> web.StreamResponse:
        return _error(status, message, kind, {name.replace("_", "-"): value for name, value in headers.items()})

    return step


def raw(body: bytes, kind: str = "text/event-stream", status: int = 200) -> Step:
    """Exactly these bytes."""

    async def step(request: web.Request, received: Received) -> web.StreamResponse:
        return web.Response(body=body, status=status, content_type=kind)

    return step


def hangs(*pieces: str) -> Step:
    """Nothing more after some pieces, for ever. Without pieces not even headers."""

    async def step(request: web.Request, received: Received) -> web.StreamResponse:
        if pieces:
            response = await _begin(request)
            for piece in pieces:
                await _send(response, chunk({"content": piece}))
        await asyncio.Event().wait()
        raise AssertionError("the event is never set")

    return step


def resets(*pieces: str) -> Step:
    """The connection is reset after some pieces."""

    async def step(request: web.Request, received: Received) -> web.StreamResponse:
        response = await _begin(request)
        for piece in pieces:
            await _send(response, chunk({"content": piece}))
        assert request.transport is not None
        request.transport.abort()
        return response

    return step


def truncates(*pieces: str) -> Step:
    """The stream ends politely after some pieces, without finish reason and ``[DONE]``."""

    async def step(request: web.Request, received: Received) -> web.StreamResponse:
        response = await _begin(request)
        for piece in pieces:
            await _send(response, chunk({"content": piece}))
        return response

    return step


def errors(*pieces: str, message: str = "overloaded") -> Step:
    """An error event after some pieces."""

    async def step(request: web.Request, received: Received) -> web.StreamResponse:
        response = await _begin(request)
        for piece in pieces:
            await _send(response, chunk({"content": piece}))
        await _send(response, {"error": {"message": message, "type": "overloaded_error", "code": 503}})
        return response

    return step


def closed_port() -> int:
    """A port of 127.0.0.1 on which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
