"""Adjusts a request's parameters to what a model accepts."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from saga_backends.chat.lessons import neutral
from saga_core.ports import AdjustedPart
from saga_core.upstream import ParameterRules

LIMITS = ("max_completion_tokens", "max_tokens")
"""The parameter names for the maximum length of a reply, the newer one first."""
GOOGLE = "google"
"""The parameter with settings in the format of Gemini's own API. Settings known to other APIs are given separately."""
_ELSEWHERE = frozenset({"tools", "toolConfig", "responseSchema", "responseJsonSchema"})
"""Its fields that are also given as ordinary chat parameters."""


def fitting(
    params: Mapping[str, Any], rules: ParameterRules, takes: Collection[str] = ()
) -> tuple[dict[str, Any], list[AdjustedPart]]:
    """Return ``params`` without those that the model refuses, and the list of adjustments.

    ``takes`` are the names that the provider knows. If it is empty, any name is allowed.
    """
    kept = dict(params)
    adjusted = []
    own = kept.get(GOOGLE)
    if isinstance(own, Mapping):
        del kept[GOOGLE]
        names = [name for name in (*own, *(own.get("generationConfig") or ())) if name not in _ELSEWHERE]
        if names := [name for name in names if name != "generationConfig"]:
            adjusted.append(AdjustedPart(GOOGLE, f"{', '.join(names)}: left out; only Gemini's own API has this"))

    def leave_out(name: str, why: str) -> None:
        value = kept.pop(name)
        if not neutral(name, value):
            adjusted.append(AdjustedPart(name, f"{name} is left out: {why}"))

    given = next((name for name in LIMITS if kept.get(name) is not None), None)
    if rules.limit and given is not None:
        limit = kept[given]
        for name in LIMITS:
            kept.pop(name, None)
        kept[rules.limit] = limit
    form = kept.get("response_format")
    if not rules.schemas and isinstance(form, Mapping) and form.get("type") == "json_schema":
        kept["response_format"] = {"type": "json_object"}
        adjusted.append(AdjustedPart("response_format", "response_format is json_object: the model takes no schema"))
    for name in list(kept):
        if name in rules.refuses:
            leave_out(name, "the model does not take it")
        elif takes and name not in takes:
            leave_out(name, "the provider does not know it")
    both = [name for name in rules.together if not neutral(name, kept.get(name))]
    for name in rules.together:
        if name in kept and (name not in both or name != both[0]):
            leave_out(name, f"the model does not take it together with {both[0] if both else name}")
    return kept, adjusted
