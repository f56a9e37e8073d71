"""Histories: random writes, and what the oracle holds after each."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from conformance.assertions import typed
from conformance.calls import Call
from conformance.models import MODELS, Model, expected
from conformance.strategies.by_kind import STRATEGIES


def planned(kind: str, random: Random, count: int) -> list[Call]:
    """Writes that change something, as the oracle sees it."""
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
    """What the oracle holds before the first of ``calls``, and after each."""
    model: Model = MODELS[kind]()
    found = [typed(model.snapshot())]
    for made in calls:
        expected(model, made)
        found.append(typed(model.snapshot()))
    return found
