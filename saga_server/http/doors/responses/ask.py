"""Read a request in OpenAI's Responses API as a chat.

SAGA stores no responses, so ``input`` must hold the whole chat.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from attrs import field, frozen

from saga_server.http.entry.budget import check_text
from saga_server.http.errors import RequestError
from saga_server.http.openai_schema import kind_of, read_json, short, typed

_SAME = frozenset(
    "temperature top_p user parallel_tool_calls service_tier prompt_cache_key prompt_cache_retention "
    "safety_identifier metadata top_logprobs".split()
)
_KEPT = {"previous_response_id": "id", "conversation": "conversation", "prompt": "prompt"}
"""Fields that refer to data stored at OpenAI; they are refused."""
_ROLES = ("user", "assistant", "system", "developer")


@frozen(kw_only=True)
class ResponsesAsk:
    """A checked request. The texts are not checked here; the engine does that."""

    messages: list[Any] = field(repr=False)
    model: str
    stream: bool
    user: str | None
    params: Mapping[str, Any] = field(repr=False)
    given: Mapping[str, Any] = field(repr=False)
    """The request itself; the reply repeats some of its fields."""


def read_responses(body: bytes, max_messages: int, max_text_mb: int = 16) -> ResponsesAsk:
    """Read the request in ``body``. Raises ``RequestError`` naming the field, the value and what is allowed."""
    ask = read_json(body)
    if not isinstance(ask, dict):
        raise RequestError(f"the body is a JSON {kind_of(ask)}; send an object", param="body")
    for name in _KEPT:
        if ask.get(name):
            raise RequestError(f"{name}: SAGA keeps no responses; send the whole chat in input", param=name)
    if ask.get("background"):
        raise RequestError("background: SAGA answers at once; leave it out", param="background")
    given = ask.get("input")
    if isinstance(given, str):
        given = [{"role": "user", "content": given}]
    if not isinstance(given, list) or not given:
        raise RequestError("input: missing or empty; send a text, or a list of items", param="input")
    if len(given) > max_messages:
        raise RequestError(
            f"input: {len(given)} items given; at most {max_messages} are taken (server.max_messages)",
            param="input",
            status=413,
        )
    instructions = typed(ask, "instructions", str, "a text")
    messages = [{"role": "system", "content": instructions}] if instructions else []
    messages += _messages(given)
    if not messages:
        raise RequestError("input: no message stands in it", param="input")
    check_text(messages, max_text_mb)
    return ResponsesAsk(
        messages=messages,
        model=typed(ask, "model", str, "a text") or "",
        stream=typed(ask, "stream", bool, "true or false") or False,
        user=typed(ask, "user", str, "a text"),
        params=_params(ask),
        given=ask,
    )


def _messages(given: list[Any]) -> list[dict[str, Any]]:
    """Return the items as messages.

    Consecutive function calls form one message. Earlier reasoning is dropped; it is not part of the story.
    """
    found: list[dict[str, Any]] = []
    for at, item in enumerate(given):
        where = f"input[{at}]"
        if not isinstance(item, Mapping):
            raise RequestError(f"{where}: a {kind_of(item)} given; an item is an object", param=where)
        kind = item.get("type") or "message"
        if kind == "function_call":
            function = {"name": str(item.get("name", "")), "arguments": str(item.get("arguments") or "{}")}
            call = {"id": str(item.get("call_id", "")), "type": "function", "function": function}
            if found and found[-1].get("tool_calls") and found[-1]["content"] is None:
                found[-1]["tool_calls"].append(call)
            else:
                found.append({"role": "assistant", "content": None, "tool_calls": [call]})
        elif kind == "function_call_output":
            output = item.get("output")
            text = output if isinstance(output, str) else "\n".join(_texts(output, f"{where}.output"))
            found.append({"role": "tool", "tool_call_id": str(item.get("call_id", "")), "content": text})
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


def _texts(content: Any, where: str) -> Iterator[str]:
    for part in _content(content, where):
        if part["type"] == "text":
            yield part["text"]


def _content(content: Any, where: str) -> Any:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise RequestError(f"{where}: a {kind_of(content)} given; send text or a list of parts", param=where)
    found: list[dict[str, Any]] = []
    for at, part in enumerate(content):
        kind = part.get("type") if isinstance(part, Mapping) else None
        if kind in ("input_text", "output_text", "text") and isinstance(part.get("text"), str):
            found.append({"type": "text", "text": part["text"]})
        elif kind == "refusal" and isinstance(part.get("refusal"), str):
            found.append({"type": "text", "text": part["refusal"]})
        elif kind == "input_image" and isinstance(part.get("image_url"), str):
            detail = {"detail": part["detail"]} if part.get("detail") else {}
            found.append({"type": "image_url", "image_url": {"url": part["image_url"], **detail}})
        else:
            raise RequestError(f"{where}[{at}]: send texts, and images with an image_url", param=f"{where}[{at}]")
    return found[0]["text"] if len(found) == 1 and found[0]["type"] == "text" else found


def _params(ask: Mapping[str, Any]) -> dict[str, Any]:
    params = {name: ask[name] for name in _SAME if ask.get(name) is not None}
    if ask.get("max_output_tokens") is not None:
        params["max_completion_tokens"] = ask["max_output_tokens"]
    reasoning = typed(ask, "reasoning", dict, "an object") or {}
    if reasoning.get("effort"):
        params["reasoning_effort"] = reasoning["effort"]
    text = typed(ask, "text", dict, "an object") or {}
    if text.get("verbosity"):
        params["verbosity"] = text["verbosity"]
    form = text.get("format")
    if isinstance(form, Mapping) and form.get("type") == "json_schema":
        schema = {name: value for name, value in form.items() if name != "type"}
        params["response_format"] = {"type": "json_schema", "json_schema": schema}
    elif isinstance(form, Mapping) and form.get("type") == "json_object":
        params["response_format"] = {"type": "json_object"}
    if tools := typed(ask, "tools", list, "a list of tools"):
        params["tools"] = [_tool(tool, f"tools[{at}]") for at, tool in enumerate(tools)]
        choice = ask.get("tool_choice")
        if isinstance(choice, Mapping):
            params["tool_choice"] = {"type": "function", "function": {"name": choice.get("name")}}
        elif choice is not None:
            params["tool_choice"] = choice
    return params


def _tool(tool: Any, where: str) -> dict[str, Any]:
    if not isinstance(tool, Mapping) or tool.get("type") != "function":
        raise RequestError(f"{where}: only functions are taken here", param=where)
    named = {name: tool[name] for name in ("name", "description", "parameters", "strict") if tool.get(name) is not None}
    return {"type": "function", "function": named}
