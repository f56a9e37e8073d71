"""Google's Gemini API: how requests are built, and how replies are read. Without any I/O, but for opening."""

from __future__ import annotations

import json
import mimetypes
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar
from urllib.parse import quote

from attrs import define, field, frozen

from saga_backends.chat.arranged import (
    OPENING,
    SYSTEM,
    Arranged,
    arguments_of,
    as_text,
    calls_of,
    effort_of,
    functions_of,
    nudge,
    picture_url,
    schema_of,
    stops_of,
    with_speaker,
)
from saga_backends.chat.client import ChatClient, connect, read_options
from saga_backends.chat.dialect import Dialect, Outgoing, Pieces, token_count
from saga_backends.chat.parameter import GOOGLE, LIMITS, fitting
from saga_backends.http_client import bearer
from saga_backends.json_text import inside, rows
from saga_core.errors import UpstreamError
from saga_core.messages import Block, PromptPlan
from saga_core.ports import (
    AdjustedPart,
    ChatPart,
    ChatRequest,
    ExtraPart,
    FinishPart,
    Passed,
    TextPart,
    Usage,
    UsagePart,
)
from saga_core.registry import Backend, OpenOptions
from saga_core.upstream import ParameterRules

ADDRESS = "https://generativelanguage.googleapis.com"
_VERSION = re.compile(r"/v\d+(?:alpha|beta)?\d*(?:/|\Z)")
"""The API version in a path. If there is none, ``/v1beta`` is added."""


async def _open(options: OpenOptions) -> GeminiClient:
    given = read_options(options, "google")
    address = (given["base_url"] or ADDRESS).rstrip("/")
    if not _VERSION.search(address):
        address += "/v1beta"
    return await connect(GeminiClient, GeminiDialect("google", given["facts"]), given, address)


BACKEND = Backend(
    kind="chat",
    name="gemini",
    open=_open,
    summary="Gemini through Google's own API",
)


class GeminiClient(ChatClient):
    """A provider with Gemini's API, which has other endpoints in the format of OpenAI's."""

    async def pass_on(self, path: str, body: bytes, content_type: str, api_key: str | None) -> Passed:
        """Pass ``body`` on to ``path`` of Google's OpenAI API and return the reply. Raises ``UpstreamError``."""
        address = f"{str(self.http.base_url).rstrip('/')}/openai{path}"  # it takes the key as a bearer token
        return await self.passed(address, body, content_type, bearer(api_key or self.api_key), api_key)


@frozen
class GeminiDialect(Dialect):
    """Gemini's own API, at Google or at compatible servers. Most models give one reply per request."""

    models_path: ClassVar[str] = "/models?pageSize=1000"

    def headers(self, key: str | None) -> dict[str, str]:
        """Return the header that Google expects, which keeps ``key`` out of the URL."""
        return {"x-goog-api-key": key} if key else {}

    def outgoing(self, request: ChatRequest, rules: ParameterRules, *, streaming: bool) -> Outgoing:
        """Return the request as the API takes it."""
        return gemini_request(request, rules, streaming=streaming)

    def pieces(self, request: ChatRequest, index: int) -> GeminiPieces:
        """Return the reader of a candidate."""
        return GeminiPieces(index=index)

    def models(self, answer: Any) -> Any:
        """Return the models that generate text, in the format of OpenAI's list."""
        listed = inside(answer, "models")
        if not isinstance(listed, list):
            raise UpstreamError("Google lists no models under 'models'")
        return {"data": [_as_openai(model) for model in listed if _writes(model)]}


def _writes(model: Any) -> bool:
    methods = inside(model, "supportedGenerationMethods")
    return not isinstance(methods, list) or "generateContent" in methods


def _as_openai(model: Any) -> Any:
    name = inside(model, "name")
    return {"id": name.removeprefix("models/")} if isinstance(name, str) else model


