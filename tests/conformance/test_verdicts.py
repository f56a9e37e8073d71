"""What a run says: verdicts, deviations, and lies that it is not taken in by."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from conformance import Capability, Harness, Status, Verdict, checks, run
from conformance.assertions import shown
from conformance.report import Outcome, from_json, judged, suite_digest, summary, to_json, to_junit
from conformance.runner import applicable
from saga_backends.memory import MemoryState
from saga_core.errors import NotFound
from saga_core.stores import StoreInfo
from tests.conformance.forgetful import (
    DEFLATES,
    FORGETFUL,
    LATE_DROP,
    Deflated,
    KeepsClear,
    KeepsDeflated,
    deflated,
    inflated,
)
from tests.conformance.harnesses import HARNESSES

MEMORY = HARNESSES["state-memory"]


async def nothing(path: Path) -> Any:
    raise NotFound("no engine here")


def statuses(report: Any) -> dict[str, Status]:
    return {outcome.check: outcome.status for outcome in report.outcomes}


def test_what_was_not_run_makes_a_run_partial() -> None:
    report = run(MEMORY, profile="quick", only=["S-1"])
    assert report.verdict is Verdict.PARTIAL
    assert statuses(report)["S-1.get_gives_those_that_exist"] is Status.PASS
    assert statuses(report)["S-2.values_byte_for_byte"] is Status.NOT_RUN
    assert report.base[0] < report.base[1]


def test_a_failure_is_told_with_its_clause() -> None:
    report = run(FORGETFUL, profile="quick", only=["S-1"])
    assert report.verdict is Verdict.NONCONFORMANT
    assert "S-1 MUST. `get` returns the value" in summary(report)
    assert "S-1.get_gives_those_that_exist (S-1): fail" in report.reasons


def test_a_long_value_is_told_in_brief() -> None:
    failed = Outcome("state.x", ("S-1",), Status.FAIL, f"commit(b'{'x' * 257}') gave 2", must=True)
    report = run(MEMORY, profile="quick", only=["S-1"])
    assert "  | commit(b'xxxx…(257 of them)…') gave 2\n" in summary(evolve(report, outcomes=(failed,)))


def test_a_store_that_does_not_open_is_nonconformant_and_nothing_is_raised() -> None:
    report = run(evolve(FORGETFUL, open=nothing), profile="quick", only=["S-1", "S-2"])
    assert report.verdict is Verdict.NONCONFORMANT
    assert "no engine here" in report.versions["engine"]


def test_no_check_is_no_verdict() -> None:
    report = run(HARNESSES["graph-networkx"], profile="quick", only=["G-31"])
    assert report.verdict is Verdict.PARTIAL, "an extended check"
    report = run(HARNESSES["graph-networkx"], profile="quick", only=["L-12"])
    assert report.verdict is Verdict.INVALID, "the store is not durable"
    assert report.reasons == ("no check was run",)


def test_a_suite_with_a_check_missing_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    left = {name: check for name, check in checks.REGISTERED.items() if "S-12" not in check.clauses}
    monkeypatch.setattr(checks, "REGISTERED", left)
    report = run(MEMORY, profile="quick", only=["S-1"])
    assert report.verdict is Verdict.INVALID
    assert report.reasons == ("clause S-12 has no check of its own",)


def test_a_known_deviation_is_no_failure_and_is_shown() -> None:
    harness = evolve(FORGETFUL, deviations={"S-1": "it forgets"})
    report = run(harness, profile="quick", only=["S-1"])
    assert statuses(report)["S-1.get_gives_those_that_exist"] is Status.DEVIATION
    assert report.verdict is Verdict.PARTIAL
    assert report.deviations == {"S-1": "it forgets"}


def test_a_deviation_that_is_not_there_is_red() -> None:
    report = run(evolve(MEMORY, deviations={"S-12": "it loses updates"}), profile="quick", only=["S-12"])
    assert report.verdict is Verdict.NONCONFORMANT
    assert statuses(report)["deviation.S-12"] is Status.STALE


def test_a_store_that_hides_a_capability_is_caught() -> None:
    report = run(evolve(HARNESSES["graph-networkx"], provides=frozenset({Capability.RESIDENT})), profile="quick")
    broken = {name for outcome in report.outcomes if outcome.status is Status.FAIL for name in outcome.clauses}
    assert broken == {"L-2", "G-32"}


class SlowState(MemoryState):
    """Answers reads after 20 ms, and declares that it is resident."""

    @property
    def info(self) -> StoreInfo:
        return evolve(super().info, capabilities=MEMORY.provides | {Capability.RESIDENT})

    async def get(self, keys: Any) -> Any:
        await asyncio.sleep(0.02)
        return await super().get(keys)


async def slow(path: Path) -> Any:
    return SlowState()


def test_a_resident_store_with_slow_reads_is_refused() -> None:
    harness = evolve(MEMORY, open=slow, provides=MEMORY.provides | {Capability.RESIDENT})
    report = run(harness, profile="quick", only=["L-2"])
    assert report.verdict is Verdict.NONCONFORMANT
    assert "it declares resident, but get" in summary(report)


class Says:
    """A right store that declares other capabilities than it has."""

    def __init__(self, store: Any, *capabilities: Capability) -> None:
        self._store, self._capabilities = store, frozenset(capabilities)

    @property
    def info(self) -> StoreInfo:
        return evolve(self._store.info, capabilities=self._capabilities)

    async def compact(self) -> None:
        if hasattr(self._store, "compact"):
            await self._store.compact()

    def hold(self, scope: str) -> None: ...

    def release(self, scope: str) -> None: ...

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


async def says(of: str, said: tuple[Capability, ...], path: Path) -> Any:
    return Says(await HARNESSES[of].open(path), *said)


def saying(of: str, *said: Capability) -> Harness:
    return evolve(HARNESSES[of], open=partial(says, of, said), provides=said)


@pytest.mark.parametrize(
    ("of", "lie", "clauses"),
    [
        pytest.param("vector-memory", Capability.DURABLE, ("L-11", "L-12"), marks=pytest.mark.deep),
        ("state-memory", Capability.COMPACTS, ("L-24",)),
        ("vector-memory", Capability.COMPACTS, ("L-24",)),
        ("state-memory", Capability.SHARED, ("L-15",)),
        ("vector-memory", Capability.SHARED, ("L-15",)),
    ],
)
def test_a_capability_that_is_declared_and_not_there_is_refused(
    of: str, lie: Capability, clauses: tuple[str, ...]
) -> None:
    report = run(saying(of, lie, Capability.RESIDENT), profile="quick", only=["L-1", *clauses])
    broken = {name for outcome in report.outcomes if outcome.status is Status.FAIL for name in outcome.clauses}
    assert {*clauses} <= broken
    assert report.verdict is Verdict.NONCONFORMANT


def test_a_capability_that_is_there_and_not_declared_is_noted_alone() -> None:
    report = run(saying("state-sqlite"), profile="quick", only=["L-2", "S-1"])
    assert Status.FAIL not in statuses(report).values()
    assert "there when the store is opened again, but durable is not declared" in summary(report)
    assert "compact can be called, but compacts is not declared" in summary(report)
    silent = run(MEMORY, profile="quick", only=["L-2"])
    assert "noted" not in summary(silent)


def test_compacting_reaches_what_was_replaced_and_dropped() -> None:
    for of in ("state-sqlite", "vector-sqlite"):
        report = run(saying(of, *HARNESSES[of].provides, Capability.COMPACTS), profile="quick", only=["L-24"])
        assert statuses(report)["L-24.compacting_leaves_nothing"] is (
            Status.PASS if of == "state-sqlite" else Status.FAIL
        ), summary(report)


_DEFLATED = Harness("deflated", "cache", partial(deflated, Deflated), DEFLATES)


def _broken(file: Path) -> bytes:
    raise ValueError("no such file in the archive")


@pytest.mark.parametrize(
    ("harness", "told"),
    [
        (_DEFLATED, "if the store compresses or encrypts, give Harness(contents=…), which decodes a file"),
        (evolve(_DEFLATED, contents=inflated), ""),
        (evolve(_DEFLATED, contents=inflated, open=partial(deflated, KeepsDeflated)), "still in old"),
        (evolve(_DEFLATED, contents=inflated, open=partial(deflated, KeepsClear)), "still in log"),
        (evolve(_DEFLATED, contents=lambda file: b""), "is in no file of the store"),
        (evolve(_DEFLATED, contents=lambda file: "x"), "Harness.contents gave a str for "),
        (evolve(_DEFLATED, contents=_broken), "Harness.contents raised ValueError for "),
    ],
)
def test_what_a_store_compresses_is_looked_for_decoded(harness: Harness, told: str) -> None:
    report = run(harness, profile="quick", only=["L-24"])
    wanted = Status.FAIL if told else Status.PASS
    assert statuses(report)["L-24.compacting_leaves_nothing"] is wanted, summary(report)
    assert told in summary(report)


def test_a_drop_that_reaches_the_disk_later_is_refused() -> None:
    report = run(LATE_DROP, profile="quick", only=["L-12.after_each_sort_of_write"])
    assert statuses(report)["L-12.after_each_sort_of_write"] is Status.FAIL
    assert "killed after drop(" in summary(report)


def test_a_store_that_deviates_everywhere_is_nonconformant() -> None:
    """What a harness declares excuses single clauses, and no store as a whole."""
    found = tuple(
        Outcome(each.id, each.clauses, Status.DEVIATION, must=True) for each in applicable(MEMORY) if not each.extended
    )
    verdict, reasons, _, _ = judged(found)
    assert verdict is Verdict.NONCONFORMANT
    assert reasons == (f"{len(found)} base checks deviate by declaration, and 0 pass",)
    few = (evolve(found[0], status=Status.DEVIATION), *(evolve(each, status=Status.PASS) for each in found[1:]))
    assert judged(few)[0] is Verdict.PARTIAL


def test_a_value_whose_repr_raises_is_still_told() -> None:
    class Odd:
        def __repr__(self) -> str:
            raise RuntimeError("no")

    assert shown(Odd()) == "a Odd whose repr raises RuntimeError"


def test_a_verdict_repeats() -> None:
    first, second = (run(FORGETFUL, profile="quick", seed=7) for _ in range(2))
    told = [[(o.check, o.status, o.detail) for o in report.outcomes] for report in (first, second)]
    assert told[0] == told[1]
    assert first.suite == second.suite == suite_digest()


def test_reports_are_read_as_they_were_written() -> None:
    report = run(FORGETFUL, profile="quick", only=["S-1", "S-3"])
    assert from_json(to_json(report)) == report
    assert 'failures="' in to_junit(report)
    odd = evolve(report, outcomes=(Outcome("x", ("S-1",), Status.FAIL, "control \0 \x1b signs, \ud800"),))
    assert "control \\x00 \\x1b signs, \\ud800" in to_junit(odd)
