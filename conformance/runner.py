"""Running checks in this process, each with an event loop and a directory of its own.

Checks that are coroutine functions get a timeout. Checks that are plain functions, and calls that block the event loop,
cannot be interrupted in this process. ``isolated`` kills its worker process when such a check hangs.
"""

from __future__ import annotations

import asyncio
import inspect
import secrets
import tempfile
import traceback
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from time import perf_counter
from typing import Any

from attrs import evolve

from conformance import pending
from conformance.assertions import IT_ENDS, CheckFailed
from conformance.case import Case, Hangs, within
from conformance.check import Check
from conformance.checks import registered
from conformance.harness import Harness
from conformance.profiles import PROFILES
from conformance.report import Outcome, Report, Status, report_on
from conformance.spec import clauses
from saga_core.errors import BadInput, StoreUnavailable
from saga_core.stores.validate import check_store

DEFAULT_SEED = 20_260_101
_HINT = " (for a service that occasionally rejects calls, set Harness(retries=…) to the number of retries)"
_PATIENCE, _BRIEF_PATIENCE = 300.0, 100.0
"""Timeout in seconds for a check that is a coroutine function, and in a quick run. A check that takes longer hangs."""
_HANGS = 3
"""The checks after which a store that hangs is waited for a tenth as long: it is nonconformant anyway."""
_hung = Counter[str]()
"""The checks of this process that did not end, by the harness's name."""


def applicable(harness: Harness) -> tuple[Check, ...]:
    """The checks that the suite has for such a store, including those that are "not provided"."""
    concerned = (found for found in registered() if found.concerns(harness.kind, harness.provides))
    return tuple(found.of(harness.provides) for found in concerned)


def check_choice(profile: str, only: Iterable[str]) -> frozenset[str]:
    """Check ``profile`` and return ``only`` as a set. Raises ``BadInput`` for an unknown profile, clause or check."""
    if profile not in PROFILES:
        raise BadInput(f"profile: {profile!r}; there are {', '.join(PROFILES)}")
    chosen = frozenset(only)
    known = {name for found in registered() for name in (found.id, *found.clauses, *found.durable)}
    for name in chosen - known:
        raise BadInput(f"only: no clause or check {name!r}")
    return chosen


def run(
    harness: Harness,
    *,
    profile: str = "default",
    seed: int = DEFAULT_SEED,
    only: Iterable[str] = (),
    runs: int = 1,
    watch: Callable[[Outcome], None] | None = None,
) -> Report:
    """Run all checks for the store, or only the clauses and checks named in ``only``. The rest is "not run".

    Checks that use the seed are run ``runs`` times, each with another seed, and fail if one of these runs fails.
    ``watch`` receives each outcome as it is known. Raises ``BadInput`` for an unknown profile, clause or check.
    """
    chosen = check_choice(profile, only)
    engine = preflight(harness)
    checks = applicable(harness)
    outcomes: list[Outcome] = []
    for found in checks:
        if chosen and found.id not in chosen and not chosen.intersection(found.clauses):
            outcomes.append(Outcome(found.id, found.clauses, Status.NOT_RUN, extended=found.extended, must=found.must))
        else:
            outcomes.append(repeated(harness, found, profile=profile, seed=seed, runs=runs))
        if watch is not None:
            watch(outcomes[-1])
    return report_on(harness, outcomes, profile=profile, seed=seed, engine=engine, runs=runs, only=chosen)


class _Misfit(BadInput):
    """What ``open`` gives is no such store. A ``BadInput`` of the store itself is not one of these."""


def preflight(harness: Harness) -> str:
    """Open the store once. Returns the version in its ``info``, or a text that says why it cannot be opened.

    Raises ``BadInput`` if ``open`` is not asynchronous, takes no path, or gives no store of the harness's kind. All
    checks would fail then, each in a way of its own.
    """
    where = f"harness {harness.name!r}"

    async def look(folder: Path) -> object:
        try:
            inspect.signature(harness.open).bind(folder)
        except TypeError as misfit:
            raise _Misfit(f"{where}: open cannot be called with the path of a folder: {misfit}") from misfit
        opening: Any = harness.open(folder)
        if not inspect.isawaitable(opening):
            raise _Misfit(f"{where}: open gave a {type(opening).__name__} at once; write it with async def")
        store: Any = await pending.asked("open", opening)
        try:
            check_store(where, harness.kind, store)
        except BadInput as misfit:
            raise _Misfit(str(misfit)) from misfit
        finally:
            if inspect.iscoroutinefunction(getattr(store, "aclose", None)):
                await pending.asked(f"{type(store).__name__}.aclose", store.aclose())
        return store.info.version

    with tempfile.TemporaryDirectory(prefix=secrets.token_hex(4)) as folder, asyncio.Runner() as runner:
        try:
            return str(runner.run(look(Path(folder))))
        except _Misfit:
            raise
        except Exception as error:  # noqa: BLE001 - every check will report this error
            return f"cannot be opened: {error}"


