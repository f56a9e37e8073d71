"""Which parameters a model takes, and how its messages must be arranged. The data is in ``models.toml``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from attrs import evolve, frozen

from saga_core.errors import BadInput
from saga_core.upstream.facts import RELAYS, RULES, data, longest, normal


@frozen
class ParameterRules:
    """What a model takes. One that nothing is known of takes everything, until its provider says otherwise."""

    refuses: tuple[str, ...] = ()
    """Parameters that it refuses."""
    together: tuple[str, ...] = ()
    """Of these it takes one; the first that is given."""
    limit: str = ""
    """The only name for the length of a reply; empty: the one that the client uses."""
    prefill: bool = True
    """Whether it goes on with a final assistant message."""
    system_turns: bool = True
    """Whether system messages may stand among the messages."""
    thinks: bool = False
    """Whether it thinks before it answers unless told not to."""
    quiet: str = ""
    """The type of ``thinking`` that tells it not to; empty: nothing does."""
    schemas: bool = True
    """Whether an answer can be held to a JSON schema; else to JSON. Learned, never set."""


def rules_of(model: str, provider: str, overrides: Mapping[str, Mapping[str, Any]] | None = None) -> ParameterRules:
    """The rules for ``model`` as ``provider`` serves it.

    Behind a provider that is not the model's own only what its relay cannot mend holds: whether a reply can be begun
    for it. ``overrides`` as for ``facts_of``. Raises ``BadInput`` for a value of the wrong kind.
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
    """The fields that ``provider`` knows in a request; empty when it takes any."""
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
    """``rules`` with those among ``given``; other fields are none of theirs. Raises ``BadInput``."""
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
