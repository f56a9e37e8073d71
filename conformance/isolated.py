"""A run in which the harness is loaded in a worker process and the verdict is made in this process.

The worker reports the outcome of each check. This process chooses the checks, inserts canaries between them, compares
the digest of the worker's loaded code with its own, and decides the verdict. The run is invalid if the worker ends
early, judges a canary wrongly, or runs changed code. An answer for another check counts as "not run".

A worker that does not answer in time hangs and is killed. Its check fails, the remaining checks are "not run".

The canaries are small StateKVs that come with the suite, one correct and some wrong. If a harness tampers with the
runner so that everything passes, the wrong canaries pass too and reveal it. The worker reads one line of JSON for each
requested check and answers with one line on a pipe of its own; what the harness or the engine prints goes to stderr.
"""

from __future__ import annotations

import contextlib
import faulthandler
import hashlib
import json
import mmap
import os
import secrets
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from random import SystemRandom
from time import monotonic
from types import CodeType, FunctionType, ModuleType
from typing import Any

from attrs import asdict

from conformance import pending
from conformance.assertions import IT_ENDS
from conformance.check import Check
from conformance.checks import registered
from conformance.harness import Harness, load_harness
from conformance.processes import ended_as
from conformance.report import Outcome, Report, Status, report_on
from conformance.runner import DEFAULT_SEED, applicable, check_choice, preflight, repeated
from saga_core.capabilities import Capability
from saga_core.errors import BadInput, Closed, Conflict
from saga_core.stores import Batch, Health, Key, Limits, StoreInfo
from saga_core.stores.validate import check_batch, check_keys, check_scan


class Canary:
    """A StateKV on a dict. ``wrong`` names the method that misbehaves, and is empty for the correct store."""

    def __init__(self, wrong: str) -> None:
        self.info = StoreInfo(kind="state", name="canary")
        self._wrong = wrong
        self._values: dict[Key, bytes] | None = {}

    def _open(self) -> dict[Key, bytes]:
        if self._values is None:
            raise Closed("the canary is closed")
        return self._values

    async def get(self, keys: Sequence[Key]) -> dict[Key, bytes]:
        """See ``StateKV.get``."""
        values = self._open()
        check_keys(keys, self.info.limits)
        found = {key: values[key] for key in keys if key in values}
        return {} if self._wrong == "get" else found

    async def scan(self, prefix: Key, *, after: Key | None = None, limit: int = 1_000) -> list[tuple[Key, bytes]]:
        """See ``StateKV.scan``."""
        values = self._open()
        check_scan(prefix, after, limit, self.info.limits)
        keys = sorted(key for key in values if key[: len(prefix)] == prefix and (after is None or key > after))
        return [(key, values[key]) for key in (keys[::-1] if self._wrong == "scan" else keys)[:limit]]

    async def commit(self, batch: Batch, *, expected: Mapping[Key, bytes | None] | None = None) -> None:
        """See ``StateKV.commit``."""
        values = self._open()
        check_batch(batch, expected, self.info.limits)
        for key, wanted in (expected or {}).items():
            if values.get(key) != wanted and self._wrong != "commit":
                raise Conflict(key)
        for key in batch.deletes:
            values.pop(key, None)
        values.update(batch.puts)

    async def check(self, *, thorough: bool = False) -> Health:
        """Report the store as healthy."""
        return Health(ok=True, detail=f"{len(self._open())} entries")

    async def aclose(self) -> None:
        """Discard all entries and close the store."""
        self._values = None


async def _opened(wrong: str, path: Path) -> Any:
    return Canary(wrong)


def _harness_of(wrong: str) -> Harness:
    return Harness("canary", "state", partial(_opened, wrong))


