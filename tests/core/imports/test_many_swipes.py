"""A chat with many swipes: what is done with its turns afterwards grows with their number, and not with its square."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from saga_core import Saga
from saga_core.maintenance import ImportOptions
from saga_core.model import Tree
from tests.core.imports import samples

LEVELS = 12


def chat(swipes: int) -> bytes:
    rows: list[Any] = [samples.HEADER]
    for level in range(LEVELS):
        told = [
            f"On day {level} the ferry comes.",
            *(f"On day {level} ship {number} goes." for number in range(swipes)),
        ]
        rows.append(samples.message("Alex", f"I wait for day {level}.", user=True))
        rows.append(samples.message("Ysolde", told[0], swipes=told, swipe_id=0))
    return samples.jsonl(*rows)


async def asked(swipes: int, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often the tree is asked while such a chat is imported and all that follows is done."""
    calls: Counter[str] = Counter()

    def counting(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*given: Any) -> Any:
            calls[name] += 1
            return real(*given)

        return counted

    with monkeypatch.context() as patched:
        for name in ("get", "ancestor_at", "is_ancestor"):
            patched.setattr(Tree, name, counting(name, getattr(Tree, name)))
        async with Saga.open({"storage": {"profile": "memory"}}) as saga:
            found = await saga.maintenance.import_files([("one.jsonl", chat(swipes))], ImportOptions())
            assert found.things[0].counts == {"turns": LEVELS, "swipes": LEVELS * swipes, "branches": 0}
            assert (await saga.drain(60)).waiting == ()
            session = found.things[0].session
            assert session is not None
            graph = saga.stores.graph
            live = await saga.parts.live.get(session)
            assert live.head in {await graph.watermark(f"{session}.{slot}") for slot in range(4)}
    return calls


async def test_work_grows_with_the_turns_and_not_with_their_square(monkeypatch: pytest.MonkeyPatch) -> None:
    few, many = await asked(6, monkeypatch), await asked(24, monkeypatch)
    turns = LEVELS * 25
    assert sum(many.values()) < 5 * sum(few.values()), "25 / 7 times as many turns"
    assert sum(many.values()) < 20 * turns
