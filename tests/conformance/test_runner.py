"""Which checks are run."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from conformance import Outcome, Status, case, run, runner
from conformance.checks import registered
from conformance.runner import run_check
from saga_backends.memory import MemoryState
from saga_core.errors import BadInput
from tests.conformance.harnesses import HARNESSES
from tests.mutants.stores_durable import FileState
from tests.mutants.stores_registry import harness

MEMORY = HARNESSES["state-memory"]


@pytest.mark.parametrize(
    ("options", "told"), [({"profile": "slow"}, "profile"), ({"only": ["Z-1"]}, "no clause or check 'Z-1'")]
)
def test_unknown_profiles_and_clauses_are_refused(options: dict[str, Any], told: str) -> None:
    with pytest.raises(BadInput, match=told):
        run(MEMORY, **options)


def test_a_check_that_is_not_provided_is_not_run() -> None:
    (durable,) = (check for check in registered() if check.id == "L-12.killed")
    outcome = run_check(MEMORY, durable)
    assert (outcome.status, outcome.detail) == (Status.NOT_PROVIDED, "durable")


class Late(MemoryState):
    """Its ``scan`` never ends or has a timeout of its own, and neither has its end."""

    wrong = ""

    async def scan(self, *args: Any, **options: Any) -> Any:
        if self.wrong == "scan hangs":
            await asyncio.Event().wait()
        if self.wrong == "scan gives up":
            raise TimeoutError("no answer from the server")
        return await super().scan(*args, **options)

    async def aclose(self) -> None:
        if self.wrong == "end hangs":
            await asyncio.Event().wait()
        await super().aclose()


def _late(wrong: str) -> Outcome:
    async def opened(path: Path) -> Any:
        store = Late()
        store.wrong = wrong
        return store

    (scan,) = (check for check in registered() if check.id == "S-4.scan_in_order")
    return run_check(evolve(MEMORY, open=opened), scan)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ("scan hangs", "the check took longer than 0.5 seconds: a call hangs"),
        ("end hangs", "a call with a timeout of its own took longer than 0.25 seconds: a call hangs"),
        ("scan gives up", "TimeoutError escaped: no answer from the server"),
    ],
)
def test_a_timeout_is_told_with_its_own_seconds(wrong: str, told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "_PATIENCE", 0.5)
    monkeypatch.setattr(case, "PATIENCE", 0.25)
    outcome = _late(wrong)
    assert outcome.status is Status.FAIL
    assert outcome.detail.splitlines()[0] == told


def test_a_store_without_a_file_that_grows_is_told_so() -> None:
    """``FileState`` replaces its file at each commit."""
    (torn,) = (check for check in registered() if check.id == "L-22.torn_tails")
    outcome = run_check(harness(FileState), torn, profile="quick")
    assert outcome.status is Status.PASS
    assert outcome.detail == "nothing was cut off: neither of the two writes only appended to exactly one file"