CANARIES: Mapping[str, tuple[Harness, str, bool]] = {
    "right get": (_harness_of(""), "S-1.get_gives_those_that_exist", True),
    "right scan": (_harness_of(""), "S-4.scan_in_order", True),
    "wrong get": (_harness_of("get"), "S-1.get_gives_those_that_exist", False),
    "wrong scan": (_harness_of("scan"), "S-4.scan_in_order", False),
    "wrong commit": (_harness_of("commit"), "S-10.expectations_decide", False),
}
"""For each name, the harness, the id of the check to run on it, and whether the check must pass."""


_WITHOUT = frozenset({"cli", "faults", "pytest_front"})
"""Modules that may be loaded in one process but not in the other. None of them affects the outcome of a check."""


def _code(code: CodeType, total: Any) -> None:
    total.update(code.co_code)
    total.update(repr(code.co_names).encode())
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            _code(constant, total)
        elif not isinstance(constant, frozenset):  # its order differs between processes
            total.update(repr(constant).encode())


def _module(module: ModuleType, total: Any) -> None:
    """Add the module's functions, the methods of its classes, and the functions that it imports."""
    for name, value in sorted(vars(module).items()):
        parts = {name: value}
        if isinstance(value, type) and value.__module__ == module.__name__:
            parts = {f"{name}.{part}": each for part, each in sorted(vars(value).items())}
        for full, each in parts.items():
            # Functions that hypothesis and attrs add to a class do not count.
            own = isinstance(each, FunctionType) and str(each.__module__).startswith(("conformance", "saga_core"))
            if own and "<attrs" not in each.__code__.co_filename:
                total.update(f"{full} of {each.__module__}".encode())
                _code(each.__code__, total)


def _is_part(name: str) -> bool:
    head, _, inside = name.partition(".")
    if head == "conformance":
        return inside != "" and inside.partition(".")[0] not in _WITHOUT
    return name == "saga_core.errors"


def code_digest() -> str:
    """A digest of all functions of all loaded modules of the suite, and of ``saga_core.errors``.

    Importing ``conformance.isolated`` loads all these modules.
    """
    total = hashlib.sha256()
    for name in sorted(filter(_is_part, sys.modules)):
        _module(sys.modules[name], total)
    return total.hexdigest()[:16]


def _claims(harness: Harness) -> dict[str, Any]:
    return {
        "name": harness.name,
        "kind": harness.kind,
        "provides": sorted(harness.provides),
        "limits": asdict(harness.limits),
        "deviations": dict(harness.deviations),
        "recall": harness.recall,
    }


def serve(place: str, profile: str, seed: int, runs: int, answers: int, board: int) -> None:
    """Load the harness at ``place`` and answer requests on the descriptor ``answers`` until stdin ends. The calls of
    the store are noted in the file ``board``."""
    faulthandler.enable()
    pending.watch(mmap.mmap(board, pending.SIZE))
    here = os.getcwd()  # noqa: PTH109 - the text for sys.path
    if here not in sys.path:
        sys.path.insert(0, here)
    checks = {found.id: found for found in registered()}
    with os.fdopen(answers, "w", encoding="utf-8") as out:

        def say(**fields: Any) -> None:
            out.write(json.dumps(fields, default=str) + "\n")
            out.flush()

        try:
            harness = load_harness(place)
            engine = preflight(harness)
        except BadInput as error:
            say(refused=str(error))
            return
        say(claims=_claims(harness), engine=engine, code=code_digest())
        for line in sys.stdin:
            asked = json.loads(line)
            canary = asked.get("canary")
            found = CANARIES[canary][0] if canary else harness
            check = checks[CANARIES[canary][1] if canary else asked["check"]].of(found.provides)
            outcome = repeated(found, check, profile=profile, seed=seed, runs=1 if canary else runs)
            say(outcome=asdict(outcome), code=code_digest())


_SERVE = "import sys; from conformance.isolated import serve; serve(*sys.argv[1:3], *map(int, sys.argv[3:]))"
_TELLING = ("PYTEST_", "SAGA_CONFORMANCE")
"""Prefixes of environment variables that would tell a store that the suite runs it."""