def _path(model: str, streaming: bool) -> str:
    """Return the path of a model, which is under ``models`` unless the name contains its own path."""
    placed = model.startswith(("models/", "tunedModels/", "publishers/"))
    name = quote(model, safe="/") if placed and ".." not in model else f"models/{quote(model, safe='')}"
    return f"/{name}" + (":streamGenerateContent?alt=sse" if streaming else ":generateContent")


# -- the request --------------------------------------------------------------------------------------------------

_SETTINGS = {
    "temperature": "temperature",
    "top_p": "topP",
    "top_k": "topK",
    "max_tokens": "maxOutputTokens",
    "max_completion_tokens": "maxOutputTokens",
    "seed": "seed",
    "presence_penalty": "presencePenalty",
    "frequency_penalty": "frequencyPenalty",
}
"""Maps the names of chat settings to those of this API."""
_TAKES = frozenset({*_SETTINGS, "stop", "response_format"})
_MADE = ("reasoning_effort", "reasoning", "tools", "tool_choice", "extra_body", "modalities", GOOGLE)
_IGNORED = ("n", "user", "parallel_tool_calls", "stream_options")
"""Parameters that do not change a reply. For ``n``, several requests are sent."""
_MOST_STOPS = 5
_BUDGETS = {"none": 0, "minimal": 1_024, "low": 1_024, "medium": 8_192, "high": 24_576, "xhigh": 24_576, "max": 24_576}
"""Tokens for thinking by effort, the same as in Google's OpenAI API."""
_BUDGETED = re.compile(r"gemini-(?:1|2)\b|gemini-2\.5")
"""Models whose thinking is set as a number of tokens. Later models have levels."""
_LEAST = 128
"""The smallest thinking budget of models that always think, in tokens."""
_MODES = {"auto": "AUTO", "none": "NONE", "required": "ANY"}
_SHAPES = ("responseSchema", "responseJsonSchema")
_BESIDE = {"thinking_config": "thinkingConfig", "cached_content": "cachedContent", "safety_settings": "safetySettings"}
"""Maps the fields that Google's OpenAI API takes in ``extra_body`` to those of this API."""


def gemini_request(request: ChatRequest, rules: ParameterRules, *, streaming: bool) -> Outgoing:
    """Build the body of a request, adjusted to what the model accepts."""
    params = dict(request.params)
    made = {name: params.pop(name, None) for name in _MADE}
    for name in _IGNORED:
        params.pop(name, None)
    kept, adjusted = fitting(params, rules, _TAKES)
    own = _own(made)
    arranged = contents_of(request.plan, rules)
    body: dict[str, Any] = {"contents": arranged.messages}
    if arranged.system:
        body["systemInstruction"] = {"parts": arranged.system}
    config = {**own.pop("generationConfig", {}), **_settings(kept, adjusted)}
    if not any(config.get(name) for name in _SHAPES):
        config |= _form(kept.get("response_format"))
    if "thinkingConfig" not in config and (thinking := _thinking(made, request.model)):
        config["thinkingConfig"] = thinking
    modalities = rows(made["modalities"])
    if modalities and all(isinstance(each, str) for each in modalities):
        config.setdefault("responseModalities", [each.upper() for each in modalities])
    for name in rules.refuses:
        if config.pop(name, None) is not None:
            adjusted.append(AdjustedPart(name, f"{name} is left out: the model does not take it"))
    if config:
        body["generationConfig"] = config
    if own.pop("cachedContent", None):
        why = "cachedContent is left out: the prompt has a system instruction, which cached contents rule out"
        adjusted.append(AdjustedPart("cachedContent", why))
    body.update({**_tools(made), **own})
    settings = {**kept, **{name: config[name] for name in config if name not in _SETTINGS.values()}}
    return Outgoing(
        _path(request.model, streaming),
        body,
        settings=settings,
        beginning=arranged.beginning,
        adjusted=[*adjusted, *arranged.adjusted],
    )


