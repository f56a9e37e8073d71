"""Servers that complete text, strictly: ``/v1/completions``, KoboldCpp's own doors, llama.cpp's own doors."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal

from aiohttp import web
from attrs import define, field

from tests.fake_providers.server import ProtocolServer, Received, Step, Wire
from tests.fake_providers.steps import says

Kind = Literal["generic", "koboldcpp", "llamacpp", "ollama"]
_OPENAI = frozenset(
    "prompt model stream stream_options max_tokens temperature top_p n stop seed logprobs echo best_of user suffix "
    "presence_penalty frequency_penalty logit_bias".split()
)
_OLLAMA = frozenset("model prompt stream raw options keep_alive format images think".split())
_PATHS = {
    "generic": ("/v1/completions",),
    "koboldcpp": ("/v1/completions", "/api/v1/generate", "/api/extra/generate/stream"),
    "llamacpp": ("/v1/completions", "/completion"),
    "ollama": ("/v1/completions", "/api/generate"),
}


@define(eq=False)
class TextServer(ProtocolServer):
    """A server of one kind. A field that is none of its API, or a prompt that is no text, is refused."""

    otherwise: Step = field(factory=lambda: says("The rain ", "stops."))
    kind: Kind = "generic"
    lenient: bool = False
    """Takes every field at ``/v1/completions``, as servers of local models do."""
    aborted: int = 0

    @property
    def url(self) -> str:
        """The base URL, as it stands in the configuration."""
        return f"{self.root}/v1"

    def _routes(self) -> list[web.RouteDef]:
        routes = [web.post(path, self._answer) for path in _PATHS[self.kind]]
        routes.append(web.get("/v1/models", self._list))
        if self.kind == "koboldcpp":
            routes += [
                web.post("/api/extra/tokencount", self._count),
                web.post("/api/extra/abort", self._abort),
                web.post("/api/extra/generate/check", _says({"results": [{"text": "Rain.\n```state\n"}]})),
                web.get("/api/v1/model", _says({"result": "koboldcpp/mock"})),
                web.get("/api/extra/version", _says({"result": "KoboldCpp", "version": "1.99"})),
            ]
        if self.kind == "llamacpp":
            routes += [
                web.post("/tokenize", self._tokenize),
                web.get("/props", _says({"total_slots": 1, "model_path": "mock.gguf"})),
            ]
        if self.kind == "ollama":
            about = [{"name": "mock:7b", "model": "mock:7b", "size": 5}]
            routes += [
                web.get("/api/tags", _says({"models": about})),
                web.get("/api/version", _says({"version": "0.99.1"})),
                web.post("/api/show", _says({"template": "{{ .Prompt }}", "details": {}})),
                web.post("/api/embed", _says({"embeddings": [[0.5]]})),
            ]
        return routes

    async def _count(self, request: web.Request) -> web.Response:
        text = (await request.json())["prompt"]
        return web.json_response({"value": len(text.split()), "ids": list(range(len(text.split())))})

    async def _tokenize(self, request: web.Request) -> web.Response:
        text = (await request.json())["content"]
        return web.json_response({"tokens": list(range(len(text.split())))})

    async def _abort(self, request: web.Request) -> web.Response:
        self.aborted += 1
        return web.json_response({"success": True})

    def _wire(self, request: web.Request, received: Received) -> Wire:
        return TextWire(request, received, None)

    def _problem(self, received: Received) -> str | None:
        body, path = received.body, received.path
        if not isinstance(body.get("prompt"), str) or not body["prompt"]:
            return "prompt must be a text"
        if "messages" in body:
            return "messages are no field of text completion"
        unknown = sorted(set(body) - _OPENAI)
        if path == "/v1/completions" and not self.lenient and unknown:
            return f"Unrecognized request arguments supplied: {', '.join(unknown)}"
        if path == "/v1/completions" and not self.lenient and len(body.get("stop") or ()) > 4:
            return "at most 4 stop sequences"
        if path == "/api/generate":
            unknown = sorted(set(body) - _OLLAMA)
            odd = body.get("raw") is not True or not isinstance(body.get("options"), dict) or "stream" not in body
            return "raw, options and stream are wanted" if odd else ", ".join(unknown) or None
        if path.startswith("/api/") and {"model", "stream"} & set(body):
            return "model and stream are no fields of this API"
        return None


def _says(value: Any) -> Any:
    async def answer(request: web.Request) -> web.Response:
        return web.json_response(value)

    return answer


@define(eq=False)
class TextWire(Wire):
    """One answer, as its path wants it."""

    @property
    def streaming(self) -> bool:
        """Whether it is streamed."""
        return self.received.streaming or self.received.path.endswith("/stream")

    async def text(self, piece: str) -> None:
        """A piece of text."""
        self.said.append(piece)
        if self.streaming:
            await self._text(piece)

    async def end(self, finish: str = "stop") -> web.StreamResponse:
        """The reply is over."""
        if not self.streaming:
            return web.json_response(self._whole(finish))
        await self._end(finish)
        assert self.response is not None
        return self.response

    async def write(self, data: bytes) -> None:
        """Ollama's streams are lines of JSON."""
        if self.response is None and self.received.path == "/api/generate":
            self.response = web.StreamResponse(headers={"Content-Type": "application/x-ndjson"})
            await self.response.prepare(self.request)
        await Wire.write(self, data)

    async def _data(self, value: Mapping[str, Any]) -> None:
        if self.received.path == "/api/generate":
            await self.write(json.dumps(value, ensure_ascii=False).encode() + b"\n")
            return
        event = b"event: message\n" if self.received.path.startswith("/api/") else b""
        await self.write(event + f"data: {json.dumps(value, ensure_ascii=False)}\n\n".encode())

    def _head(self) -> dict[str, Any]:
        return {"id": "cmpl-up", "object": "text_completion", "created": 1, "model": "mock"}

    async def _text(self, piece: str) -> None:
        if self.received.path == "/api/generate":
            await self._data({"model": "mock", "response": piece, "done": False})
        elif self.received.path.startswith("/api/"):
            await self._data({"token": piece, "finish_reason": None})
        elif self.received.path == "/completion":
            await self._data({"index": 0, "content": piece, "tokens": [], "stop": False})
        else:
            choice = {"index": 0, "text": piece, "logprobs": {"tokens": [piece]}, "finish_reason": None}
            await self._data({**self._head(), "choices": [choice]})

    async def _end(self, finish: str) -> None:
        if self.received.path == "/api/generate":
            await self._data(self._done("", finish))
        elif self.received.path.startswith("/api/"):
            await self._data({"token": "", "finish_reason": finish})
        elif self.received.path == "/completion":
            await self._data({"index": 0, "content": "", **self._stopped(finish)})
        else:
            choice = {"index": 0, "text": "", "logprobs": None, "finish_reason": finish}
            await self._data({**self._head(), "choices": [choice]})
            await self.write(b"data: [DONE]\n\n")

    def _done(self, text: str, finish: str) -> dict[str, Any]:
        told = {"model": "mock", "response": text, "done": True, "done_reason": finish}
        return {**told, "prompt_eval_count": 100, "eval_count": 20}

    def _stopped(self, finish: str) -> dict[str, Any]:
        kind = "limit" if finish == "length" else "eos"
        return {"stop": True, "stop_type": kind, "tokens_evaluated": 100, "tokens_predicted": 20}

    def _whole(self, finish: str) -> Mapping[str, Any]:
        text = "".join(self.said)
        if self.received.path == "/api/generate":
            return self._done(text, finish)
        if self.received.path.startswith("/api/"):
            return {"results": [{"text": text, "finish_reason": finish}]}
        if self.received.path == "/completion":
            return {"index": 0, "content": text, **self._stopped(finish)}
        count = int(self.received.body.get("n") or 1)
        choices = [{"index": at, "text": text, "logprobs": None, "finish_reason": finish} for at in range(count)]
        usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
        return {**self._head(), "choices": choices, "usage": usage}

    async def think(self, piece: str) -> None:
        """Nothing: there is no place for thoughts but the text."""

    async def call(self, name: str, arguments: str) -> None:
        """Nothing: text completion has no tools."""

    async def ping(self) -> None:
        """A comment."""
        await self.write(b": ping\n\n")

    async def error_event(self, message: str) -> None:
        """An event that is an error."""
        if self.received.path == "/api/generate":
            await self._data({"error": message})
        else:
            await self._data({"error": {"message": message, "type": "server_error", "code": 503}})

    def error(
        self, status: int, message: str, kind: str = "", headers: Mapping[str, str] | None = None
    ) -> web.Response:
        """``{"error": …}``."""
        about = {"message": message, "type": kind or "invalid_request_error", "param": None, "code": None}
        return web.json_response({"error": about}, status=status, headers=headers)
