"""Builds a request for Gemini's API, with settings, thinking, tools, and fields that only this API has."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from attrs import frozen

from saga_backends.chat.gemini.contents import contents_of
from saga_backends.chat.parameter import GOOGLE, LIMITS, fitting
from saga_core.ports import AdjustedPart, ChatRequest
from saga_core.upstream import ParameterRules

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


@frozen
class GeminiRequest:
    """A body for ``:generateContent`` and ``:streamGenerateContent``."""

    body: dict[str, Any]
    settings: Mapping[str, Any]
    """The settings that were sent, by their chat names, to find the one that a refusal is about."""
    beginning: str
    """The text that the reply must not repeat."""
    adjusted: list[AdjustedPart]


def gemini_request(request: ChatRequest, rules: ParameterRules) -> GeminiRequest:
    """Build the body of a request, adjusted to what the model accepts."""
    params = dict(request.params)
    made = {name: params.pop(name, None) for name in _MADE}
    for name in _IGNORED:
        params.pop(name, None)
    kept, adjusted = fitting(params, rules, _TAKES)
    own = _own(made)
    arranged = contents_of(request.plan, rules)
    body: dict[str, Any] = {"contents": arranged.contents}
    if arranged.system:
        body["systemInstruction"] = {"parts": arranged.system}
    config = {**own.pop("generationConfig", {}), **_settings(kept, adjusted)}
    if not any(config.get(name) for name in _SHAPES):
        config |= _form(kept.get("response_format"))
    if "thinkingConfig" not in config and (thinking := _thinking(made, request.model)):
        config["thinkingConfig"] = thinking
    modalities = made["modalities"]
    if isinstance(modalities, list) and all(isinstance(each, str) for each in modalities):
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
    return GeminiRequest(body, settings, arranged.beginning, [*adjusted, *arranged.adjusted])


def _own(made: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that the client gave in this API's format, directly or in OpenAI's ``extra_body``."""
    own = dict(made[GOOGLE]) if isinstance(made[GOOGLE], Mapping) else {}
    beside = made["extra_body"].get("google") if isinstance(made["extra_body"], Mapping) else None
    for name, ours in _BESIDE.items():
        if not isinstance(beside, Mapping) or beside.get(name) is None:
            continue
        if ours == "thinkingConfig":
            own["generationConfig"] = {ours: beside[name], **own.get("generationConfig", {})}
        else:
            own.setdefault(ours, beside[name])
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
    stops = kept.get("stop")
    stops = [stops] if isinstance(stops, str) else stops if isinstance(stops, list) else []
    stops = [stop for stop in stops if isinstance(stop, str) and stop]
    if len(stops) > _MOST_STOPS:
        why = f"stop: the first {_MOST_STOPS} of {len(stops)} are sent; the API takes no more"
        adjusted.append(AdjustedPart("stop", why))
    if stops:
        found["stopSequences"] = stops[:_MOST_STOPS]
    return found


def _form(form: Any) -> dict[str, Any]:
    """Return the settings for the ``response_format``."""
    kind = form.get("type") if isinstance(form, Mapping) else None
    if kind == "json_object":
        return {"responseMimeType": "application/json"}
    held = form.get("json_schema") if kind == "json_schema" else None
    if not isinstance(held, Mapping) or not isinstance(held.get("schema"), Mapping):
        return {}
    return {"responseMimeType": "application/json", "responseJsonSchema": held["schema"]}


def _thinking(made: Mapping[str, Any], model: str) -> dict[str, Any]:
    """Return the thinking config, if the client says how much to think."""
    reasoning = made["reasoning"]
    effort = made["reasoning_effort"] or (reasoning.get("effort") if isinstance(reasoning, Mapping) else None)
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
    declared = []
    for tool in made["tools"] if isinstance(made["tools"], list) else ():
        function = tool.get("function") if isinstance(tool, Mapping) else None
        if isinstance(function, Mapping):
            about = {name: function[name] for name in ("name", "description") if function.get(name)}
            schema = function.get("parameters")
            declared.append({**about, **({"parametersJsonSchema": schema} if schema else {})})
    if not declared:
        return {}
    found: dict[str, Any] = {"tools": [{"functionDeclarations": declared}]}
    choice = made["tool_choice"]
    if isinstance(choice, str) and choice in _MODES:
        found["toolConfig"] = {"functionCallingConfig": {"mode": _MODES[choice]}}
    elif isinstance(choice, Mapping) and isinstance(choice.get("function"), Mapping):
        allowed = [str(choice["function"].get("name", ""))]
        found["toolConfig"] = {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": allowed}}
    return found
