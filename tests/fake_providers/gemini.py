"""A strict server of Gemini's API. It refuses what Google refuses, in words like Google's.

The rules are written independently of those in SAGA, so that the two can disagree.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from aiohttp import web
from attrs import define, field, frozen

from tests.fake_providers.server import ProtocolServer, Received, Step, Wire
from tests.fake_providers.steps import says

USAGE = {
    "promptTokenCount": 100,
    "candidatesTokenCount": 15,
    "thoughtsTokenCount": 5,
    "totalTokenCount": 120,
    "cachedContentTokenCount": 64,
}
_FIELDS = frozenset("contents systemInstruction generationConfig safetySettings tools toolConfig cachedContent".split())
_CONFIG = frozenset(
    "temperature topP topK maxOutputTokens stopSequences seed presencePenalty frequencyPenalty candidateCount "
    "responseMimeType responseSchema responseJsonSchema responseModalities responseLogprobs logprobs thinkingConfig "
    "speechConfig mediaResolution".split()
)
_DATA = frozenset("text inlineData fileData functionCall functionResponse executableCode codeExecutionResult".split())
_BESIDE = frozenset("thought thoughtSignature videoMetadata".split())
_TOOLS = frozenset("functionDeclarations googleSearch codeExecution urlContext".split())
_STOP = {"stop": "STOP", "length": "MAX_TOKENS", "filtered": "SAFETY", "tool": "STOP"}
_MOST_STOPS = 5
_STATUS = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED"}


@frozen
class GeminiReceived(Received):
    """A request whose path names its model, and says whether to stream."""

    @property
    def streaming(self) -> bool:
        """Whether it asked for a stream."""
        return ":stream" in self.path

    @property
    def text(self) -> str:
        """The system instruction and the contents, as JSON."""
        return json.dumps([self.body.get("systemInstruction"), self.body.get("contents")], ensure_ascii=False)


@define(eq=False)
class GeminiServer(ProtocolServer):
    """A strict ``:generateContent`` and ``:streamGenerateContent``. A stream needs ``alt=sse``."""

    otherwise: Step = field(factory=lambda: says("The rain ", "stops."))

    @property
    def url(self) -> str:
        """The host's root, as the SDK expects it."""
        return self.root

    def _routes(self) -> list[web.RouteDef]:
        return [
            web.post("/v1beta/models/{model}:{verb}", self._answer),
            web.post("/v1beta/openai/{path:.*}", self._openai),
            web.get("/v1beta/models", self._list),
        ]

    async def _received(self, request: web.Request) -> Received:
        if request.path.endswith(":streamGenerateContent") and request.query.get("alt") != "sse":
            raise web.HTTPNotImplemented(text="without alt=sse the answer would be one JSON array; send alt=sse")
        return GeminiReceived(request.path, dict(request.headers), await request.json())

    def _wire(self, request: web.Request, received: Received) -> Wire:
        usage = self.account(received) if self.account is not None else USAGE
        return GeminiWire(request, received, usage)

    def _knows(self, request: web.Request) -> bool:
        return request.headers.get("X-Goog-Api-Key") == self.key and "key" not in request.query

    def _problem(self, received: Received) -> str | None:
        return next(_problems(received.body, received.path), None)

    async def _list(self, request: web.Request) -> web.StreamResponse:
        self.requests.append(Received(request.path, dict(request.headers), {}))
        methods = ["generateContent", "countTokens"]
        models = [{"name": f"models/{name}", "supportedGenerationMethods": methods} for name in self.models]
        models.append({"name": "models/embedding-1", "supportedGenerationMethods": ["embedContent"]})
        return web.json_response({"models": models})

    async def _openai(self, request: web.Request) -> web.StreamResponse:
        """Google's OpenAI API, for requests that SAGA passes on. Answers with the path and the key."""
        self.requests.append(Received(request.path, dict(request.headers), {}))
        return web.json_response({"path": request.path, "key": request.headers.get("Authorization")})


def _problems(body: Mapping[str, Any], path: str) -> Iterator[str]:
    for name in sorted(set(body) - _FIELDS):
        yield f'Invalid JSON payload received. Unknown name "{name}": Cannot find field.'
    config = body.get("generationConfig", {})
    for name in sorted(set(config) - _CONFIG):
        yield f"Invalid JSON payload received. Unknown name \"{name}\" at 'generation_config': Cannot find field."
    if len(config.get("stopSequences", ())) > _MOST_STOPS:
        yield "The number of stop sequences must be at most 5."
    if config.get("candidateCount", 1) > 1:
        yield "Multiple candidates is not enabled for this model"
    thinking = config.get("thinkingConfig", {})
    if "thinkingBudget" in thinking and "thinkingLevel" in thinking:
        yield "You can only set only one of thinking budget and thinking level."
    if "/gemini-3" in path and ("presencePenalty" in config or "frequencyPenalty" in config):
        yield "Penalty is not enabled for models/gemini-3"
    if "cachedContent" in body and {"systemInstruction", "tools", "toolConfig"} & set(body):
        yield "CachedContent can not be used with GenerateContent request setting system_instruction, tools"
    for tool in body.get("tools", ()):
        if set(tool) - _TOOLS:
            yield f"Invalid JSON payload received. Unknown name \"{sorted(set(tool) - _TOOLS)[0]}\" at 'tools[0]'"
    if "systemInstruction" in body:
        yield from _parts(body["systemInstruction"].get("parts"), "system_instruction")
    yield from _contents(body.get("contents"))


