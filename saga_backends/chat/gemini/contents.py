"""Converts a prompt plan for Gemini's API, into a system instruction and contents of the user and the model.

System messages within the history become user messages in the same place. Moving them to the front would change the
beginning of the prompt on every turn.
"""

from __future__ import annotations

import json
import mimetypes
import re
from collections.abc import Iterable, Mapping
from typing import Any

from attrs import define, field

from saga_backends.chat.gemini.reply import is_made
from saga_backends.chat.prefill import OPENING, nudge
from saga_core.messages import Block, PromptPlan
from saga_core.ports import AdjustedPart
from saga_core.upstream import ParameterRules

_SYSTEM = ("system", "developer")
_DATA_URL = re.compile(r"data:([\w.+-]+/[\w.+-]+);base64,([A-Za-z0-9+/=_\s-]+)\Z")


@define
class _Content:
    role: str
    parts: list[dict[str, Any]]


@define
class Contents:
    """A prompt in the format of the API."""

    system: list[dict[str, Any]] = field(factory=list)
    contents: list[dict[str, Any]] = field(factory=list)
    beginning: str = ""
    """The beginning of the reply, if the model is asked to continue from it instead of being given a prefill."""
    adjusted: list[AdjustedPart] = field(factory=list)


def contents_of(plan: PromptPlan, rules: ParameterRules) -> Contents:
    """Convert the messages of the plan. Adjacent messages of the same role become one content."""
    found = Contents()
    names: dict[str, str] = {}
    said: list[_Content] = []
    for block, message in zip(plan.blocks, plan.to_openai(), strict=True):
        parts = _parts(block, message, names, found)
        if not parts:
            continue
        if block.role in _SYSTEM and not said:
            found.system += parts
            continue
        role = "model" if block.role == "assistant" else "user"
        if said and said[-1].role == role:
            said[-1].parts += parts
        else:
            said.append(_Content(role, parts))
    if not said:
        said.append(_Content("user", [{"text": OPENING}]))
    _pair_tools(said)
    _finish(said, found, rules.prefill)
    found.contents = [{"role": content.role, "parts": content.parts} for content in said]
    return found


def _finish(said: list[_Content], found: Contents, prefill: bool) -> None:
    last = said[-1]
    end = last.parts[-1].get("text")
    if last.role != "model" or not isinstance(end, str) or prefill:
        return
    found.beginning = end
    said.append(_Content("user", [{"text": nudge(end)}]))
    found.adjusted.append(
        AdjustedPart("prefill", "the model cannot be given a reply's beginning; it is asked to go on from there")
    )


def _parts(block: Block, message: Mapping[str, Any], names: dict[str, str], found: Contents) -> list[dict[str, Any]]:
    """Return the parts of one message. ``names`` maps the ids of calls to the names of the tools."""
    content = message.get("content")
    if block.role == "tool":
        return [_result(block, content, names, found)]
    given: Iterable[Any] = [{"type": "text", "text": content}] if isinstance(content, str) else content or ()
    parts = [made for part in given if (made := _part(part, found)) is not None]
    name = block.extra.get("name")
    if parts and isinstance(name, str) and name and "text" in parts[0]:
        begun = parts[0]["text"].lstrip().startswith(f"{name}:")
        parts[0]["text"] = parts[0]["text"] if begun else f"{name}: {parts[0]['text']}"
    if block.role == "assistant":
        if parts and (signature := _signature(block.extra)):
            parts[-1]["thoughtSignature"] = signature
        parts += _called(block.extra.get("tool_calls"), names)
    return parts


def _part(part: Any, found: Contents) -> dict[str, Any] | None:
    """Convert a content part of a chat to a part of this API. A part of type ``google`` already is one."""
    kind = part.get("type") if isinstance(part, Mapping) else None
    if kind == "text":
        text = part.get("text")
        return {"text": text} if isinstance(text, str) and text.strip() else None
    if kind == "google" and isinstance(part.get("part"), Mapping):
        return dict(part["part"])
    if kind == "image_url":
        image = part.get("image_url")
        made = _picture(image.get("url") if isinstance(image, Mapping) else image)
        if made is not None:
            return made
    if kind == "input_audio" and isinstance(part.get("input_audio"), Mapping):
        audio = part["input_audio"]
        return {"inlineData": {"mimeType": f"audio/{audio.get('format', 'wav')}", "data": str(audio.get("data", ""))}}
    if kind == "file" and isinstance(part.get("file"), Mapping):
        made = _inline(part["file"].get("file_data"))
        if made is not None:
            return made
    found.adjusted.append(AdjustedPart("content", f"a part of kind {kind!r} is left out: the model does not take it"))
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
    content = extra.get("extra_content")
    google = content.get("google") if isinstance(content, Mapping) else None
    signature = google.get("thought_signature") if isinstance(google, Mapping) else None
    return signature if isinstance(signature, str) else ""


def _called(calls: Any, names: dict[str, str]) -> list[dict[str, Any]]:
    found = []
    for call in calls if isinstance(calls, list) else ():
        function = call.get("function") if isinstance(call, Mapping) else None
        if not isinstance(function, Mapping):
            continue
        number, name = str(call.get("id") or ""), str(function.get("name") or "")
        names[number] = name
        told = {"functionCall": {**_numbered(number), "name": name, "args": _object(function.get("arguments"))}}
        signature = _signature(call)
        found.append({**told, "thoughtSignature": signature} if signature else told)
    return found


def _object(arguments: Any) -> dict[str, Any]:
    """Return the arguments of a call as a dict. Anything but a JSON object is wrapped in one."""
    try:
        given = json.loads(arguments) if isinstance(arguments, str) and arguments else {}
    except (ValueError, RecursionError):
        given = {"arguments": arguments}
    return given if isinstance(given, dict) else {"arguments": given}


def _result(block: Block, content: Any, names: Mapping[str, str], found: Contents) -> dict[str, Any]:
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


def _pair_tools(said: list[_Content]) -> None:
    """Turn a result without its call, or a call without its result, into text. A history may be cut between them.

    Calls and results are paired by name, id and order. The API pairs those without an id by name and order too.
    """
    for at, content in enumerate(said):
        following = said[at + 1].parts if at + 1 < len(said) else []
        calls = [part for part in content.parts if "functionCall" in part]
        results = [part for part in following if "functionResponse" in part]
        for call in calls:
            answer = next((each for each in results if _same(call, each)), None)
            if answer is None:
                place = next(place for place, part in enumerate(content.parts) if part is call)
                about = call["functionCall"]
                said_so = f"({about['name']}: {json.dumps(about['args'], ensure_ascii=False)})"
                content.parts[place] = {"text": said_so}
            else:
                results = [each for each in results if each is not answer]
        for lone in results:
            place = next(place for place, part in enumerate(following) if part is lone)
            following[place] = {"text": json.dumps(lone["functionResponse"]["response"], ensure_ascii=False)}
        if calls:
            following.sort(key=lambda part: "functionResponse" not in part)
    for part_at, part in enumerate(said[0].parts):
        if "functionResponse" in part:
            said[0].parts[part_at] = {"text": json.dumps(part["functionResponse"]["response"], ensure_ascii=False)}


def _same(call: Mapping[str, Any], result: Mapping[str, Any]) -> bool:
    one, other = call["functionCall"], result["functionResponse"]
    return bool(one["name"] == other["name"] and one.get("id") == other.get("id"))
