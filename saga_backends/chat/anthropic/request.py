"""Builds a request for Anthropic's Messages API, with parameters, thinking and tools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from attrs import frozen

from saga_backends.chat.anthropic.messages import arrange
from saga_backends.chat.parameter import LIMITS, fitting
from saga_core.ports import AdjustedPart, ChatRequest
from saga_core.upstream import ParameterRules

VERSION = "2026-10-21"
SAMPLING_VERSION = "2023-06-01"
"""The last API version that accepts a temperature. The newer version rejects it for every model."""

Thinking = Literal["model", "off"]

MAX_TOKENS = 4_096
"""The maximum length of a reply if the client sets no limit. The API requires one."""
_ROOM = {"low": 2_048, "medium": 8_192, "high": 16_384, "xhigh": 32_768, "max": 32_768}
"""Tokens for thinking by effort. They are added to those for the reply, because the API's limit covers both."""
_ROOM_UNASKED = 8_192
_LOWEST = ("none", "minimal", "off")
_SAMPLING = ("temperature", "top_p", "top_k")
_TAKES = frozenset(
    {*_SAMPLING, "stop", "thinking", "output_config", "metadata", "service_tier", "speed", "inference_geo", "container"}
)
"""Parameters that are passed on to the API unchanged."""
_MADE = ("max_tokens", "max_completion_tokens", "reasoning_effort", "reasoning", "tools", "tool_choice", "n")
_IGNORED = ("user", "parallel_tool_calls", "stream_options")
"""Parameters that do not change a reply."""
_CHOICES = {"auto": "auto", "none": "none", "required": "any"}


@frozen
class MessagesRequest:
    """A body for ``/v1/messages``."""

    body: dict[str, Any]
    version: str
    beginning: str
    """The text that the reply must not repeat."""
    adjusted: list[AdjustedPart]


def messages_request(
    request: ChatRequest, rules: ParameterRules, thinking: Thinking, *, streaming: bool
) -> MessagesRequest:
    """Build the body of a request, adjusted to what the model accepts."""
    params = dict(request.params)
    made = {name: params.pop(name, None) for name in _MADE}
    for name in _IGNORED:
        params.pop(name, None)
    schema = _schema(params)
    kept, adjusted = fitting(params, rules, _TAKES)
    body: dict[str, Any] = {"model": request.model, "max_tokens": _limit(made)}
    stops = kept.pop("stop", None)
    stops = [stops] if isinstance(stops, str) else stops if isinstance(stops, list) else []
    if stops := [stop for stop in stops if isinstance(stop, str) and stop.strip()]:
        body["stop_sequences"] = stops
    body.update({name: value for name, value in kept.items() if value is not None})
    _sample(body, adjusted)
    thinks = _think(body, _effort(made, thinking), rules)
    if thinks:
        for name in _SAMPLING:
            if body.pop(name, None) is not None:
                adjusted.append(AdjustedPart(name, f"{name} is left out: the model is asked to think"))
    if schema is not None and "output_config" not in rules.refuses:
        form = {"format": {"type": "json_schema", "schema": schema}}
        body["output_config"] = {**body.get("output_config", {}), **form}
    elif schema is not None:
        adjusted.append(AdjustedPart("response_format", "response_format is left out: the model takes no schema"))
    _tools(body, made)
    arranged = arrange(request.plan, rules, prefill=not thinks)
    if arranged.system:
        body["system"] = arranged.system
    body["messages"] = arranged.messages
    if streaming:
        body["stream"] = True
    version = SAMPLING_VERSION if any(name in body for name in _SAMPLING) else VERSION
    return MessagesRequest(body, version, arranged.beginning, [*adjusted, *arranged.adjusted])


def _schema(params: dict[str, Any]) -> Any:
    """Remove the JSON schema for the reply from the parameters and return it, or None if there is none."""
    form = params.get("response_format")
    held = form.get("json_schema") if isinstance(form, Mapping) and form.get("type") == "json_schema" else None
    if not isinstance(held, Mapping) or not isinstance(held.get("schema"), Mapping):
        return None
    del params["response_format"]
    return held["schema"]


def _limit(made: Mapping[str, Any]) -> int:
    given = (made[name] for name in LIMITS)
    return next((limit for limit in given if type(limit) is int and limit > 0), MAX_TOKENS)


def _sample(body: dict[str, Any], adjusted: list[AdjustedPart]) -> None:
    temperature = body.get("temperature")
    if isinstance(temperature, int | float) and temperature > 1:
        body["temperature"] = 1.0
        adjusted.append(
            AdjustedPart("temperature", f"temperature {temperature:g} becomes 1, the highest that there is")
        )
    if body.get("top_k") in (0, -1):
        del body["top_k"]  # means no limit


def _effort(made: Mapping[str, Any], thinking: Thinking) -> str:
    """Return the thinking effort, ``off``, or an empty text if the client and the configuration leave it open."""
    reasoning = made["reasoning"]
    asked = made["reasoning_effort"] or (reasoning.get("effort") if isinstance(reasoning, Mapping) else None)
    if isinstance(asked, str) and asked in _ROOM:
        return asked
    return "off" if thinking == "off" or asked in _LOWEST else ""


def _think(body: dict[str, Any], effort: str, rules: ParameterRules) -> bool:
    """Set how much to think and raise ``max_tokens`` for it.

    Returns whether the model is asked to think, in which case sampling parameters are not allowed.
    """
    if "thinking" in body or "thinking" in rules.refuses:
        given = body.get("thinking")
        kind = given.get("type") if isinstance(given, Mapping) else None
        if kind == "enabled" and isinstance(given, Mapping) and type(given.get("budget_tokens")) is int:
            body["max_tokens"] = max(body["max_tokens"], given["budget_tokens"] + MAX_TOKENS)
        return kind in ("enabled", "adaptive")
    if effort in ("", "off"):
        if effort == "off" and rules.quiet:
            body["thinking"] = {"type": rules.quiet}
        elif effort == "off" and rules.thinks:
            body.setdefault("output_config", {"effort": "low"})
            body["max_tokens"] += _ROOM["low"]
        elif rules.thinks:
            body["max_tokens"] += _ROOM_UNASKED
        return False
    body["max_tokens"] += _ROOM[effort]
    if rules.prefill and not rules.thinks:  # older models do not support an effort
        body["thinking"] = {"type": "enabled", "budget_tokens": max(1_024, _ROOM[effort] - 1_024)}
    else:
        body["thinking"] = {"type": "adaptive"}
        body.setdefault("output_config", {"effort": effort})
    return True


def _tools(body: dict[str, Any], made: Mapping[str, Any]) -> None:
    tools = []
    for tool in made["tools"] if isinstance(made["tools"], list) else ():
        function = tool.get("function") if isinstance(tool, Mapping) else None
        if isinstance(function, Mapping):
            about = {name: function[name] for name in ("name", "description") if function.get(name)}
            tools.append({**about, "input_schema": function.get("parameters") or {"type": "object", "properties": {}}})
    if not tools:
        return
    body["tools"] = tools
    choice = made["tool_choice"]
    if isinstance(choice, str) and choice in _CHOICES:
        body["tool_choice"] = {"type": _CHOICES[choice]}
    elif isinstance(choice, Mapping) and isinstance(choice.get("function"), Mapping):
        body["tool_choice"] = {"type": "tool", "name": str(choice["function"].get("name", ""))}
