"""A run in which the harness is loaded in a worker process and the verdict is made in this process.

The worker reports the outcome of each check. This process chooses the checks, inserts canaries between them, compares
the digest of the worker's loaded code with its own, and decides the verdict. The run is invalid if the worker ends
early, judges a canary wrongly, or runs changed code. An answer for another check counts as "not run".

A worker that does not answer in time hangs and is killed. Its check fails, the remaining checks are "not run".
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import select
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from random import SystemRandom
from time import monotonic
from typing import Any

from conformance.check import Check
from conformance.harness import Harness
from conformance.report import Outcome, Report, Status, report_on
from conformance.runner.canaries import CANARIES
from conformance.runner.in_process import DEFAULT_SEED, applicable, check_choice
from conformance.runner.loaded_code import code_digest
from saga_core.capabilities import Capability
from saga_core.errors import BadInput
from saga_core.stores import Limits

_TELLING = ("PYTEST_", "SAGA_CONFORMANCE")
"""Prefixes of environment variables that would tell a store that the suite runs it."""


_ERRORS = 2
"""The file descriptor (stderr) for the worker's stdout, so that prints of a harness do not mix with the answers."""


_LIMITS = {"quick": 900.0, "default": 900.0, "deep": 6 * 3600.0}
"""Timeout in seconds for one answer of the worker, that is for one run of one check, by profile.

It is longer than the timeout of a coroutine in ``in_process``, so it only ends what that one cannot interrupt.
"""


class _Worker:
    """The worker process and the two pipes to it. ``hung`` has the text for a check that did not answer in time."""

    hung = ""

    def __init__(self, place: str, profile: str, seed: int, runs: int) -> None:
        self.limit = _LIMITS[profile] * max(1, runs)
        answers, theirs = os.pipe()
        environ = {name: value for name, value in os.environ.items() if not name.startswith(_TELLING)}
        environ["PYTHONPATH"] = os.pathsep.join(part or os.curdir for part in sys.path)
        self.compiled = tempfile.TemporaryDirectory(prefix=secrets.token_hex(4), ignore_cleanup_errors=True)
        if sys.dont_write_bytecode:
            # About forty processes open a store. Without a cache each would compile the engine and the suite again.
            environ.pop("PYTHONDONTWRITEBYTECODE", None)
            environ["PYTHONPYCACHEPREFIX"] = self.compiled.name
        flags = ["-O"] if sys.flags.optimize else []
        command = [
            sys.executable,
            *flags,
            "-m",
            "conformance.runner",
            place,
            profile,
            str(seed),
            str(runs),
            str(theirs),
        ]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=_ERRORS, env=environ, pass_fds=(theirs,), text=True
        )
        os.close(theirs)
        self.answers = answers
        self.unread = b""

    def said(self) -> dict[str, Any]:
        """Read the next line. Returns an empty dict if there is none. Kills the worker if none comes in time."""
        end, poll = monotonic() + self.limit, select.poll()
        poll.register(self.answers, select.POLLIN)
        while b"\n" not in self.unread:
            if self.hung:
                return {}
            if not poll.poll(max(0.0, end - monotonic()) * 1_000):
                self.hung = f"no answer for {self.limit:g} seconds: a call hangs, and the process was killed"
                self.process.kill()
                return {}
            part = os.read(self.answers, 65_536)
            if not part:
                return {}
            self.unread += part
        line, _, self.unread = self.unread.partition(b"\n")
        found: dict[str, Any] = json.loads(line) if line.strip() else {}
        return found

    def ask(self, **order: str) -> dict[str, Any]:
        """Send an order and return the answer. Returns an empty dict if the process is gone."""
        if self.process.stdin is None or self.hung:
            return {}
        try:
            self.process.stdin.write(json.dumps(order) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return {}
        return self.said()

    def end(self) -> None:
        """Close the worker's input and wait for its end. Kills it after 30 seconds."""
        if self.process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):  # the process is already gone
                self.process.stdin.close()
        try:
            self.process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.answers)
        self.compiled.cleanup()  # processes that a harness left running may still write there


