"""Cancelled closings and openings, minimum limits, and compaction."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from conformance.assertions import CheckFailed, Refused, require, same, typed
from conformance.calls import Call, answer, call, snapshot
from conformance.case import Case
from conformance.check import check
from conformance.fixtures import ground, marked
from conformance.inputs import pages, samples
from conformance.spec import STORED
from saga_core.capabilities import Capability
from saga_core.stores import Batch, Health, Mutation, Node, VectorItem, too_small


@check("L-20", kinds=STORED)
async def limits_reach_what_saga_needs(case: Case) -> None:
    lacking = too_small(case.harness.kind, case.store.info.limits)
    require(not lacking, f"info.limits are too small: {'; '.join(lacking)}")


@check("L-21")
async def cancelled_ends(case: Case) -> None:
    """Cancel ``aclose`` after some turns of the event loop, and call it again."""
    durable = Capability.DURABLE in case.harness.provides
    for turns in range(7):
        name = f"ended-{turns}"
        store = await case.open(name)
        for made in samples(case.harness.kind)[:1]:
            await answer(store, made)
        ending = asyncio.ensure_future(store.aclose())
        for _ in range(turns):
            await asyncio.sleep(0)
        ending.cancel()
        await asyncio.gather(ending, return_exceptions=True)
        try:
            async with case.patience():
                await store.aclose()
        except TimeoutError:
            raise CheckFailed("aclose after a cancelled aclose hangs") from None
        found = await answer(store, call("check"))
        require(found == Refused("Closed"), f"check after a cancelled and a finished aclose gave {found!r}")
        if durable:
            again = await case.open(name)
            require(isinstance(await answer(again, call("check")), Health), "check gave no Health after reopening")
            await again.aclose()


@check("L-21", kinds=STORED)
async def cancelled_openings(case: Case) -> None:
    """Cancel an opening after some turns of the event loop. The path must open afterwards."""
    for turns in (0, 1, 2, 3, 5, 8):
        folder = case.place(f"opened-{turns}")
        folder.mkdir()
        opening = asyncio.ensure_future(case.harness.open(folder))
        for _ in range(turns):
            await asyncio.sleep(0)
        opening.cancel()
        opened: Any = await asyncio.gather(opening, return_exceptions=True)
        if not isinstance(opened[0], BaseException):
            await opened[0].aclose()
        store = await case.open(f"opened-{turns}")
        for made in samples(case.harness.kind)[:2]:
            same(await answer(store, made), None, f"{made} after an opening was cancelled")
        await store.aclose()


@check("L-24", kinds=STORED)
async def compacting_leaves_nothing(case: Case) -> None:
    kind, store = case.harness.kind, case.store
    secret = "gone-" + f"{case.random.getrandbits(128):032x}"
    for made in (*ground(kind), *_holding(kind, secret), *marked(kind, 5)):
        await answer(store, made)
    before = typed(await snapshot(store))
    same(await store.compact(), None, "compact")
    require(typed(await snapshot(store)) == before, "compact changed what is stored")
    require(await asyncio.to_thread(_lies_in, case.path, secret), f"the {kind} data is not readable in the files")
    for made in _removing(kind, secret):
        await answer(store, made)
    left = typed(await snapshot(store))
    await store.compact()
    require(typed(await snapshot(store)) == left, "compact changed what is stored")
    found = await asyncio.to_thread(_lies_in, case.path, secret)
    require(not found, f"after compact, deleted data is still in {', '.join(found)}")
    await store.aclose()
    require(await answer(store, call("compact")) == Refused("Closed"), "compact after aclose did not raise Closed")


def _lies_in(path: Path, secret: str) -> list[str]:
    raw = secret.encode()
    return [file.name for file in path.rglob("*") if file.is_file() and raw in file.read_bytes()]


def _holding(kind: str, secret: str) -> list[Call]:
    if kind == "state":
        return [call("commit", Batch({("secret", secret): secret.encode() * 200, ("kept",): b"1"}))]
    if kind == "graph":
        return [call("apply", "s", Mutation((Node(secret, "L", {"v": secret}),)))]
    if kind == "vector":
        return [call("upsert", "s", [VectorItem(secret, (1.0, 0.0), secret)])]
    return [call("write", "secret", pages(secret))]


def _removing(kind: str, secret: str) -> list[Call]:
    if kind == "state":
        return [call("commit", Batch(deletes=frozenset({("secret", secret)})))]
    if kind == "graph":
        return [call("apply", "s", Mutation(delete_nodes=(secret,)))]
    if kind == "vector":
        return [call("delete", "s", ids=[secret])]
    return [call("drop", "secret")]