_ERRORS = 2
"""The file descriptor (stderr) for the worker's stdout, so that prints of a harness do not mix with the answers."""


_LATE = 5.0
"""Seconds after which a running check is named."""
_LIMITS = {"quick": 300.0, "default": 900.0, "deep": 6 * 3600.0}
"""Timeout in seconds for one answer of the worker, that is for one run of one check, by profile.

It is longer than the timeout of a coroutine in ``runner``, so it only ends what that one cannot interrupt.
"""


class _Worker:
    """The worker process, in a session of its own, and the two pipes to it. ``hung`` has the text for a check that did
    not answer in time, and ``busy`` what the worker was asked last."""

    hung = ""
    busy = "loading the harness"

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
        with tempfile.TemporaryFile() as board:
            board.truncate(pending.SIZE)
            self._board = mmap.mmap(board.fileno(), pending.SIZE)
            numbers = (seed, runs, theirs, board.fileno())
            self.process = subprocess.Popen(
                [sys.executable, *flags, "-c", _SERVE, place, profile, *map(str, numbers)],
                stdin=subprocess.PIPE,
                stdout=_ERRORS,
                env=environ,
                pass_fds=numbers[2:],
                text=True,
                start_new_session=True,  # Ctrl-C interrupts this process alone, which then kills all of that session
            )
        os.close(theirs)
        self.answers = answers
        self.unread = b""

    def at(self, before: str) -> str:
        """``before`` and the store's call that runs, with its file and line; empty if there is none."""
        call = pending.read(self._board)
        return f"{before}{call}" if call else ""

    def said(self, late: Late = lambda check, seconds, at: None) -> dict[str, Any]:
        """Read the next line. Returns an empty dict if there is none. Kills the worker if none comes in time.

        ``late`` is called after five seconds, and again after each time as long as all before it.
        """
        begun, told, poll = monotonic(), _LATE, select.poll()
        end = begun + self.limit
        poll.register(self.answers, select.POLLIN)
        while b"\n" not in self.unread:
            if self.hung:
                return {}
            if not poll.poll(max(0.0, min(end, begun + told) - monotonic()) * 1_000):
                if monotonic() < end:
                    late(self.busy, told, self.at(""))
                    told *= 2
                    continue
                call = self.at("") or "a call"
                self.hung = f"no answer for {self.limit:g} seconds: {call} hangs, and the process was killed"
                self.process.send_signal(signal.SIGABRT)  # it prints where it hangs
                return {}
            part = os.read(self.answers, 65_536)
            if not part:
                return {}
            self.unread += part
        line, _, self.unread = self.unread.partition(b"\n")
        found: dict[str, Any] = json.loads(line) if line.strip() else {}
        return found

    def ending(self) -> str:
        """How the process ended, which no longer answers."""
        try:
            code = self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            return "its answers"
        return ended_as(code)

    def ask(self, late: Late = lambda check, seconds, at: None, **order: str) -> dict[str, Any]:
        """Send an order and return the answer. Returns an empty dict if the process is gone."""
        self.busy = order.get("check", "a test store of the suite")
        if self.process.stdin is None or self.hung:
            return {}
        try:
            self.process.stdin.write(json.dumps(order) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return {}
        return self.said(late)

    def kill(self) -> None:
        """Kill the worker and the processes that it has started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def end(self) -> None:
        """Close the worker's input and wait for its end. Kills it after 30 seconds."""
        if self.process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):  # the process is already gone
                self.process.stdin.close()
        try:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(timeout=30)
        finally:  # also when this process is interrupted
            if self.process.returncode is None or self.hung:
                self.kill()
        os.close(self.answers)
        self.compiled.cleanup()  # processes that a harness left running may still write there


