"""OpenAI's Responses API. SAGA stores no responses, so ``input`` must hold the whole chat."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from attrs import define, field

from saga_core.ports import Usage
from saga_core.tool_calls import GatheredCall
from saga_server.http import (
    RESPONSES,
    Choice,
    ClientRequest,
    Door,
    Failure,
    Incoming,
    ReplyFormat,
    RequestError,
    StreamedCalls,
    check_kinds,
    event,
    function_tool,
    image,
    json_form,
    plays,
    reasoning_in,
    short,
    to_json,
    tool_call,
    wrong_kind,
)

_SAME = frozenset(
    "temperature top_p user parallel_tool_calls service_tier prompt_cache_key prompt_cache_retention "
    "safety_identifier metadata top_logprobs".split()
)
_STORED = ("previous_response_id", "conversation", "prompt")
"""Fields that refer to data stored at OpenAI; they are refused."""
_ROLES = ("user", "assistant", "system", "developer")
_INCOMPLETE = {"length": "max_output_tokens", "content_filter": "content_filter"}
"""Finish reasons of incomplete replies, and what this API calls them."""
_REPEATED = ("instructions", "metadata", "temperature", "top_p", "max_output_tokens", "user", "reasoning", "text")
"""Fields of the request that the reply repeats as they are."""
_ALSO = ("parallel_tool_calls", "tool_choice", "tools")
_TOOL = ("name", "description", "parameters", "strict")


# -- requests --------------------------------------------------------------------------------------------------


def read_responses(incoming: Incoming) -> ClientRequest:
    """Read ``POST /v1/responses``. Raises ``RequestError`` naming the field, the value and what is allowed."""
    fields = incoming.fields()
    check_kinds(fields, RESPONSES)
    for name in _STORED:
        if fields.get(name):
            raise RequestError(f"{name}: SAGA keeps no responses; send the whole chat in input", param=name)
    if fields.get("background"):
        raise RequestError("background: SAGA answers at once; leave it out", param="background")
    items = fields.get("input")
    if isinstance(items, str):
        items = [{"role": "user", "content": items}]
    if not isinstance(items, list) or not items:
        raise RequestError("input: missing or empty; send a text, or a list of items", param="input")
    incoming.check_count(len(items), "input", "items given")
    instructions = fields.get("instructions")
    messages = [{"role": "system", "content": instructions}] if instructions else []
    messages += _messages(items)
    if not messages:
        raise RequestError("input: no message stands in it", param="input")
    return ClientRequest(
        messages=messages,
        reply=partial(ResponsesFormat, request={name: fields.get(name) for name in (*_REPEATED, *_ALSO)}),
        model=fields.get("model") or "",
        stream=fields.get("stream") or False,
        params=_params(fields),
        user=fields.get("user"),
    )


def _messages(items: list[Any]) -> list[dict[str, Any]]:
    """Return the items as messages.

    Consecutive function calls form one message. Earlier reasoning is dropped; it is not part of the story.
    """
    found: list[dict[str, Any]] = []
    for at, item in enumerate(items):
        where = f"input[{at}]"
        if not isinstance(item, Mapping):
            raise wrong_kind(item, where, "an item is an object")
        kind = item.get("type") or "message"
        if kind == "function_call":
            call = tool_call(item.get("call_id"), item.get("name"), str(item.get("arguments") or "{}"))
            if found and found[-1].get("tool_calls") and found[-1]["content"] is None:
                found[-1]["tool_calls"].append(call)
            else:
                found.append({"role": "assistant", "content": None, "tool_calls": [call]})
        elif kind == "function_call_output":
            output = _content(item.get("output"), f"{where}.output")
            if not isinstance(output, str):
                output = "\n".join(part["text"] for part in output if part["type"] == "text")
            found.append({"role": "tool", "tool_call_id": str(item.get("call_id", "")), "content": output})
        elif kind == "message":
            role = item.get("role")
            if role not in _ROLES:
                raise RequestError(f"{where}.role: use one of {', '.join(_ROLES)}", param=f"{where}.role")
            found.append({"role": role, "content": _content(item.get("content"), f"{where}.content")})
        elif kind != "reasoning":
            raise RequestError(
                f"{where}.type: {short(kind)} is not taken here; send messages, and the calls and results of functions",
                param=f"{where}.type",
            )
    return found


def _content(content: Any, where: str) -> Any:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise wrong_kind(content, where, "send text or a list of parts")
    found: list[dict[str, Any]] = []
    for at, part in enumerate(content):
        kind = part.get("type") if isinstance(part, Mapping) else None
        if kind in ("input_text", "output_text", "text") and isinstance(part.get("text"), str):
            found.append({"type": "text", "text": part["text"]})
        elif kind == "refusal" and isinstance(part.get("refusal"), str):
            found.append({"type": "text", "text": part["refusal"]})
        elif kind == "input_image" and isinstance(part.get("image_url"), str):
            detail = {"detail": part["detail"]} if part.get("detail") else {}
            found.append(image(part["image_url"], **detail))
        else:
            raise RequestError(f"{where}[{at}]: send texts, and images with an image_url", param=f"{where}[{at}]")
    return found[0]["text"] if len(found) == 1 and found[0]["type"] == "text" else found


def _params(fields: Mapping[str, Any]) -> dict[str, Any]:
    params = {name: fields[name] for name in _SAME if fields.get(name) is not None}
    if fields.get("max_output_tokens") is not None:
        params["max_completion_tokens"] = fields["max_output_tokens"]
    reasoning = fields.get("reasoning") or {}
    if reasoning.get("effort"):
        params["reasoning_effort"] = reasoning["effort"]
    text = fields.get("text") or {}
    if text.get("verbosity"):
        params["verbosity"] = text["verbosity"]
    form = text.get("format")
    if isinstance(form, Mapping) and form.get("type") == "json_schema":
        schema = {name: value for name, value in form.items() if name != "type"}
        params["response_format"] = {"type": "json_schema", "json_schema": schema}
    elif isinstance(form, Mapping) and form.get("type") == "json_object":
        params |= json_form(None)
    if tools := fields.get("tools"):
        params["tools"] = [_tool(tool, f"tools[{at}]") for at, tool in enumerate(tools)]
        choice = fields.get("tool_choice")
        if isinstance(choice, Mapping):
            params["tool_choice"] = function_tool(choice.get("name"))
        elif choice is not None:
            params["tool_choice"] = choice
    return params


def _tool(tool: Any, where: str) -> dict[str, Any]:
    if not isinstance(tool, Mapping) or tool.get("type") != "function":
        raise RequestError(f"{where}: only functions are taken here", param=where)
    return {"type": "function", "function": {name: tool[name] for name in _TOOL if tool.get(name) is not None}}


# -- replies ---------------------------------------------------------------------------------------------------


@define(eq=False)
class ResponsesFormat(ReplyFormat):
    """A response whose ``output`` has items for reasoning and for text, and one for each function call.

    ``request`` has the fields of the request that the reply repeats.
    """

    request: Mapping[str, Any] = field(factory=dict)
    _id: str = field(factory=lambda: f"resp_{secrets.token_hex(16)}", init=False)
    _created: int = field(factory=lambda: int(time.time()), init=False)
    _number: int = field(default=0, init=False)
    """The number of events so far."""
    _output: list[dict[str, Any]] = field(factory=list, init=False)
    """The items so far; the last one may be open."""
    _open: bool = field(default=False, init=False)
    _pieces: list[str] = field(factory=list, init=False)
    """What has come of the open item."""
    _calls: StreamedCalls = field(factory=StreamedCalls, init=False)

    def _response(self, status: str, error: Mapping[str, Any] | None = None) -> dict[str, Any]:
        incomplete = {"reason": _INCOMPLETE[self.reason]} if status == "incomplete" else None
        return {
            **{name: self.request.get(name) for name in _REPEATED},
            "id": self._id,
            "object": "response",
            "created_at": self._created,
            "status": status,
            "error": error,
            "incomplete_details": incomplete,
            "model": self.model,
            "output": self._output,
            "parallel_tool_calls": self.request.get("parallel_tool_calls") is not False,
            "previous_response_id": None,
            "store": False,
            "tool_choice": self.request.get("tool_choice") or "auto",
            "tools": self.request.get("tools") or [],
            "usage": None if self.counts is None else _counts(self.counts),
        }

    def _event(self, kind: str, **fields: Any) -> bytes:
        self._number += 1
        return event({"type": kind, "sequence_number": self._number - 1, **fields}, kind)

    def begin(self, index: int) -> bytes:
        """``response.created`` and ``response.in_progress``."""
        begun = self._response("in_progress")
        return self._event("response.created", response=begun) + self._event("response.in_progress", response=begun)

    @property
    def _at(self) -> dict[str, Any]:
        return {"output_index": len(self._output) - 1, "item_id": self._output[-1]["id"]}

    def _is_open(self, kind: str) -> bool:
        return self._open and self._output[-1]["type"] == kind

    def _open_item(self, item: dict[str, Any]) -> bytes:
        closed = self._close()
        self._output.append(item)
        self._open, self._pieces = True, []
        told = self._event("response.output_item.added", output_index=len(self._output) - 1, item=item)
        if item["type"] == "message":
            item["content"].append({"type": "output_text", "text": "", "annotations": [], "logprobs": []})
            part = item["content"][0]
            return closed + told + self._event("response.content_part.added", **self._at, content_index=0, part=part)
        if item["type"] == "reasoning":
            item["summary"].append({"type": "summary_text", "text": ""})
            part, at = item["summary"][0], {**self._at, "summary_index": 0}
            return closed + told + self._event("response.reasoning_summary_part.added", **at, part=part)
        return closed + told

    def text(self, index: int, text: str) -> bytes:
        """``response.output_text.delta``."""
        begun = b"" if self._is_open("message") else self._open_item(_message())
        self._pieces.append(text)
        return begun + self._event("response.output_text.delta", **self._at, content_index=0, delta=text, logprobs=[])

    def extra(self, index: int, fields: Mapping[str, Any]) -> bytes:
        """Events with reasoning text, as a summary, and function calls."""
        told: list[bytes] = []
        thought = reasoning_in(fields)
        if thought:
            if not self._is_open("reasoning"):
                told.append(self._open_item(_reasoning()))
            self._pieces.append(thought)
            at = {**self._at, "summary_index": 0}
            told.append(self._event("response.reasoning_summary_text.delta", **at, delta=thought))
        told += [self._call(begun, piece) for begun, piece in self._calls.pieces(fields)]
        return b"".join(told)

    def _call(self, begun: GatheredCall | None, piece: str) -> bytes:
        told = b"" if begun is None else self._open_item(_function_call(begun.id, begun.name))
        self._pieces.append(piece)
        return told + (self._event("response.function_call_arguments.delta", **self._at, delta=piece) if piece else b"")

    def _close(self) -> bytes:
        """Return the events that close the open item."""
        if not self._open:
            return b""
        self._open = False
        item, at, whole = self._output[-1], self._at, "".join(self._pieces)
        item["status"] = "completed"
        told = b""
        if item["type"] == "message":
            part = item["content"][0]
            part["text"] = whole
            told += self._event("response.output_text.done", **at, content_index=0, text=part["text"], logprobs=[])
            told += self._event("response.content_part.done", **at, content_index=0, part=part)
        elif item["type"] == "reasoning":
            part = item["summary"][0]
            part["text"] = whole
            told += self._event("response.reasoning_summary_text.done", **at, summary_index=0, text=part["text"])
            told += self._event("response.reasoning_summary_part.done", **at, summary_index=0, part=part)
        else:
            item["arguments"] = whole
            told += self._event("response.function_call_arguments.done", **at, name=item["name"], arguments=whole)
        told += self._event("response.output_item.done", output_index=at["output_index"], item=item)
        if item["type"] == "function_call":
            told += b"".join(self._call(call, call.arguments) for call in self._calls.rest()) + self._close()
        return told

    def finish(self, index: int, reason: str) -> bytes:
        """The events that close the last item."""
        self.reason = reason
        return self._close()

    @property
    def _status(self) -> str:
        return "incomplete" if self.reason in _INCOMPLETE else "completed"

    def end(self) -> bytes:
        """``response.completed``, or ``response.incomplete`` at the limit of tokens and if the rest is withheld."""
        return self._event(f"response.{self._status}", response=self._response(self._status))

    def failure(self, failure: Failure) -> bytes:
        """A ``response.failed`` event, which ends the stream."""
        error = {"code": "server_error", "message": failure.message}
        return self._close() + self._event("response.failed", response=self._response("failed", error))

    def whole(self, choices: Sequence[Choice], usage: Usage | None, dollars: float | None) -> bytes:
        """The whole response as JSON."""
        choice = choices[0]
        self.begin(0)
        self.extra(0, {name: value for name, value in choice.extra.items() if name != "tool_calls"})
        if choice.text:
            self.text(0, choice.text)
        self.extra(0, {"tool_calls": choice.extra.get("tool_calls")})
        self.finish(0, choice.finish)
        self.counts = usage
        return to_json(self._response(self._status)).encode()


def _message() -> dict[str, Any]:
    number = f"msg_{secrets.token_hex(16)}"
    return {"id": number, "type": "message", "status": "in_progress", "role": "assistant", "content": []}


def _reasoning() -> dict[str, Any]:
    return {"id": f"rs_{secrets.token_hex(16)}", "type": "reasoning", "summary": []}


def _function_call(call: str, name: str) -> dict[str, Any]:
    number, begun = f"fc_{secrets.token_hex(16)}", "in_progress"
    return {"id": number, "type": "function_call", "status": begun, "call_id": call, "name": name, "arguments": ""}


def _counts(usage: Usage) -> dict[str, Any]:
    return {
        "input_tokens": usage.input,
        "input_tokens_details": {"cached_tokens": usage.cache_read, "cache_write_tokens": usage.cache_write},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": usage.input + usage.output,
    }


DOOR = Door(
    paths={path: {"POST": plays(read_responses)} for path in ("/v1/responses", "/responses")},
    chats_at=("/v1/responses",),
)
