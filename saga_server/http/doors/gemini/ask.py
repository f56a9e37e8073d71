"""Read a request in Gemini's API as a chat in OpenAI's format, with the same texts in the same order."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Mapping
from typing import Any

from attrs import define, field, frozen

from saga_server.http.entry.budget import check_text
from saga_server.http.errors import RequestError
from saga_server.http.openai_schema import MAX_CHOICES, kind_of, read_json, short, typed

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


@frozen(kw_only=True)
class GeminiAsk:
    """A checked request. The texts are not checked here; the engine does that."""

    messages: list[Any] = field(repr=False)
    model: str
    stream: bool
    choices: int
    params: Mapping[str, Any] = field(repr=False)
    """The settings under their names in OpenAI's chat API."""
    own: str = ""
    """The path of the first part or tool that only Gemini's own API has; empty if there is none."""


def read_gemini(
    body: bytes, max_messages: int, max_text_mb: int = 16, *, model: str = "", stream: bool = False
) -> GeminiAsk:
    """Read the request in ``body``. Raises ``RequestError`` naming the field, the value and what is allowed."""
    ask = _camel(read_json(body), "body")
    contents = ask.get("contents")
    if isinstance(contents, Mapping):
        contents = [contents]
    if not isinstance(contents, list) or not contents:
        raise RequestError("contents: missing or empty; send a list with at least one content", param="contents")
    if len(contents) > max_messages:
        raise RequestError(
            f"contents: {len(contents)} given; at most {max_messages} are taken (server.max_messages)",
            param="contents",
            status=413,
        )
    reading = _Contents()
    system = ask.get("systemInstruction")
    if system:
        told = {"parts": [{"text": system}]} if isinstance(system, str) else system
        reading.system(told)
    for at, content in enumerate(contents):
        reading.content(content, f"contents[{at}]")
    check_text(reading.messages, max_text_mb)
    settings = _camel(typed(ask, "generationConfig", dict, "an object") or {}, "generationConfig")
    params = {ours: settings[name] for name, ours in _SETTINGS.items() if settings.get(name) is not None}
    params |= _form(settings)
    tools, own_tool = _tools(ask)
    if tools:
        params["tools"] = tools
        params |= _choice(_camel(ask.get("toolConfig") or {}, "toolConfig"))
    choices = typed(settings, "candidateCount", int, "a whole number") or 1
    if not 1 <= choices <= MAX_CHOICES:
        raise RequestError(f"candidateCount: {choices} is not allowed; give 1 to {MAX_CHOICES}", param="candidateCount")
    if choices > 1:
        params["n"] = choices
    own = _own(ask, settings)
    if own:
        params["google"] = own
    return GeminiAsk(
        messages=reading.messages,
        model=model,
        stream=stream,
        choices=choices,
        params=params,
        own=reading.own or own_tool,
    )


def _own(ask: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields for Gemini's own API, under Google's names.

    They include the tools, because Google's form of a tool can say more than OpenAI's.
    """
    left = {name: value for name, value in settings.items() if name not in _SETTINGS and name not in _READ}
    found = {name: ask[name] for name in (*_OWN, "tools", "toolConfig") if ask.get(name)}
    return {**found, "generationConfig": left} if left else found


def _camel(value: Any, where: str) -> dict[str, Any]:
    """Return an object with its field names in camel case. Google accepts camel case and snake case."""
    if not isinstance(value, Mapping):
        raise RequestError(f"{where}: a {kind_of(value)} given; send an object", param=where)
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
                raise RequestError(f"{where}.text: a {kind_of(part['text'])} given; send a text", param=f"{where}.text")
            return [{"type": "text", "text": part["text"]}]
        for name, address in (("inlineData", "data"), ("fileData", "fileUri")):
            if name in part:
                data = _camel(part[name], f"{where}.{name}")
                kind = str(data.get("mimeType", ""))
                if not kind.startswith("image/") or not isinstance(data.get(address), str):
                    break
                url = f"data:{kind};base64,{data['data']}" if name == "inlineData" else data["fileUri"]
                return [{"type": "image_url", "image_url": {"url": url}}]
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
        return {"id": number, "type": "function", "function": {"name": name, "arguments": arguments}, **_signed(part)}

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
        raise RequestError(f"{where}: a {kind_of(content)} given; a content is an object with parts", param=where)
    parts = content.get("parts")
    if isinstance(parts, Mapping):
        parts = [parts]
    if not isinstance(parts, list):
        raise RequestError(f"{where}.parts: a {kind_of(parts)} given; send a list of parts", param=f"{where}.parts")
    return [_camel(part, f"{where}.parts[{at}]") for at, part in enumerate(parts)]


def _signed(part: Mapping[str, Any]) -> dict[str, Any]:
    """Return a part's signature in the place where Google's OpenAI-compatible API has it."""
    signature = part.get("thoughtSignature")
    return {"extra_content": {"google": {"thought_signature": signature}}} if signature else {}


def _form(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``response_format`` if the settings demand JSON."""
    schema = settings.get("responseJsonSchema") or _lower(settings.get("responseSchema"))
    if schema:
        return {"response_format": {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}}
    json_wanted = settings.get("responseMimeType") == "application/json"
    return {"response_format": {"type": "json_object"}} if json_wanted else {}


def _tools(ask: Mapping[str, Any]) -> tuple[list[dict[str, Any]], str]:
    """Return the tools in OpenAI's format, and the path of the first tool that Google runs itself."""
    found: list[dict[str, Any]] = []
    own = ""
    for at, given in enumerate(typed(ask, "tools", list, "a list of tools") or []):
        tool = _camel(given, f"tools[{at}]")
        declared = tool.get("functionDeclarations")
        if set(tool) - {"functionDeclarations"}:
            own = own or f"tools[{at}]"
        for each in declared if isinstance(declared, list) else ():
            function = _camel(each, f"tools[{at}].functionDeclarations")
            schema = function.get("parametersJsonSchema") or _lower(function.get("parameters"))
            about = {"description": function["description"]} if function.get("description") else {}
            given_schema = {"parameters": schema} if schema else {}
            found.append({"type": "function", "function": {"name": function.get("name"), **about, **given_schema}})
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
        return {"tool_choice": {"type": "function", "function": {"name": allowed[0]}}}
    return {"tool_choice": mode} if mode else {}
