"""Small random histories of concurrent calls, which must have a serial order."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from copy import deepcopy
from typing import Any

from conformance.assertions import CheckFailed, typed
from conformance.calls import Call, answer, snapshot
from conformance.case import Case
from conformance.check import check
from conformance.models import MODELS, Model, expected
from conformance.strategies import STRATEGIES

_CLIENTS = 3
_CALLS = 2


@check("L-10", kinds=("state", "graph", "vector", "cache"))
async def some_serial_order(case: Case) -> None:
    """Run small histories of three clients with two calls each, on a store that already has contents."""
    random = case.random
    strategy, store = STRATEGIES[case.harness.kind], case.store
    model: Model = MODELS[case.harness.kind]()
    for _ in range(8):
        made = strategy.write(random, model)
        expected(model, made)
        await answer(store, made)
    for _ in range(case.profile.histories):
        clients = [[strategy.any(random, model) for _ in range(_CALLS)] for _ in range(_CLIENTS)]
        answers = await asyncio.gather(*(_client(store, calls) for calls in clients))
        left = typed(await snapshot(store))
        found = _serial(model, clients, [[typed(given) for given in one] for one in answers], left)
        if found is None:
            told = "\n".join(
                f"client {index}: {made} gave {given!r}"
                for index, (calls, one) in enumerate(zip(clients, answers, strict=True))
                for made, given in zip(calls, one, strict=True)
            )
            raise CheckFailed(f"no order of these calls explains their results and the final contents:\n{told}")
        model = found


async def _client(store: Any, calls: Sequence[Call]) -> list[object]:
    answers = []
    for made in calls:
        answers.append(await answer(store, made))
        await asyncio.sleep(0)
    return answers


def _serial(model: Model, clients: list[list[Call]], answers: list[list[object]], left: object) -> Model | None:
    """The oracle after an order of the calls that explains all answers and ``left``; None if there is no such order."""
    if not any(clients):
        return model if typed(model.snapshot()) == left else None
    for index, calls in enumerate(clients):
        if not calls:
            continue
        trial = deepcopy(model)
        if typed(expected(trial, calls[0])) != answers[index][0]:
            continue
        rest = [part[1:] if at == index else part for at, part in enumerate(clients)]
        others = [part[1:] if at == index else part for at, part in enumerate(answers)]
        found = _serial(trial, rest, others, left)
        if found is not None:
            return found
    return None
