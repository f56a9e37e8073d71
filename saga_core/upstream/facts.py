"""Facts about a model upstream: how it caches and what it costs.

The data is ``models.toml`` beside this file, each entry with its source. What is not known there degrades to safe
behaviour: nothing is marked in the prompt, and the bill has tokens but no dollars.
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
"""How long a cache entry of each kind lives after its last use."""

_WHOLE = ("cache_minimum", "lookback", "breakpoints", "cache_step", "long_from", "window")
RELAYS = ("openrouter",)
"""Providers that pass ``cache_control`` on to the provider of the model."""
RULES = ("refuses", "together", "limit", "prefill", "system_turns", "thinks", "quiet")
"""Fields that are no facts but rules for requests; ``parameters.py`` reads them."""


@frozen
class ModelFacts:
    """What is known of one model, reached through one provider."""

    provider: str
    cache: CacheKind = "none"
    """``explicit``: at marked breakpoints; ``automatic``: any prefix, without marks; ``none``: not known to cache."""
    mark: Mark = ""
    """The field of a content part that marks a breakpoint; empty when nothing may be marked."""
    cache_minimum: int = 0
    """Tokens from the prompt's beginning below which nothing is cached."""
    lookback: int = 1
    """At how many blocks, from a breakpoint backwards and counting its own, an earlier entry is found."""
    breakpoints: int = 0
    """How many a request may have."""
    cache_step: int = 1
    """Automatic: hits come in multiples of so many tokens beyond the minimum."""
    cache_seconds: float = 0.0
    """Automatic: how long an unused entry can be relied on."""
    writes: Mapping[CacheLifetime, float] = field(factory=dict)
    """Lifetimes that may be asked for -> price of a written token, as a multiple of ``input``."""
    read: float = 1.0
    """Price of a token read from the cache, as a multiple of ``input``."""
    input: float | None = None
    """US dollars for a million input tokens; None when not known."""
    output: float | None = None
    """US dollars for a million output tokens; None when not known."""
    long_from: int = 0
    """A prompt of more tokens than this is dearer by ``long_factor``, its reply too; 0: there is no such step."""
    long_factor: float = 1.0
    scale: float = 1.0
    """Tokens of the model for one as SAGA counts them, until bills say better."""
    window: int = 0
    """Tokens that prompt and reply may have together; 0 when not known."""
    source: str = ""
    read_on: str = ""
    """Where this is documented, and the day on which that was read."""

    def can_mark(self, role: str) -> bool:
        """Whether a message of that role can carry a breakpoint. OpenAI's stand in what is given to the model, not in
        what it said.
        """
        return bool(self.mark) and (self.mark != "prompt_cache_breakpoint" or role != "assistant")

    @property
    def priced(self) -> bool:
        """Whether tokens can be turned into dollars."""
        return self.input is not None and self.output is not None


def facts_of(model: str, provider: str = "", overrides: Mapping[str, Mapping[str, Any]] | None = None) -> ModelFacts:
    """The facts for ``model`` as ``provider`` serves it.

    ``provider/model`` names and OpenRouter's are understood. A known model behind a provider that is not its own, and
    not known to pass marks on, is not marked. ``overrides``: beginnings of model names to fields of the data file, as
    under ``models.facts`` in a configuration. Raises ``BadInput`` for a field that does not exist.
    """
    name = normal(model)
    found = _builtin(name, provider)
    if overrides:
        key = longest(name, {normal(each): each for each in overrides})
        if key is not None:
            found = override(found, overrides[key], f"models.facts.{key}")
    return found


def override(facts: ModelFacts, given: Mapping[str, Any], where: str) -> ModelFacts:
    """``facts`` with fields as a person writes them. Raises ``BadInput`` that begins with ``where``."""
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
    """A model's name without its provider, as the data file writes it."""
    return model.rsplit("/", 1)[-1].lower().replace(".", "-").rstrip("*")


def longest(name: str, prefixes: Mapping[str, str]) -> str | None:
    """The original of the longest of ``prefixes`` (normal form to original) that ``name`` begins with."""
    fitting = [prefix for prefix in prefixes if prefix and name.startswith(prefix)]
    return prefixes[max(fitting, key=len)] if fitting else None


@lru_cache(maxsize=1)
def data() -> dict[str, Any]:
    """The data file."""
    text = resources.files(__package__).joinpath("models.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