def repeated(harness: Harness, check: Check, *, profile: str, seed: int, runs: int) -> Outcome:
    """Call ``run_check``. If the check passes and uses the seed, repeat it with the next seeds until one run fails."""
    first = run_check(harness, check, profile=profile, seed=seed)
    for number in range(1, runs):
        if not (first.drawn and first.status is Status.PASS):
            break
        again = run_check(harness, check, profile=profile, seed=seed + number)
        seconds = round(first.seconds + again.seconds, 3)
        if again.status is not Status.PASS:
            detail = f"passed {number} times, then failed with the seed {seed + number}: {again.detail}"
            return evolve(again, detail=detail, seconds=seconds)
        first = evolve(first, seconds=seconds)
    return first


def run_check(harness: Harness, check: Check, *, profile: str = "default", seed: int = DEFAULT_SEED) -> Outcome:
    """Run one check. Whatever the store does becomes an outcome, never an exception."""
    start, drawn = perf_counter(), False
    if check.given - harness.provides:
        status, detail = Status.NOT_PROVIDED, ", ".join(sorted(check.given - harness.provides))
    else:
        broken, detail, drawn = _broken(harness, check, profile, seed)
        status = Status.PASS if broken is None else Status.FAIL
        about = broken or ()
        if broken is not None and set(about or check.clauses) & set(harness.deviations):
            status = Status.DEVIATION
    seconds = round(perf_counter() - start, 3)
    return Outcome(check.id, check.clauses, status, detail, seconds, check.extended, check.must, drawn)


def _broken(harness: Harness, check: Check, profile: str, seed: int) -> tuple[tuple[str, ...] | None, str, bool]:
    """Run the check and return the broken clauses, a text, and whether the check used the seed.

    The clauses are None if the check passed, and empty if the failure concerns the check's own clauses.
    """
    pending.clear()
    drawn = False
    try:
        with tempfile.TemporaryDirectory(prefix=secrets.token_hex(4)) as folder, asyncio.Runner() as runner:
            case = Case(harness, Path(folder), PROFILES[profile], seed, runner)
            try:
                return None, _perform(case, check), case.drawn
            finally:
                drawn = case.drawn
    except CheckFailed as failed:
        named = [clauses()[name] for name in failed.clause.split()]
        rules = "".join(f"\n{clause.id} {clause.level}. {clause.text}" for clause in named)
        return tuple(failed.clause.split()), f"{failed}{rules}", drawn
    except Hangs as hung:
        _hung[harness.name] += 1
        calls = ", ".join(dict.fromkeys(name for name, _ in pending.calls))
        most = max(pending.answered, key=lambda name: sum(pending.answered[name]), default="")
        took = pending.answered.get(most, [])
        slow = f"; {most} took {sum(took):.3g} seconds for its answers ({len(took)})" if sum(took) > 1 else ""
        return (), f"{hung}{slow}{f'; calls without an answer: {calls}{IT_ENDS}' if calls else ''}", drawn
    except (Exception, SystemExit) as error:  # noqa: BLE001 - any error that escapes from a store is an outcome too
        found: BaseException | None = error
        while found is not None and not isinstance(found, SystemExit):  # it breaks the event loop, which raises more
            found = found.__context__
        escaped = found or error
        where = "".join(traceback.format_exception(escaped)[-6:])
        hint = _HINT if isinstance(error, StoreUnavailable) else ""
        return (), f"{type(escaped).__name__} escaped: {escaped}{hint}\n{where}", drawn


def _perform(case: Case, check: Check) -> str:
    """Run the check and return what it measured or left out as text, which is empty for most checks."""
    told: Any
    try:
        alone = not inspect.iscoroutinefunction(check.run)
        told = check.run(case) if alone else case.runner.run(_within(case, check))
    finally:
        case.runner.run(case.close())
    return told if isinstance(told, str) else ""


async def _within(case: Case, check: Check) -> Any:
    patience = _BRIEF_PATIENCE if case.brief else _PATIENCE
    async with within(patience / 10 if _hung[case.harness.name] >= _HANGS else patience, "the check"):
        case.store = await case.open()
        made = check.run(case)
        return await made if isinstance(made, Awaitable) else made
