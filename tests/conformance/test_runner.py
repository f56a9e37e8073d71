"""Which checks are run."""

from __future__ import annotations

import asyncio
import os
import re
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from conformance import Capability, Harness, Outcome, Status, case, run, runner
from conformance.checks import registered
from conformance.runner import run_check
from saga_backends.memory import MemoryState, MemoryVector
from saga_core.errors import BadInput, Conflict
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
        if self.wrong == "scan is slow":
            await asyncio.sleep(0.6)
        return await super().scan(*args, **options)

    async def aclose(self) -> None:
        if self.wrong == "end hangs":
            await asyncio.Event().wait()
        await super().aclose()


def _late(wrong: str, profile: str = "default", name: str = "S-4.scan_in_order") -> Outcome:
    async def opened(path: Path) -> Any:
        store = Late()
        store.wrong = wrong
        return store

    (scan,) = (check for check in registered() if check.id == name)
    return run_check(evolve(MEMORY, name=wrong, open=opened), scan, profile=profile)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ("scan hangs", "the check did not end within 0.5 seconds; calls without an answer: Late.scan"),
        (
            "end hangs",
            "a call with a timeout of its own did not end within 0.25 seconds; calls without an answer: Late.aclose",
        ),
        ("scan gives up", "TimeoutError escaped: no answer from the server"),
    ],
)
def test_a_timeout_is_told_with_its_own_seconds(wrong: str, told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "_PATIENCE", 0.5)
    monkeypatch.setattr(case, "PATIENCE", 0.25)
    outcome = _late(wrong)
    assert outcome.status is Status.FAIL
    assert outcome.detail.splitlines()[0] == told


def test_a_slow_store_does_not_look_like_one_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "_PATIENCE", 1.5)
    told = _late("scan is slow", name="S-5.prefixes_match_whole_segments").detail
    assert re.match(r"the check did not end within 1.5 seconds; Late.scan took 1.\d+ seconds for its answers", told)


def test_a_quick_check_hangs_sooner(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "_BRIEF_PATIENCE", 0.25)
    told = "the check did not end within {} seconds; calls without an answer: Late.scan\n"
    assert _late("scan hangs", "quick").detail.startswith(told.format("0.25"))
    assert [_late("scan hangs", "quick").detail for _ in range(3)][-1].startswith(told.format("0.025")), (
        "after three it is clear"
    )


class OneAtATime(MemoryVector):
    """Finishes each query before it begins the next one, also if it was cancelled. ``stuck``: then none ends."""

    def __init__(self) -> None:
        super().__init__()
        self.stuck = False
        self._turn = asyncio.Lock()

    async def query(self, *args: Any, **named: Any) -> Any:
        return await asyncio.shield(self._query(*args, **named))

    async def _query(self, *args: Any, **named: Any) -> Any:
        async with self._turn:
            await asyncio.sleep(0.002)
            return await super().query(*args, **named)

    async def upsert(self, *args: Any, **named: Any) -> None:
        try:
            await asyncio.sleep(0)
            await asyncio.sleep(3_600 if self.stuck else 0)
            await super().upsert(*args, **named)
        except asyncio.CancelledError:
            self.stuck = self.sticks
            raise

    sticks = False


class Sticks(OneAtATime):
    sticks = True


@pytest.mark.parametrize(
    ("store", "told"), [(OneAtATime, ""), (Sticks, "a write, behind 325 cancelled calls, did not")]
)
def test_a_slow_store_has_time_for_what_was_cancelled(
    store: type[OneAtATime], told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def opened(_: Path) -> Any:
        return store()

    monkeypatch.setattr(case, "PATIENCE", 0.05)
    (cancelled,) = (each for each in registered() if each.id == "L-9.a_hundred_cancelled")
    outcome = run_check(Harness("slow", "vector", opened, {Capability.RESIDENT}), cancelled)
    assert (outcome.status is Status.FAIL) == bool(told), outcome.detail
    assert told in outcome.detail


def test_a_store_without_a_file_that_grows_is_told_so() -> None:
    """``FileState`` replaces its file at each commit."""
    (torn,) = (check for check in registered() if check.id == "L-22.torn_tails")
    outcome = run_check(harness(FileState), torn, profile="quick")
    assert outcome.status is Status.PASS
    assert outcome.detail == "nothing was cut off: neither of the two writes only appended to exactly one file"


async def _talks(path: Path) -> Any:
    """A state store that prints when it is opened, as an engine in C does, too, and more than a pipe holds."""
    print("opened")
    os.write(1, b"engine 1.2\n" * 10_000)
    return await HARNESSES["state-sqlite"].open(path)


@pytest.mark.parametrize("check", ["L-13", "L-14"])
def test_a_store_may_print(check: str) -> None:
    report = run(evolve(HARNESSES["state-sqlite"], open=_talks), only=[check])
    found = [(each.status, each.detail) for each in report.outcomes if each.status is not Status.NOT_RUN]
    assert {status for status, _ in found} == {Status.PASS}, found


class Exits(MemoryState):
    """It ends the process in the middle of a call, as it thinks."""

    async def commit(self, *args: Any, **named: Any) -> None:
        raise SystemExit(3)


class AlwaysConflicts(MemoryState):
    """It refuses what is as expected, and never waits."""

    async def commit(self, batch: Any, *, expected: Any = None) -> None:
        for key in expected or {}:
            raise Conflict(key)
        await super().commit(batch)


@pytest.mark.parametrize(
    ("made", "check", "told"),
    [
        (Exits, "S-1.get_gives_those_that_exist", "SystemExit escaped: 3"),
        (AlwaysConflicts, "S-12.many_writers", "commit raised Conflict 100 times for what get had returned"),
        (AlwaysConflicts, "S-12.no_update_is_lost", "commit raised Conflict 100 times for what get had returned"),
    ],
)
def test_what_would_end_or_delay_the_run_is_an_outcome(made: Any, check: str, told: str) -> None:
    async def opened(path: Path) -> Any:
        return made()

    (chosen,) = (each for each in registered() if each.id == check)
    outcome = run_check(evolve(MEMORY, open=opened), chosen)
    assert outcome.status is Status.FAIL and outcome.detail.startswith(told)
