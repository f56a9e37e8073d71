"""Google's Gemini API. Its requests are translated with the same texts in the same order."""

from __future__ import annotations

import json
import re
import secrets
from collections import deque
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from aiohttp import web
from attrs import define, evolve, field, frozen

from saga_core.errors import NotSupported
from saga_core.ports import Usage
from saga_core.tool_calls import GatheredCall, GatheredCalls
from saga_server.http import (
    COMMENT,
    GEMINI,
    GEMINI_SETTINGS,
    MAX_CHOICES,
    PLACE,
    Choice,
    ClientRequest,
    Door,
    Failure,
    Incoming,
    ModelFormat,
    PathPattern,
    ReplyFormat,
    RequestError,
    answer,
    call_of,
    calls_in,
    check_kinds,
    counts,
    error_event,
    error_json,
    function_tool,
    image,
    json_form,
    list_models,
    one_model,
    reasoning_in,
    received,
    short,
    to_json,
    tool_call,
    typed,
    wrong_kind,
)

_SETTINGS = {
    "temperature": "temperature",
    "topP": "top_p",
    "topK": "top_k",
    "maxOutputTokens": "max_tokens",
    "stopSequences": "stop",
    "seed": "seed",
    "presencePenalty": "presence_penalty",
    "frequencyPenalty": "frequency_penalty",
}
"""Google's names of settings, and the names in OpenAI's chat API."""
_READ = frozenset({"candidateCount", "responseMimeType"})
_OWN = ("safetySettings", "cachedContent", "labels")
_MODES = {"AUTO": "auto", "NONE": "none", "ANY": "required", "VALIDATED": "auto"}
_PICTURE = re.compile(r"data:([\w.+/-]+);base64,(.*)\Z", re.DOTALL)
_REASONS = {"length": "MAX_TOKENS", "content_filter": "SAFETY"}
_ERRORS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    409: "ABORTED",
    413: "INVALID_ARGUMENT",
    429: "RESOURCE_EXHAUSTED",
    501: "UNIMPLEMENTED",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
_BACKEND = "gemini"
"""The backend that speaks Gemini's own API, so that requests to it need no conversion."""


# -- requests --------------------------------------------------------------------------------------------------


@frozen(kw_only=True)
class GeminiRequest(ClientRequest):
    """A request that may hold what only Gemini's own API has."""

    own: str = ""
    """The path of the first such part or tool; empty if there is none."""


def read_gemini(incoming: Incoming) -> GeminiRequest:
    """Read a request with contents. Raises ``RequestError`` naming the field, the value and what is allowed."""
    fields = _camel(incoming.json(), "body")
    check_kinds(fields, GEMINI)
    contents = fields.get("contents")
    if isinstance(contents, Mapping):
        contents = [contents]
    if not isinstance(contents, list) or not contents:
        raise RequestError("contents: missing or empty; send a list with at least one content", param="contents")
    incoming.check_count(len(contents), "contents")
    reading = _Contents()
    system = fields.get("systemInstruction")
    if system:
        reading.system({"parts": [{"text": system}]} if isinstance(system, str) else system)
    for at, content in enumerate(contents):
        reading.content(content, f"contents[{at}]")
    settings = _camel(fields.get("generationConfig") or {}, "generationConfig")
    check_kinds(settings, GEMINI_SETTINGS, "generationConfig")
    params = {ours: settings[name] for name, ours in _SETTINGS.items() if settings.get(name) is not None}
    params |= _form(settings)
    tools, own_tool = _tools(fields)
    if tools:
        params["tools"] = tools
        params |= _choice(_camel(fields.get("toolConfig") or {}, "toolConfig"))
    choices = typed(settings, "candidateCount", int) or 1
    if not 1 <= choices <= MAX_CHOICES:
        raise RequestError(f"candidateCount: {choices} is not allowed; give 1 to {MAX_CHOICES}", param="candidateCount")
    if choices > 1:
        params["n"] = choices
    own = _own(fields, settings)
    if own:
        params["google"] = own
    stream = incoming.named.get("verb") == "streamGenerateContent"
    return GeminiRequest(
        messages=reading.messages,
        reply=partial(GeminiFormat, listed=stream and incoming.query.get("alt") != "sse"),
        model=incoming.named["model"],
        stream=stream,
        params=params,
        choices=choices,
        own=reading.own or own_tool,
    )


