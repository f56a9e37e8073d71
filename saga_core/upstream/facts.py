"""Facts about upstream models: how they cache and what they cost.

The data is in ``models.toml`` next to this file, and each entry has its source. Unknown models get safe defaults:
nothing is marked in the prompt, and the bill has tokens but no dollars.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import lru_cache
from importlib import resources
from typing import Any, Literal, get_args

from attrs import evolve, field, fields_dict, frozen

from saga_core.errors import BadInput
from saga_core.messages import CacheLifetime

CacheKind = Literal["explicit", "automatic", "none"]
Mark = Literal["", "cache_control", "prompt_cache_breakpoint"]

SECONDS: Mapping[CacheLifetime, int] = {"5m": 300, "30m": 1_800, "1h": 3_600}
"""How long a cache entry of each lifetime lives after its last use, in seconds."""

_WHOLE = ("cache_minimum", "lookback", "breakpoints", "cache_step", "long_from", "window")
RELAYS = ("openrouter",)
"""Providers that pass ``cache_control`` on to the provider of the model."""
RULES = ("refuses", "together", "limit", "prefill", "system_turns", "thinks", "quiet")
"""Fields that are rules for requests instead of facts. ``parameters.py`` reads them."""


@frozen
class ModelFacts:
    """The facts about one model at one provider."""

    provider: str
    cache: CacheKind = "none"
    """``explicit``: at marked breakpoints; ``automatic``: any prefix, without marks; ``none``: no known cache."""
    mark: Mark = ""
    """The field of a content part that marks a breakpoint; empty if no mark is allowed."""
    cache_minimum: int = 0
    """The smallest number of tokens from the beginning of the prompt that is cached."""
    lookback: int = 1
    """The number of blocks, from a breakpoint backwards and including its own, at which an earlier entry is found."""
    breakpoints: int = 0
    """The largest number of breakpoints in a request."""
    cache_step: int = 1
    """Automatic caches: hits beyond the minimum come in multiples of this many tokens."""
    cache_seconds: float = 0.0
    """Automatic caches: how long an unused entry is kept reliably."""
    writes: Mapping[CacheLifetime, float] = field(factory=dict)
    """Available lifetimes -> price of a written token, as a multiple of ``input``."""
    read: float = 1.0
    """The price of a token read from the cache, as a multiple of ``input``."""
    input: float | None = None
    """US dollars per million input tokens; None if unknown."""
    output: float | None = None
    """US dollars per million output tokens; None if unknown."""
    long_from: int = 0
    """Prompts with more tokens than this, and their replies, cost ``long_factor`` times as much; 0: no such step."""
    long_factor: float = 1.0
    scale: float = 1.0
    """The model's tokens per token counted by SAGA, until bills give a better value."""
    window: int = 0
    """The largest number of tokens of prompt and reply together; 0 if unknown."""
    source: str = ""
    read_on: str = ""
    """The documentation of these facts, and the date of reading it."""

    def can_mark(self, role: str) -> bool:
        """Whether a message of this role can carry a breakpoint.

        OpenAI accepts breakpoints only in the model's input, not in its replies.
        """
        return bool(self.mark) and (self.mark != "prompt_cache_breakpoint" or role != "assistant")

    @property
    def priced(self) -> bool:
        """Whether the cost of tokens in dollars is known."""
        return self.input is not None and self.output is not None


def facts_of(model: str, provider: str = "", overrides: Mapping[str, Mapping[str, Any]] | None = None) -> ModelFacts:
    """Return the facts for ``model`` as served by ``provider``.

    Names in the form ``provider/model``, including OpenRouter's, are understood. No breakpoints are marked for a known
    model behind another provider, unless that provider passes marks on. ``overrides`` maps prefixes of model names to
    fields of the data file, as ``models.facts`` in a configuration does. Raises ``BadInput`` for an unknown field.
    """
    name = normal(model)
    found = _builtin(name, provider)
    if overrides:
        key = longest(name, {normal(each): each for each in overrides})
        if key is not None:
            found = override(found, overrides[key], f"models.facts.{key}")
    return found


def override(facts: ModelFacts, given: Mapping[str, Any], where: str) -> ModelFacts:
    """Return ``facts`` with user-supplied fields. Raises ``BadInput`` with a message that begins with ``where``."""
    known = fields_dict(ModelFacts)
    changes: dict[str, Any] = {}
    writes: dict[CacheLifetime, float] = dict(facts.writes)
    lifetimes = {f"write_{ttl}": ttl for ttl in SECONDS}
    for name, value in given.items():
        if name in lifetimes:
            writes[lifetimes[name]] = _number(value, f"{where}.{name}")
        elif name == "cache":
            changes[name] = _one_of(value, get_args(CacheKind), f"{where}.{name}")
        elif name == "mark":
            changes[name] = _one_of(value, get_args(Mark), f"{where}.{name}")
        elif name in ("source", "read_on"):
            changes[name] = str(value)
        elif name in RULES:
            continue
        elif name in known and name not in ("provider", "writes"):
            number = _number(value, f"{where}.{name}")
            changes[name] = int(number) if name in _WHOLE else number
        else:
            allowed = [each for each in known if each not in ("provider", "writes")]
            allowed += [*lifetimes, *RULES]
            raise BadInput(f"{where}.{name} is no fact of a model; known are {', '.join(sorted(allowed))}")
    return evolve(facts, **changes, writes=writes)


def _number(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
        raise BadInput(f"{where}: {value!r} given; give a number of at least 0")
    return float(value)


def _one_of(value: Any, allowed: tuple[str, ...], where: str) -> str:
    if value not in allowed:
        raise BadInput(f"{where}: {value!r} given; use one of {', '.join(map(repr, allowed))}")
    return str(value)


@lru_cache(maxsize=512)
def _builtin(name: str, provider: str) -> ModelFacts:
    known = data()
    rows = {prefix: row for row in known["model"] for prefix in row["match"]}
    key = longest(name, {prefix: prefix for prefix in rows})
    if key is None:
        return ModelFacts(provider)
    row = rows[key]
    home = str(row["provider"])
    merged = {**known["provider"][home], **{k: v for k, v in row.items() if k not in ("match", "provider")}}
    facts = override(ModelFacts(provider or home), merged, f"models.toml {key}")
    if provider in ("", home) or facts.cache != "explicit":
        return facts
    if provider in RELAYS and facts.mark == "cache_control":
        return facts
    return evolve(facts, cache="none", mark="", breakpoints=0)


def normal(model: str) -> str:
    """Return a model's name without its provider, in the spelling of the data file."""
    return model.rsplit("/", 1)[-1].lower().replace(".", "-").rstrip("*")


def longest(name: str, prefixes: Mapping[str, str]) -> str | None:
    """Return the original of the longest of ``prefixes`` (normal form -> original) with which ``name`` begins."""
    fitting = [prefix for prefix in prefixes if prefix and name.startswith(prefix)]
    return prefixes[max(fitting, key=len)] if fitting else None


@lru_cache(maxsize=1)
def data() -> dict[str, Any]:
    """Return the parsed data file."""
    text = resources.files(__package__).joinpath("models.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
