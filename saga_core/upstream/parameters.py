"""The parameters that a model accepts, and how its messages must be arranged. The data is in ``models.toml``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from attrs import evolve, frozen

from saga_core.errors import BadInput
from saga_core.upstream.facts import RELAYS, RULES, data, longest, normal


@frozen
class ParameterRules:
    """What a model accepts. An unknown model accepts everything until its provider refuses it."""

    refuses: tuple[str, ...] = ()
    """Parameters that it refuses."""
    together: tuple[str, ...] = ()
    """Parameters of which it accepts only one. The first one given is used."""
    limit: str = ""
    """The only accepted name of the reply limit; empty: the name that the client uses."""
    prefill: bool = True
    """Whether it continues a final assistant message."""
    system_turns: bool = True
    """Whether system messages are allowed between the messages."""
    thinks: bool = False
    """Whether it thinks before it answers by default."""
    quiet: str = ""
    """The type of ``thinking`` that disables thinking; empty if there is none."""
    schemas: bool = True
    """Whether it supports JSON schemas for answers; otherwise only JSON. Learned from refusals, never configured."""


def rules_of(model: str, provider: str, overrides: Mapping[str, Mapping[str, Any]] | None = None) -> ParameterRules:
    """Return the rules for ``model`` as served by ``provider``.

    Behind a relay, only ``prefill`` applies, because the relay cannot work around it. ``overrides`` as for
    ``facts_of``. Raises ``BadInput`` for a value of the wrong type.
    """
    name = normal(model)
    found = _builtin(name, provider)
    if overrides:
        key = longest(name, {normal(each): each for each in overrides})
        if key is not None:
            found = read_rules(found, overrides[key], f"models.facts.{key}")
    return found


@lru_cache(maxsize=8)
def takes(provider: str) -> frozenset[str]:
    """Return the request fields that ``provider`` knows; empty if it accepts any."""
    return frozenset(str(data()["takes"].get(provider, "")).split())


@lru_cache(maxsize=512)
def _builtin(name: str, provider: str) -> ParameterRules:
    rows = {prefix: row for row in data()["rules"] for prefix in row["match"]}
    key = longest(name, {prefix: prefix for prefix in rows})
    if key is None:
        return ParameterRules()
    rules = read_rules(ParameterRules(), rows[key], f"models.toml {key}")
    if provider in ("", rows[key]["provider"]):
        return rules
    return ParameterRules(prefill=rules.prefill) if provider in RELAYS else ParameterRules()


def read_rules(rules: ParameterRules, given: Mapping[str, Any], where: str) -> ParameterRules:
    """Return ``rules`` updated with the rules among ``given``. Other fields are ignored. Raises ``BadInput``."""
    changes: dict[str, Any] = {}
    for name, value in given.items():
        if name not in RULES:
            continue
        kind = type(getattr(rules, name))
        if kind is tuple and isinstance(value, list) and all(isinstance(each, str) for each in value):
            changes[name] = tuple(value)
        elif kind is not tuple and type(value) is kind:
            changes[name] = value
        else:
            wanted = {tuple: "a list of texts", bool: "true or false", str: "a text"}[kind]
            raise BadInput(f"{where}.{name}: {value!r} given; give {wanted}")
    return evolve(rules, **changes)