Late = Callable[[str, float, str], None]
"""Called with a check that takes long, for how many seconds it has run, and the store's call that runs, if known."""


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
    late: Late = lambda check, seconds, at: None,
) -> Report:
    """Like ``runner.run``, for the harness at ``package.module:NAME``. Raises ``BadInput`` if there is none.

    The checks of L-8 come first, because a store that blocks makes all others slow. ``late`` receives the name of a
    check that runs longer than five seconds. A ``KeyboardInterrupt`` ends the worker, and says what it was doing.
    """
    chosen = check_choice(profile, only)
    code = code_digest()
    worker = _Worker(place, profile, seed, runs)
    try:
        first = worker.said(late)
        if "refused" in first:
            raise BadInput(first["refused"])
        if not first:
            why = worker.hung or f"ended {worker.ending()}{worker.at(' during ')}"
            raise BadInput(f"harness: {place!r}: the process that loads it: {why}")
        harness = _harness(first["claims"])
        outcomes, doubts = _asked(worker, harness, chosen, code, watch, late)
        if first["code"] != code:
            doubts.insert(0, "the harness changed the suite when it was loaded")
    except KeyboardInterrupt:
        worker.kill()
        raise KeyboardInterrupt(f"{worker.busy}{worker.at(', in ')}") from None
    finally:
        worker.end()
    return report_on(
        harness,
        outcomes,
        profile=profile,
        seed=seed,
        engine=first["engine"],
        runs=runs,
        doubts=tuple(doubts),
        only=chosen,
    )


def _asked(
    worker: _Worker,
    harness: Harness,
    chosen: frozenset[str],
    code: str,
    watch: Callable[[Outcome], None] | None,
    late: Late,
) -> tuple[list[Outcome], list[str]]:
    """Return the outcomes of the checks, and the reasons not to trust the run."""
    outcomes: list[Outcome] = []
    doubts: dict[str, None] = {}
    listed = applicable(harness)
    wanted = sorted(listed, key=lambda check: "L-8" not in check.clauses or check.search)
    canaries = list(CANARIES)
    SystemRandom().shuffle(canaries)
    gone = False
    places = sorted(SystemRandom().sample(range(max(len(wanted), len(canaries))), len(canaries)))
    for number, check in enumerate(wanted):
        while places and (places[0] <= number or number == len(wanted) - 1):
            places.pop(0)
            doubts |= dict.fromkeys([] if gone else _canary(worker, canaries.pop()))
        if chosen and check.id not in chosen and not chosen.intersection(check.clauses):
            outcomes.append(Outcome(check.id, check.clauses, Status.NOT_RUN, extended=check.extended, must=check.must))
            continue
        if gone:
            outcomes.append(_outcome({}, check))
            continue
        told = worker.ask(late, check=check.id)
        gone = not told
        if worker.hung:
            hung = worker.hung + IT_ENDS
            told = {"outcome": {"check": check.id, "status": "fail", "detail": hung, "seconds": worker.limit}}
            doubts[f"{check.id}: {worker.hung}"] = None
        elif not told:
            ended = f"the process ended {worker.ending()}{worker.at(' during ')}, and stderr may say where"
            told = {"outcome": {"check": check.id, "status": "fail", "detail": ended + IT_ENDS}}
            doubts[f"{check.id}: {ended}"] = None
        elif told.get("code") != code:
            doubts["the harness changed the suite while it ran"] = None
        outcomes.append(_outcome(told, check))
        if watch is not None:
            watch(outcomes[-1])
    places_of = {check.id: place for place, check in enumerate(listed)}
    return sorted(outcomes, key=lambda outcome: places_of[outcome.check]), list(doubts)


def _canary(worker: _Worker, name: str) -> list[str]:
    _, check, passes = CANARIES[name]
    found = worker.ask(canary=name).get("outcome") or {}
    told = found.get("check") == check and found.get("status")
    if told == (Status.PASS if passes else Status.FAIL):
        return []
    return [f"a test store of the suite ({name}) was judged wrongly: {told or 'no answer'}"]
