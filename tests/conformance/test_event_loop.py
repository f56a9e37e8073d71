"""What stands still is measured against the machine: a slow one refuses nobody, and a quick one shows half a second."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from conformance import Capability, Harness, Status
from conformance.check import Check
from conformance.checks import event_loop
from conformance.runner import applicable, run_check
from saga_backends.memory import MemoryState
from saga_core.stores import Batch, Key


class StandsStill(MemoryState):
    """For almost half a second beside a large commit."""

    async def commit(self, batch: Batch, *, expected: Mapping[Key, bytes | None] | None = None) -> None:
        await super().commit(batch, expected=expected)
        if len(batch.puts) >= 1_000:
            time.sleep(0.45)  # noqa: ASYNC251 - what is measured


async def stands_still(path: Path) -> Any:
    return StandsStill()


HARNESS = Harness("stands still", "state", stands_still, {Capability.RESIDENT})


def large() -> Check:
    (found,) = (check for check in applicable(HARNESS) if check.id == "L-8.large_calls")
    return found


def test_less_than_half_a_second_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_loop, "_ruler", lambda: 0.005)
    monkeypatch.setattr(event_loop, "_waited", lambda: 0.0)  # beside other tests nearly all of it would be taken off
    outcome = run_check(HARNESS, large())
    assert outcome.status is Status.FAIL
    assert "during a large commit" in outcome.detail


def test_a_machine_on_which_plain_python_takes_longer_has_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    real = event_loop._ruler
    monkeypatch.setattr(event_loop, "_ruler", lambda: 40 * real())
    assert run_check(HARNESS, large()).status is Status.PASS


def test_time_for_which_others_had_the_processors_is_taken_off(monkeypatch: pytest.MonkeyPatch) -> None:
    waits = iter(range(1_000_000))
    monkeypatch.setattr(event_loop, "_waited", lambda: float(next(waits)))
    assert run_check(HARNESS, large()).status is Status.PASS