def _contents(contents: Any) -> Iterator[str]:
    if not isinstance(contents, list) or not contents:
        yield "GenerateContentRequest.contents: contents is not specified"
        return
    before: Mapping[str, Any] = {}
    for at, content in enumerate(contents):
        if content.get("role") not in ("user", "model"):
            yield "Please use a valid role: user, model."
        if content.get("role") == before.get("role"):
            yield "Please ensure that multiturn requests alternate between user and model."
        yield from _parts(content.get("parts"), f"contents[{at}]")
        if _count(content, "functionResponse") != _count(before, "functionCall"):
            yield (
                "Please ensure that the number of function response parts is equal to the number of function call "
                "parts of the function call turn."
            )
        before = content
    if _count(before, "functionCall"):
        yield "Please ensure that function call turn is followed by a function response turn."


def _count(content: Mapping[str, Any], name: str) -> int:
    parts = content.get("parts")
    return sum(name in part for part in parts) if isinstance(parts, list) else 0


def _parts(parts: Any, where: str) -> Iterator[str]:
    if not isinstance(parts, list) or not parts:
        yield f"GenerateContentRequest.{where}.parts: contents.parts must not be empty."
        return
    for part in parts:
        if len(set(part) & _DATA) != 1:
            yield f"GenerateContentRequest.{where}.parts: required oneof field 'data' must have one initialized field"
        for name in sorted(set(part) - _DATA - _BESIDE):
            yield f"Invalid JSON payload received. Unknown name \"{name}\" at '{where}.parts[0]': Cannot find field."
        if "text" in part and not part["text"]:
            yield f"GenerateContentRequest.{where}.parts: text must not be empty"
        if "functionResponse" in part and not isinstance(part["functionResponse"].get("response"), dict):
            yield f"Invalid value at '{where}.parts[0].function_response.response' (type.googleapis.com/Struct)"


@define(eq=False)
class GeminiWire(Wire):
    """Writes the chunks of a reply."""

    _shown: list[dict[str, Any]] = field(factory=list, init=False)

    async def part(self, part: dict[str, Any]) -> None:
        """Send one part, of any kind."""
        self._shown.append(part)
        if self.received.streaming:
            await self._chunk([part])

    async def _chunk(self, parts: list[dict[str, Any]], **fields: Any) -> None:
        candidate = {"content": {"parts": parts, "role": "model"}, "index": 0, **fields}
        await self._data({"candidates": [candidate], "usageMetadata": self.usage, "modelVersion": "g"})

    async def _data(self, value: Mapping[str, Any]) -> None:
        await self.write(f"data: {json.dumps(value, ensure_ascii=False)}\r\n\r\n".encode())

    async def _text(self, piece: str) -> None:
        await self._chunk([{"text": piece}])

    async def think(self, piece: str) -> None:
        """Send a part that is a thought."""
        await self.part({"text": piece, "thought": True})

    async def call(self, name: str, arguments: str) -> None:
        """Send a call, in one piece and signed."""
        await self.part({"functionCall": {"name": name, "args": json.loads(arguments)}, "thoughtSignature": "c2ln"})

    async def ping(self) -> None:
        """Send a comment."""
        await self.write(b": still there\r\n\r\n")

    async def error_event(self, message: str) -> None:
        """Send a chunk that is an error."""
        await self._data({"error": {"code": 503, "message": message, "status": "UNAVAILABLE"}})

    async def _end(self, finish: str) -> None:
        await self._chunk([{"text": ""}], finishReason=_STOP.get(finish, finish), safetyRatings=[])

    def _whole(self, finish: str) -> Mapping[str, Any]:
        said = "".join(self.said)
        parts = [part for part in self._shown if part.get("thought")]
        parts += [{"text": said}] if said else []
        parts += [part for part in self._shown if not part.get("thought")]
        content = {"parts": parts, "role": "model"}
        candidate = {"content": content, "finishReason": _STOP.get(finish, finish), "index": 0}
        return {"candidates": [candidate], "usageMetadata": self.usage, "modelVersion": "g"}

    def error(
        self, status: int, message: str, kind: str = "", headers: Mapping[str, str] | None = None
    ) -> web.Response:
        """``{"error": …}``. A wrong key gets status 400."""
        about: dict[str, Any] = {"code": status, "message": message, "status": kind or _STATUS.get(status, "INTERNAL")}
        if message.startswith("invalid key"):
            status = about["code"] = 400
            about |= {"message": "API key not valid.", "status": _STATUS[400]}
            about["details"] = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}]
        return web.json_response({"error": about}, status=status, headers=headers)