def _own(made: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that the client gave in this API's format, directly or in OpenAI's ``extra_body``."""
    own = dict(made[GOOGLE]) if isinstance(made[GOOGLE], Mapping) else {}
    for name, ours in _BESIDE.items():
        beside = inside(made["extra_body"], "google", name)
        if beside is not None and ours == "thinkingConfig":
            own["generationConfig"] = {ours: beside, **own.get("generationConfig", {})}
        elif beside is not None:
            own.setdefault(ours, beside)
    return own


def _settings(kept: Mapping[str, Any], adjusted: list[AdjustedPart]) -> dict[str, Any]:
    found = {ours: kept[name] for name, ours in _SETTINGS.items() if kept.get(name) is not None}
    limit = next((kept[name] for name in LIMITS if type(kept.get(name)) is int and kept[name] > 0), None)
    found.pop("maxOutputTokens", None)
    if limit is not None:
        found["maxOutputTokens"] = limit
    if found.get("topK") in (0, -1):
        del found["topK"]  # means no limit
    if found.get("seed") == -1:
        del found["seed"]  # means any seed
    stops = stops_of(kept.get("stop"))
    if len(stops) > _MOST_STOPS:
        why = f"stop: the first {_MOST_STOPS} of {len(stops)} are sent; the API takes no more"
        adjusted.append(AdjustedPart("stop", why))
    if stops:
        found["stopSequences"] = stops[:_MOST_STOPS]
    return found


def _form(form: Any) -> dict[str, Any]:
    """Return the settings for the ``response_format``."""
    if inside(form, "type") == "json_object":
        return {"responseMimeType": "application/json"}
    schema = schema_of(form)
    return {} if schema is None else {"responseMimeType": "application/json", "responseJsonSchema": schema}


def _thinking(made: Mapping[str, Any], model: str) -> dict[str, Any]:
    """Return the thinking config, if the client says how much to think."""
    effort = effort_of(made)
    if effort == "off":
        effort = "none"
    if not isinstance(effort, str) or effort not in _BUDGETS:
        return {}
    always = "pro" in model
    if _BUDGETED.search(model):
        budget = _BUDGETS[effort]
        return {"thinkingBudget": max(budget, _LEAST) if always else budget}
    if effort in ("none", "minimal"):
        return {"thinkingLevel": "low" if always else "minimal"}
    return {"thinkingLevel": effort if effort in ("low", "medium") else "high"}


def _tools(made: Mapping[str, Any]) -> dict[str, Any]:
    declared = [
        {**about, **({"parametersJsonSchema": schema} if schema else {})}
        for about, schema in functions_of(made["tools"])
    ]
    if not declared:
        return {}
    found: dict[str, Any] = {"tools": [{"functionDeclarations": declared}]}
    choice = made["tool_choice"]
    if isinstance(choice, str) and choice in _MODES:
        found["toolConfig"] = {"functionCallingConfig": {"mode": _MODES[choice]}}
    elif isinstance(inside(choice, "function"), Mapping):
        allowed = [str(inside(choice, "function", "name") or "")]
        found["toolConfig"] = {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": allowed}}
    return found


# -- the contents -------------------------------------------------------------------------------------------------

_DATA_URL = re.compile(r"data:([\w.+-]+/[\w.+-]+);base64,([A-Za-z0-9+/=_\s-]+)\Z")


def contents_of(plan: PromptPlan, rules: ParameterRules) -> Arranged:
    """Convert the messages of the plan. Adjacent messages of the same role become one content.

    System messages within the history become user messages in the same place. Moving them to the front would change the
    beginning of the prompt on every turn.
    """
    found = Arranged("parts")
    names: dict[str, str] = {}
    for block, message in zip(plan.blocks, plan.to_openai(), strict=True):
        parts = _parts(block, message, names, found)
        if block.role in SYSTEM and not found.messages:
            found.system += parts
        else:
            found.say("model" if block.role == "assistant" else "user", parts)
    if not found.messages:
        found.say("user", [{"text": OPENING}])
    _pair_tools(found.messages)
    last = found.messages[-1]
    end = last["parts"][-1].get("text")
    if last["role"] == "model" and isinstance(end, str) and not rules.prefill:
        found.go_on(end, {"text": nudge(end)})
    return found


def _parts(block: Block, message: Mapping[str, Any], names: dict[str, str], found: Arranged) -> list[dict[str, Any]]:
    """Return the parts of one message. ``names`` maps the ids of calls to the names of the tools."""
    content = message.get("content")
    if block.role == "tool":
        return [_result(block, content, names, found)]
    given: Iterable[Any] = [{"type": "text", "text": content}] if isinstance(content, str) else content or ()
    parts = [made for part in given if (made := _part(part, found)) is not None]
    if parts and "text" in parts[0]:
        parts[0]["text"] = with_speaker(parts[0]["text"], block.extra.get("name"))
    if block.role == "assistant":
        if parts and (signature := _signature(block.extra)):
            parts[-1]["thoughtSignature"] = signature
        parts += _called(block.extra.get("tool_calls"), names)
    return parts


def _part(part: Any, found: Arranged) -> dict[str, Any] | None:
    """Convert a content part of a chat to a part of this API. A part of type ``google`` already is one."""
    kind = inside(part, "type")
    if kind == "text":
        text = part.get("text")
        return {"text": text} if isinstance(text, str) and text.strip() else None
    if kind == "google" and isinstance(part.get("part"), Mapping):
        return dict(part["part"])
    if kind == "image_url":
        made = _picture(picture_url(part))
        if made is not None:
            return made
    if kind == "input_audio" and isinstance(part.get("input_audio"), Mapping):
        audio = part["input_audio"]
        return {"inlineData": {"mimeType": f"audio/{audio.get('format', 'wav')}", "data": str(audio.get("data", ""))}}
    if kind == "file" and isinstance(part.get("file"), Mapping):
        made = _inline(part["file"].get("file_data"))
        if made is not None:
            return made
    found.leave_out(kind)
    return None


def _picture(url: Any) -> dict[str, Any] | None:
    if isinstance(url, str) and url.startswith(("http://", "https://", "gs://")):
        kind = mimetypes.guess_type(url.partition("?")[0])[0]
        return {"fileData": {**({"mimeType": kind} if kind else {}), "fileUri": url}}
    made = _inline(url)
    return made if made is not None and made["inlineData"]["mimeType"].startswith("image/") else None


def _inline(url: Any) -> dict[str, Any] | None:
    match = _DATA_URL.match(url) if isinstance(url, str) else None
    if match is None:
        return None
    kind = "image/jpeg" if match[1] == "image/jpg" else match[1]
    return {"inlineData": {"mimeType": kind, "data": "".join(match[2].split())}}


def _signature(extra: Mapping[str, Any]) -> str:
    """The signature by which Google recognises its own thoughts, in the field of its OpenAI API."""
    signature = inside(extra, "extra_content", "google", "thought_signature")
    return signature if isinstance(signature, str) else ""


def _called(calls: Any, names: dict[str, str]) -> list[dict[str, Any]]:
    found = []
    for call, function in calls_of(calls):
        number, name = str(call.get("id") or ""), str(function.get("name") or "")
        names[number] = name
        told = {"functionCall": {**_numbered(number), "name": name, "args": arguments_of(function)}}
        signature = _signature(call)
        found.append({**told, "thoughtSignature": signature} if signature else told)
    return found


def _result(block: Block, content: Any, names: Mapping[str, str], found: Arranged) -> dict[str, Any]:
    number = str(block.extra.get("tool_call_id") or "")
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content or ()
    texts = [str(part.get("text", "")) for part in parts if part.get("type") == "text"]
    if len(texts) < len(parts):
        why = "a picture that a tool returned is left out: this API takes only text from tools"
        found.adjusted.append(AdjustedPart("content", why))
    text = "\n".join(texts)
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        given = text
    response = given if isinstance(given, dict) else {"result": given}
    name = names.get(number) or str(block.extra.get("name") or number or "tool")
    return {"functionResponse": {**_numbered(number), "name": name, "response": response}}


def _numbered(number: str) -> dict[str, str]:
    return {"id": number} if number and not is_made(number) else {}


def _pair_tools(said: list[dict[str, Any]]) -> None:
    """Turn a result without its call, or a call without its result, into text. A history may be cut between them.

    Calls and results are paired by name, id and order. The API pairs those without an id by name and order too.
    """
    calls: list[dict[str, Any]] = []
    for at, content in enumerate(said):
        parts, answers = content["parts"], bool(calls)
        for place, part in enumerate(parts):
            if "functionResponse" not in part:
                continue
            call = next((each for each in calls if _same(each, part)), None)
            if call is None:
                parts[place] = {"text": json.dumps(part["functionResponse"]["response"], ensure_ascii=False)}
            else:
                calls = [each for each in calls if each is not call]
        _tell(said[at - 1]["parts"], calls)
        if answers:
            parts.sort(key=lambda part: "functionResponse" not in part)
        calls = [part for part in parts if "functionCall" in part]
    _tell(said[-1]["parts"], calls)


def _tell(parts: list[dict[str, Any]], calls: list[dict[str, Any]]) -> None:
    """Turn the ``calls`` among ``parts``, which have no result, into text."""
    for place, part in enumerate(parts):
        if any(part is call for call in calls):
            parts[place] = {"text": as_text(part["functionCall"]["name"], part["functionCall"]["args"])}


def _same(call: Mapping[str, Any], result: Mapping[str, Any]) -> bool:
    one, other = call["functionCall"], result["functionResponse"]
    return bool(one["name"] == other["name"] and one.get("id") == other.get("id"))


# -- the reply ----------------------------------------------------------------------------------------------------

_ABOUT = ("safetyRatings", "citationMetadata", "groundingMetadata", "urlContextMetadata", "finishMessage")
"""Fields about a candidate that are passed on. Log probabilities are not, because they reveal the state block."""
_PLAIN = ("STOP", "MAX_TOKENS")
"""Finish reasons that need no explanation. For others, the name of the reason is passed on."""


_ID = "call_"


def made_id() -> str:
    """Return an id for a tool call that came without one."""
    return f"{_ID}{secrets.randbelow(10**12):012d}"


def is_made(number: str) -> bool:
    """Return whether the id of a tool call was created by SAGA, so that Google does not know it."""
    return number.startswith(_ID) and number.removeprefix(_ID).isdecimal()


@define
class GeminiPieces(Pieces):
    """Turns the chunks of one candidate into parts of choice ``index``.

    Thoughts are passed on as ``reasoning_content``, pictures as ``images``, and other parts as ``google_parts``. Other
    fields of the candidate are passed on once, at the end, as ``google``.
    """

    _calls: int = field(default=0, init=False)
    _about: dict[str, Any] = field(factory=dict, init=False)

    @property
    def shape(self) -> tuple[str, ...]:
        """See ``Pieces``."""
        return ("candidates", "promptFeedback", "usageMetadata")

    def read(self, value: Mapping[str, Any], *, whole: bool) -> Iterator[ChatPart]:
        """Yield the parts of a chunk, or of a whole reply."""
        if isinstance(value.get("usageMetadata"), Mapping):
            first, self.usage = self.usage is None, _usage(value["usageMetadata"])
            if first:
                yield UsagePart(self.usage)
        for candidate in rows(value.get("candidates"))[:1]:
            if isinstance(candidate, Mapping):
                yield from self._candidate(candidate)
        feedback = value.get("promptFeedback")
        if isinstance(feedback, Mapping):
            self._about["promptFeedback"] = feedback
            if why := feedback.get("blockReason"):
                # The prompt itself was blocked, and no candidate follows.
                told = feedback.get("blockReasonMessage") or f"the prompt is blocked: {why}"
                yield ExtraPart({"refusal": str(told)}, self.index)
                yield FinishPart("content_filter", self.index)

    def end(self) -> Iterator[ChatPart]:
        """Yield what is known about the candidate, and the usage."""
        if self._about:
            yield ExtraPart({"google": self._about}, self.index)
        yield from super().end()

    def _candidate(self, candidate: Mapping[str, Any]) -> Iterator[ChatPart]:
        for part in rows(inside(candidate, "content", "parts")):
            if isinstance(part, Mapping):
                yield from self._part(part)
        self._about |= {name: _unquoted(candidate[name]) for name in _ABOUT if candidate.get(name)}
        reason = candidate.get("finishReason")
        if isinstance(reason, str) and reason:
            if reason not in _PLAIN:
                self._about["finishReason"] = reason
            yield FinishPart("tool_calls" if reason == "STOP" and self._calls else reason, self.index)

    def _part(self, part: Mapping[str, Any]) -> Iterator[ChatPart]:
        text, signature = part.get("text"), part.get("thoughtSignature")
        signed = {"extra_content": {"google": {"thought_signature": signature}}} if isinstance(signature, str) else {}
        if isinstance(part.get("functionCall"), Mapping):
            yield self._call(part["functionCall"], signed)
        elif isinstance(text, str):
            if part.get("thought") is True:
                if text:
                    yield ExtraPart({"reasoning_content": text}, self.index)
            elif text:
                yield TextPart(text, self.index)
            if signed:
                yield ExtraPart(signed, self.index)
        elif picture := _data_url(part.get("inlineData")):
            yield ExtraPart({"images": [{"type": "image_url", "image_url": {"url": picture}}]}, self.index)
        elif set(part) - {"thought", "thoughtSignature"}:
            yield ExtraPart({"google_parts": [part]}, self.index)

    def _call(self, call: Mapping[str, Any], signed: Mapping[str, Any]) -> ExtraPart:
        number, name = call.get("id"), call.get("name")
        told = {
            "index": self._calls,
            "id": number if isinstance(number, str) and number else made_id(),
            "type": "function",
            "function": {
                "name": name if isinstance(name, str) else "",
                "arguments": json.dumps(call.get("args") or {}, ensure_ascii=False),
            },
            **signed,
        }
        self._calls += 1
        return ExtraPart({"tool_calls": [told]}, self.index)


def _unquoted(about: Any) -> Any:
    """Return grounding metadata without the quoted text, because the quotes may contain the state block."""
    supports = inside(about, "groundingSupports")
    if not isinstance(supports, list):
        return about
    kept = []
    for support in supports:
        segment = inside(support, "segment")
        if isinstance(segment, Mapping):
            support = {**support, "segment": {name: segment[name] for name in segment if name != "text"}}
        kept.append(support)
    return {**about, "groundingSupports": kept}


def _data_url(data: Any) -> str:
    """Return the data URL of a picture, or an empty text for other data."""
    kind, content = inside(data, "mimeType"), inside(data, "data")
    if not isinstance(kind, str) or not kind.startswith("image/") or not isinstance(content, str):
        return ""
    return f"data:{kind};base64,{content}"


def _usage(bill: Mapping[str, Any]) -> Usage:
    """Return the tokens so far. Each count is cumulative. Thoughts are billed as output."""
    return Usage(
        input=token_count(bill.get("promptTokenCount")) + token_count(bill.get("toolUsePromptTokenCount")),
        output=token_count(bill.get("candidatesTokenCount")) + token_count(bill.get("thoughtsTokenCount")),
        cache_read=token_count(bill.get("cachedContentTokenCount")),
    )
