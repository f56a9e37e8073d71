"""What outlives the process: closing and opening again, a kill, and two openers of one path."""

from __future__ import annotations

import asyncio
import contextlib
import os
import pickle
import signal
import subprocess
import sys
from random import Random
from typing import Any

from conformance.calls import Call, answer, typed
from conformance.case import Case
from conformance.check import CheckFailed, check, refused, require, same
from conformance.models import MODELS, Model, expected
from conformance.samples import samples
from conformance.snapshot import snapshot
from conformance.strategies import STRATEGIES
from saga_core.errors import StoreLocked

STORED = ("state", "graph", "vector", "cache")
_PATIENCE = 60.0
_CALLS = 40


def _planned(kind: str, random: Random, count: int) -> list[Call]:
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


@check("L-11", kinds=STORED)
async def it_is_there_again(case: Case) -> None:
    kind = case.harness.kind
    model: Model = MODELS[kind]()
    store = case.store
    for number, made in enumerate(_planned(kind, case.random, 30)):
        wanted = expected(model, made)
        same(await answer(store, made), wanted, str(made))
        if number % 10 == 9:
            store = await case.reopen(store)
            same(await snapshot(store), model.snapshot(), "after closing and opening again")
    drop = [made for made in samples(kind) if made.method == "drop"]
    for name in await store.scopes() if drop else ():
        await store.drop(name)
    if drop:
        store = await case.reopen(store)
        same(await snapshot(store), {}, "after everything was dropped, closing and opening")


def child(case: Case, name: str, calls: list[Call]) -> subprocess.Popen[bytes]:
    """Another process that opens the store of this harness and makes ``calls``, a line for each that ended."""
    try:
        order = pickle.dumps((case.harness.open, str(case.path / name), calls))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise CheckFailed(
            f"harness.open cannot be sent to another process ({error}); make it a function of an importable module, "
            "or a functools.partial of one"
        ) from error
    (case.path / name).mkdir(parents=True, exist_ok=True)
    file = case.path / f"{name}.order"
    file.write_bytes(order)
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(part or os.curdir for part in sys.path)}
    flags = ["-O"] if sys.flags.optimize else []
    return subprocess.Popen(
        [sys.executable, *flags, "-m", "conformance.child", str(file)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environ,
    )


def _acknowledged(process: subprocess.Popen[bytes], kill_after: int) -> list[str]:
    """The lines of the child, which is killed as soon as it has ended that many calls."""
    lines: list[str] = []
    if process.stdout is None:
        raise CheckFailed("the second process has no output")
    for raw in process.stdout:
        lines.append(raw.decode().strip())
        if len(lines) == kill_after + 1:  # the first says that the store is open
            process.kill()
    return lines


@check("L-12", kinds=STORED)
async def killed(case: Case) -> None:
    """What the process acknowledged is there, and at most the call that ran besides."""
    require(hasattr(signal, "SIGKILL"), "this system has no SIGKILL")
    kind, random = case.harness.kind, case.random
    for number in range(case.profile.kills):
        calls = _planned(kind, random, _CALLS)
        name = f"killed-{number}"
        lines, errors = await _run_and_kill(child(case, name, calls), random.randint(1, _CALLS - 10))
        require(lines[:1] == ["open"], f"the second process could not open the store: {errors}")
        acknowledged = len(lines) - 1
        wrong = [line for line in lines[1:] if line not in ("None", "int")]
        require(not wrong, f"a call in the second process failed: {wrong[:1]} {errors}")
        store = await case.open(name)
        found = typed(await snapshot(store))
        states = _states(kind, calls)
        if found not in states[acknowledged : acknowledged + 2]:
            known = [at for at, state in enumerate(states) if state == found]
            raise CheckFailed(
                f"killed after {acknowledged} acknowledged calls; what is there is the state after "
                f"{known[0] if known else 'no number of'} calls.\n{calls[acknowledged - 1]} was acknowledged last"
            )
        # Whatever was there, it can be worked on.
        for made in samples(kind)[:1]:
            await answer(store, made)
        await store.aclose()


async def _run_and_kill(process: subprocess.Popen[bytes], kill_after: int) -> tuple[list[str], str]:
    try:
        async with asyncio.timeout(_PATIENCE):
            lines = await asyncio.to_thread(_acknowledged, process, kill_after)
            errors = await asyncio.to_thread(process.communicate)
    finally:
        _end(process)
    return lines, errors[1].decode(errors="replace")[-2_000:]


def _end(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()


def _states(kind: str, calls: list[Call]) -> list[object]:
    model: Model = MODELS[kind]()
    states = [typed(model.snapshot())]
    for made in calls:
        expected(model, made)
        states.append(typed(model.snapshot()))
    return states


@check("L-13", kinds=STORED)
async def one_opener(case: Case) -> None:
    kind, store = case.harness.kind, case.store
    first, second = samples(kind)[:2]
    await answer(store, first)
    await refused(StoreLocked, case.open(), "opening the path a second time in this process")
    same(await answer(store, second), None, f"{second} after a second opening was refused")
    before = typed(await snapshot(store))
    lines, errors = await _run_and_kill(child(case, "store", []), 0)
    require(lines == ["StoreLocked"], f"opening the path in another process gave {lines}: {errors}")
    require(typed(await snapshot(store)) == before, "a refused opening changed what the first one reads")
    again = await case.reopen(store)
    require(typed(await snapshot(again)) == before, "a refused opening changed what is stored")


@check("L-14", kinds=STORED)
async def the_path_is_free_again(case: Case) -> None:
    kind, store = case.harness.kind, case.store
    first, second = samples(kind)[:2]
    model: Model = MODELS[kind]()
    expected(model, first)
    await answer(store, first)
    for _ in range(3):
        store = await case.reopen(store)
    await store.aclose()
    expected(model, second)
    lines, errors = await _run_and_kill(child(case, "store", [second]), 1)
    require(lines == ["open", "None"], f"another process, after aclose in this one, gave {lines}: {errors}")
    store = await case.open()
    same(await snapshot(store), model.snapshot(), "what is there after a kill")
    expected(model, first)
    same(await answer(store, first), None, f"{first} after a kill")
    same(await snapshot(store), model.snapshot(), "what is there after that")


@check("L-15", kinds=STORED)
async def several_openers(case: Case) -> None:
    kind, store = case.harness.kind, case.store
    other = await case.open()
    model: Model = MODELS[kind]()
    random = case.random
    for number, made in enumerate(_planned(kind, case.random, 24)):
        writer = random.choice((store, other))
        wanted = expected(model, made)
        same(await answer(writer, made), wanted, str(made))
        if number % 4 == 3:  # in between, a writer knows of the other's writes only what it finds out by itself
            for opener in (store, other):
                same(await snapshot(opener), model.snapshot(), f"each of two openers, after {made}")
    calls = _planned(kind, Random(case.seed + 1), 10)
    before = len(calls)
    lines, errors = await _run_and_kill(child(case, "beside", calls), before)
    require(lines[:1] == ["open"] and len(lines) == before + 1, f"another process gave {lines}: {errors}")
    beside: Any = await case.open("beside")
    same(typed(await snapshot(beside)), _states(kind, calls)[-1], "what another process wrote")
