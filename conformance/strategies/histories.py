"""Histories: random writes, and the oracle's contents after each of them."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from conformance.assertions import typed
from conformance.calls import Call
from conformance.models import MODELS, Model, expected
from conformance.strategies.by_kind import STRATEGIES


def planned(kind: str, random: Random, count: int) -> list[Call]:
    """Draw ``count`` writes, each of which changes the oracle's contents."""
    model: Model = MODELS[kind]()
    calls: list[Call] = []
    while len(calls) < count:
        made = STRATEGIES[kind].write(random, model)
        before = typed(model.snapshot())
        expected(model, made)
        if typed(model.snapshot()) != before:
            calls.append(made)
    return calls


def states(kind: str, calls: Sequence[Call]) -> list[object]:
    """The oracle's contents before the first of ``calls``, and after each of them."""
    model: Model = MODELS[kind]()
    found = [typed(model.snapshot())]
    for made in calls:
        expected(model, made)
        found.append(typed(model.snapshot()))
    return found