def _own(fields: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields for Gemini's own API, under Google's names.

    They include the tools, because Google's form of a tool can say more than OpenAI's.
    """
    left = {name: value for name, value in settings.items() if name not in _SETTINGS and name not in _READ}
    found = {name: fields[name] for name in (*_OWN, "tools", "toolConfig") if fields.get(name)}
    return {**found, "generationConfig": left} if left else found


def _camel(value: Any, where: str) -> dict[str, Any]:
    """Return an object with its field names in camel case. Google accepts camel case and snake case."""
    if not isinstance(value, Mapping):
        raise wrong_kind(value, where, "send an object")
    return {_camel_name(name): each for name, each in value.items()}


def _camel_name(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(other[:1].upper() + other[1:] for other in others)


@define
class _Contents:
    """Converts contents in order. A tool result without an id belongs to the first open call of its name."""

    messages: list[dict[str, Any]] = field(factory=list)
    _open: dict[str, deque[str]] = field(factory=dict)
    """The ids of the calls without a result so far, by the tool's name."""
    own: str = ""
    """The path of the first part that only Gemini's own API has; empty if there is none."""
    _count: int = 0

    def system(self, content: Any) -> None:
        parts = _parts(content, "systemInstruction")
        text = "\n\n".join(part["text"] for part in parts if isinstance(part.get("text"), str))
        if text:
            self.messages.append({"role": "system", "content": text})

    def content(self, content: Any, where: str) -> None:
        parts = _parts(content, where)
        role = content.get("role") or "user"
        if role not in ("user", "model", "function", "tool", "system"):
            raise RequestError(f"{where}.role: {short(role)} is not known; use user or model", param=f"{where}.role")
        said: list[dict[str, Any]] = []
        calls: list[dict[str, Any]] = []
        signed: dict[str, Any] = {}
        for at, part in enumerate(parts):
            if "functionResponse" in part:
                self._result(_camel(part["functionResponse"], f"{where}.parts[{at}].functionResponse"))
            elif "functionCall" in part:
                calls.append(self._call(part, f"{where}.parts[{at}].functionCall"))
            elif part.get("thought") is not True:  # earlier reasoning is not part of the story
                signed = _signed(part) or signed
                said += self._said(part, f"{where}.parts[{at}]")
        if said or calls:
            text = said[0]["text"] if len(said) == 1 and said[0]["type"] == "text" else said or None
            role = {"model": "assistant", "system": "system"}.get(role, "user")
            called = {"tool_calls": calls} if calls else {}
            self.messages.append({"role": role, "content": text, **called, **(signed if said else {})})

    def _said(self, part: Mapping[str, Any], where: str) -> list[dict[str, Any]]:
        """Return a part as parts of an OpenAI message: text, an image, or a ``google`` part; none for an empty part."""
        if "text" in part:
            if not isinstance(part["text"], str):
                raise wrong_kind(part["text"], f"{where}.text", "send a text")
            return [{"type": "text", "text": part["text"]}]
        for name, address in (("inlineData", "data"), ("fileData", "fileUri")):
            if name in part:
                data = _camel(part[name], f"{where}.{name}")
                kind = str(data.get("mimeType", ""))
                if not kind.startswith("image/") or not isinstance(data.get(address), str):
                    break
                url = f"data:{kind};base64,{data['data']}" if name == "inlineData" else data["fileUri"]
                return [image(url)]
        else:
            if set(part) <= {"thoughtSignature", "thought"}:
                return []
        self.own = self.own or where
        return [{"type": "google", "part": dict(part)}]

    def _call(self, part: Mapping[str, Any], where: str) -> dict[str, Any]:
        call = _camel(part["functionCall"], where)
        name = str(call.get("name", ""))
        self._count += 1
        number = str(call.get("id") or f"call_{self._count}")
        self._open.setdefault(name, deque()).append(number)
        arguments = json.dumps(call.get("args") or {}, ensure_ascii=False)
        return {**tool_call(number, name, arguments), **_signed(part)}

    def _result(self, result: Mapping[str, Any]) -> None:
        name, given = str(result.get("name", "")), result.get("id")
        waiting = self._open.get(name) or deque()
        if given in waiting:
            waiting.remove(str(given))
        number = str(given or (waiting.popleft() if waiting else name))
        told = json.dumps(result.get("response"), ensure_ascii=False)
        self.messages.append({"role": "tool", "tool_call_id": number, "name": name, "content": told})


def _parts(content: Any, where: str) -> list[dict[str, Any]]:
    if not isinstance(content, Mapping):
        raise wrong_kind(content, where, "a content is an object with parts")
    parts = content.get("parts")
    if isinstance(parts, Mapping):
        parts = [parts]
    if not isinstance(parts, list):
        raise wrong_kind(parts, f"{where}.parts", "send a list of parts")
    return [_camel(part, f"{where}.parts[{at}]") for at, part in enumerate(parts)]


def _signed(part: Mapping[str, Any]) -> dict[str, Any]:
    """Return a part's signature in the place where Google's OpenAI-compatible API has it."""
    signature = part.get("thoughtSignature")
    return {"extra_content": {"google": {"thought_signature": signature}}} if signature else {}


def _form(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``response_format`` if the settings demand JSON."""
    schema = settings.get("responseJsonSchema") or _lower(settings.get("responseSchema"))
    if schema:
        return json_form(schema)
    return json_form(None) if settings.get("responseMimeType") == "application/json" else {}


def _tools(fields: Mapping[str, Any]) -> tuple[list[dict[str, Any]], str]:
    """Return the tools in OpenAI's format, and the path of the first tool that Google runs itself."""
    found: list[dict[str, Any]] = []
    own = ""
    for at, given in enumerate(fields.get("tools") or []):
        tool = _camel(given, f"tools[{at}]")
        declared = tool.get("functionDeclarations")
        if set(tool) - {"functionDeclarations"}:
            own = own or f"tools[{at}]"
        for each in declared if isinstance(declared, list) else ():
            function = _camel(each, f"tools[{at}].functionDeclarations")
            schema = function.get("parametersJsonSchema") or _lower(function.get("parameters"))
            about = {"description": function["description"]} if function.get("description") else {}
            given_schema = {"parameters": schema} if schema else {}
            found.append(function_tool(function.get("name"), **about, **given_schema))
    return found, own


def _lower(schema: Any) -> Any:
    """Return a schema with its types in lower case; Google writes them in capitals."""
    if isinstance(schema, Mapping):
        return {
            name: value.lower() if name == "type" and isinstance(value, str) else _lower(value)
            for name, value in schema.items()
        }
    return [_lower(each) for each in schema] if isinstance(schema, list) else schema


def _choice(config: Mapping[str, Any]) -> dict[str, Any]:
    calling = _camel(config.get("functionCallingConfig") or {}, "toolConfig.functionCallingConfig")
    mode = _MODES.get(str(calling.get("mode", "")))
    allowed = calling.get("allowedFunctionNames")
    if mode == "required" and isinstance(allowed, list) and len(allowed) == 1:
        return {"tool_choice": function_tool(allowed[0])}
    return {"tool_choice": mode} if mode else {}


# -- replies ---------------------------------------------------------------------------------------------------


def error(failure: Failure) -> dict[str, Any]:
    """An error reply."""
    status = _ERRORS.get(failure.status, "INTERNAL")
    return {"error": {"code": failure.status, "message": failure.message, "status": status}}


@define(eq=False)
class GeminiFormat(ReplyFormat):
    """Replies with ``candidates``. A tool call is sent as a whole, as Google does, once it is complete."""

    listed: bool = False
    """Whether a stream is one JSON list, which Google sends without ``alt=sse``."""
    _id: str = field(factory=lambda: secrets.token_urlsafe(16), init=False)
    _sent: int = field(default=0, init=False)
    _calls: dict[int, GatheredCalls] = field(factory=dict, init=False)
    """The tool calls of each choice, as far as they have arrived."""
    _ends: dict[int, str] = field(factory=dict, init=False)
    _about: dict[int, Mapping[str, Any]] = field(factory=dict, init=False)
    """Google's own fields of each candidate."""

    @property
    def content_type(self) -> str:
        """The content type of a stream."""
        return "application/json" if self.listed else "text/event-stream"

    def _event(self, value: Mapping[str, Any]) -> bytes:
        self._sent += 1
        if not self.listed:
            return f"data: {to_json(value)}\r\n\r\n".encode()
        return (("[" if self._sent == 1 else ",\r\n") + to_json(value)).encode()

    def _told(self, index: int, parts: Sequence[Any], reason: str = "") -> bytes:
        candidate: dict[str, Any] = {"content": {"parts": parts, "role": "model"}, "index": index}
        usage = {"usageMetadata": _counts(self.counts)} if self.counts is not None and reason else {}
        beside: dict[str, Any] = {}
        if reason:
            about, beside = _told_of(self._about.get(index), reason)
            candidate |= about
        return self._event({"candidates": [candidate], **usage, **beside, **self._named()})

    def _named(self) -> dict[str, Any]:
        return {"modelVersion": self.model, "responseId": self._id}

    def text(self, index: int, text: str) -> bytes:
        """A piece of text."""
        return self._told(index, [{"text": text}])

    def extra(self, index: int, fields: Mapping[str, Any]) -> bytes:
        """An event with reasoning text, images and Google's own parts. Tool calls are kept for the end."""
        self._calls.setdefault(index, GatheredCalls()).gather(fields)
        if isinstance(fields.get("google"), Mapping):
            self._about[index] = fields["google"]
        parts = _thought(fields) + _own_parts(fields)
        return self._told(index, parts) if parts else b""

    def finish(self, index: int, reason: str) -> bytes:
        """Nothing yet; ``end`` gives the reason."""
        self._ends[index] = reason
        return b""

    def end(self) -> bytes:
        """An event for each choice with its tool calls and the reason of its end."""
        told = b""
        for index, reason in sorted(self._ends.items()):
            gathered = self._calls.get(index, GatheredCalls())
            told += self._told(index, [*map(_part, gathered.calls)] or [{"text": ""}], _reason(reason))
        if not self.listed:
            return told
        return told + (b"]" if self._sent else b"[]")

    def keep_alive(self) -> bytes:
        """White space in a list, because JSON has no comments; otherwise a comment."""
        return b"\r\n" if self.listed else COMMENT

    def notice(self, text: str) -> bytes:
        """A comment; nothing in a list, because JSON has no comments."""
        return b"" if self.listed else super().notice(text)

    def failure(self, failure: Failure) -> bytes:
        """An error that ends the stream."""
        told = error(evolve(failure, status=500))
        if not self.listed:
            return error_event(told)
        self._sent += 1
        return (b"[" if self._sent == 1 else b",\r\n") + error_json(told) + b"]"

    def whole(self, choices: Sequence[Choice], usage: Usage | None, dollars: float | None) -> bytes:
        """The whole reply as JSON."""
        candidates, beside = list[dict[str, Any]](), dict[str, Any]()
        for choice in choices:
            parts = _thought(choice.extra)
            calls = calls_in(choice.extra)
            if choice.text or not calls:
                parts.append({"text": choice.text})
            parts += _own_parts(choice.extra) + [_part(call) for call in calls]
            about, told = _told_of(choice.extra.get("google"), _reason(choice.finish))
            beside |= told
            candidates.append({"content": {"parts": parts, "role": "model"}, "index": choice.index, **about})
        counts = {} if usage is None else {"usageMetadata": _counts(usage)}
        return to_json({"candidates": candidates, **counts, **beside, **self._named()}).encode()


def _thought(fields: Mapping[str, Any]) -> list[dict[str, Any]]:
    thought = reasoning_in(fields)
    return [{"text": thought, "thought": True}] if thought else []


def _own_parts(fields: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return images, parts that only this API has, and the signature of a text."""
    found: list[dict[str, Any]] = []
    images, parts = fields.get("images"), fields.get("google_parts")
    for each in images if isinstance(images, list) else ():
        url = each.get("image_url") if isinstance(each, Mapping) else None
        match = _PICTURE.match(str(url.get("url"))) if isinstance(url, Mapping) else None
        if match is not None:
            found.append({"inlineData": {"mimeType": match[1], "data": match[2]}})
    found += [dict(part) for part in (parts if isinstance(parts, list) else ()) if isinstance(part, Mapping)]
    signature = _signature(fields.get("extra_content"))
    return [*found, {"text": "", "thoughtSignature": signature}] if signature else found


def _told_of(about: Any, reason: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the fields of a candidate, and the fields beside ``candidates``.

    Google's own finish reason is more precise, so it replaces ``reason`` unless the limit of tokens was reached.
    """
    about = dict(about) if isinstance(about, Mapping) else {}
    beside = {"promptFeedback": about.pop("promptFeedback")} if "promptFeedback" in about else {}
    finer = about.pop("finishReason", None)
    return {"finishReason": finer if finer and reason != "MAX_TOKENS" else reason, **about}, beside


def _part(call: GatheredCall) -> dict[str, Any]:
    number = {"id": call.id} if call.id else {}
    told = {"functionCall": {**number, "name": call.name, "args": call.parsed}}
    signature = _signature(call.extra)
    return {**told, "thoughtSignature": signature} if signature else told


def _signature(content: Any) -> Any:
    google = content.get("google") if isinstance(content, Mapping) else None
    return google.get("thought_signature") if isinstance(google, Mapping) else None


def _reason(reason: str) -> str:
    return _REASONS.get(reason, "STOP")


def _counts(usage: Usage) -> dict[str, Any]:
    cached = {"cachedContentTokenCount": usage.cache_read} if usage.cache_read else {}
    return {
        "promptTokenCount": usage.input,
        "candidatesTokenCount": usage.output,
        "totalTokenCount": usage.input + usage.output,
        **cached,
    }


# -- the door --------------------------------------------------------------------------------------------------


async def generate(request: web.Request) -> web.StreamResponse:
    """``generateContent`` and ``streamGenerateContent``."""
    asked = await received(request, read_gemini)
    call = call_of(request, asked)
    if asked.own and call.routes[0].provider.backend != _BACKEND:
        raise RequestError(
            f"{asked.own} is not taken here; send text, images, functions, their calls and results (more is passed on "
            "to a provider that speaks Gemini's own API)",
            param=asked.own,
        )
    return await answer(request, call)


async def refuse(request: web.Request) -> web.StreamResponse:
    """Refuse Google's other verbs. Raises ``NotSupported``."""
    verb = request[PLACE].named["verb"]
    raise NotSupported(f"{verb} is not taken here; generateContent, streamGenerateContent and countTokens are")


def _model(name: str) -> dict[str, Any]:
    bare = name.removeprefix("models/")  # Google lists its models with this prefix
    return {"name": f"models/{bare}", "displayName": bare, "supportedGenerationMethods": [*_VERBS]}


_MODEL = r"/(?:models/|(?=tunedModels/))(?P<model>.{1,300})"
_ANY_VERSION = r"(?:/(?:v1beta|v1alpha|v1))?"
_VERBS = {
    "generateContent": generate,
    "streamGenerateContent": generate,
    "countTokens": counts(read_gemini, "totalTokens"),
}
DOOR = Door(
    paths={"/v1beta/models": {"GET": list_models}},
    patterns=(
        *(
            PathPattern(
                regex=re.compile(f"{_ANY_VERSION}{_MODEL}:(?P<verb>{verb})"),
                methods={"POST": handler},
                template=f"/v1beta/models/{{model}}:{verb}",
            )
            for verb, handler in _VERBS.items()
        ),
        PathPattern(  # any other word than these of Google's is the end of a model's name
            regex=re.compile(rf"{_ANY_VERSION}{_MODEL}:(?P<verb>[^\W\d_]*Content[^\W\d_]*)"),
            methods={"POST": refuse},
            template="/v1/models/{model}",
        ),
        PathPattern(
            regex=re.compile(f"/(?:v1beta|v1alpha){_MODEL}"),
            methods={"GET": one_model},
            template="/v1/models/{model}",
        ),
    ),
    error=error,
    models=ModelFormat(
        one=_model, all=lambda names: {"models": [*map(_model, names)]}, headers=("X-Goog-Api-Key", "X-Goog-Api-Client")
    ),
    key_in_query=True,
    chats_at=("/v1beta/models/MODEL:generateContent",),
)