def _harness(claims: dict[str, Any]) -> Harness:
    """A ``Harness`` with the worker's claims, whose store cannot be opened here."""

    async def nowhere(path: object) -> Any:
        raise BadInput("the store is in another process")

    return Harness(
        name=claims["name"],
        kind=claims["kind"],
        open=nowhere,
        provides=frozenset(Capability(name) for name in claims["provides"]),
        limits=Limits(**claims["limits"]),
        deviations=claims["deviations"],
        recall=claims["recall"],
    )


def _outcome(told: dict[str, Any], check: Check) -> Outcome:
    """Make the outcome of ``check``. The status, detail and time come from the worker, the rest from this process."""
    found = told.get("outcome") or {}
    status = Status(found["status"]) if found.get("check") == check.id else Status.NOT_RUN
    return Outcome(
        check.id,
        check.clauses,
        status,
        str(found.get("detail", "")),
        float(found.get("seconds", 0.0)),
        check.extended,
        check.must,
        bool(found.get("drawn")),
    )


def run_isolated(
    place: str,
    *,
    profile: str = "default",
    seed: int = DEFAULT_SEED,
    only: Iterable[str] = (),
    runs: int = 1,
    watch: Callable[[Outcome], None] | None = None,
) -> Report:
    """Like ``runner.run``, for the harness at ``package.module:NAME``. Raises ``BadInput`` if there is none."""
    chosen = check_choice(profile, only)
    code = code_digest()
    worker = _Worker(place, profile, seed, runs)
    try:
        first = worker.said()
        if "refused" in first:
            raise BadInput(first["refused"])
        if not first:
            why = worker.hung or "ended without an answer"
            raise BadInput(f"harness: {place!r}: the process that loads it: {why}")
        harness = _harness(first["claims"])
        outcomes, doubts = _asked(worker, harness, chosen, code, watch)
        if first["code"] != code:
            doubts.insert(0, "the harness changed the suite when it was loaded")
    finally:
        worker.end()
    return report_on(
        harness, outcomes, profile=profile, seed=seed, engine=first["engine"], runs=runs, doubts=tuple(doubts)
    )


def _asked(
    worker: _Worker,
    harness: Harness,
    chosen: frozenset[str],
    code: str,
    watch: Callable[[Outcome], None] | None,
) -> tuple[list[Outcome], list[str]]:
    """Return the outcomes of the checks, and the reasons not to trust the run."""
    outcomes: list[Outcome] = []
    doubts: dict[str, None] = {}
    wanted = applicable(harness)
    canaries = list(CANARIES)
    SystemRandom().shuffle(canaries)
    places = sorted(SystemRandom().sample(range(max(len(wanted), len(canaries))), len(canaries)))
    for number, check in enumerate(wanted):
        while places and (places[0] <= number or number == len(wanted) - 1):
            places.pop(0)
            doubts |= dict.fromkeys(_canary(worker, canaries.pop()))
        if chosen and check.id not in chosen and not chosen.intersection(check.clauses):
            outcomes.append(Outcome(check.id, check.clauses, Status.NOT_RUN, extended=check.extended, must=check.must))
            continue
        before = worker.hung
        told = worker.ask(check=check.id)
        if worker.hung and not before:
            told = {"outcome": {"check": check.id, "status": "fail", "detail": worker.hung, "seconds": worker.limit}}
            doubts[f"{check.id}: {worker.hung}"] = None
        elif not told:
            doubts["the process that ran the checks ended before it had answered"] = None
        elif told.get("code") != code:
            doubts["the harness changed the suite while it ran"] = None
        outcomes.append(_outcome(told, check))
        if watch is not None:
            watch(outcomes[-1])
    return outcomes, list(doubts)


def _canary(worker: _Worker, name: str) -> list[str]:
    _, check, passes = CANARIES[name]
    found = worker.ask(canary=name).get("outcome") or {}
    told = found.get("check") == check and found.get("status")
    if told == (Status.PASS if passes else Status.FAIL):
        return []
    return [f"a test store of the suite ({name}) was judged wrongly: {told or 'no answer'}"]
