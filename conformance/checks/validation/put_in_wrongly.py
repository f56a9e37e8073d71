"""Wrong input: values of another kind, and filters that are nested too deeply."""

from __future__ import annotations

from typing import Any

from attrs import evolve

from conformance.assertions import Refused, require, typed
from conformance.calls import Call, answer, call, snapshot
from conformance.case import Case
from conformance.check import check
from conformance.inputs import samples
from conformance.spec import STORED
from saga_core.stores import And, Batch, Edge, Exists, Mutation, Node, Not, Or


@check("L-7", kinds=STORED)
async def what_is_put_in_wrongly(case: Case) -> None:
    """Values of the wrong kind and filters that are nested too deeply raise ``BadInput`` and change nothing."""
    for made in samples(case.harness.kind):
        await answer(case.store, made)
    before = typed(await snapshot(case.store))
    for made in _wrong(case.harness.kind):
        found = await answer(case.store, made)
        require(found == Refused("BadInput"), f"{str(made)[:200]}: gave {found!r}, expected BadInput")
    require(typed(await snapshot(case.store)) == before, "a rejected call changed what is stored")


def _wrong(kind: str) -> list[Call]:
    odd: tuple[Any, ...] = (None, 0, "text", [], {}, object())
    if kind == "state":
        batches: list[Any] = [Batch(None), Batch([("a",)]), Batch({}, None), Batch({}, [("a",)])]  # type: ignore[arg-type]
        return [
            *(call("commit", value) for value in (*odd, *batches)),
            *(call("commit", Batch(), expected=value) for value in (0, "text", [], [("a",)])),
        ]
    if kind == "graph":
        parts = ("put_nodes", "put_edges", "delete_nodes", "delete_edges")
        odd_parts: tuple[Any, ...] = (None, 0, (None,), ([],), ("",))
        mutations: list[Any] = [evolve(Mutation(), **{part: value}) for part in parts for value in odd_parts]
        mutations += [Mutation(put_nodes=(Edge("a", "T", "b"),)), Mutation(put_edges=(Node("a", "L"),))]  # type: ignore[arg-type]
        return [call("apply", "s", value) for value in (*odd, *mutations)]
    if kind == "vector":
        deep: Any = Exists("v")
        for _ in range(3_000):
            deep = Not(deep)
        parts_: list[Any] = [deep, And((deep,)), And(None), Or("text"), And((None,)), Not(None)]  # type: ignore[arg-type]
        return [
            *(call("create", "new", value) for value in odd),
            *(call("upsert", "s", value) for value in (None, 0, "text", [None], object())),
            *(call("count", "s", where=value) for value in parts_),
            *(call("query", ["s"], (1.0, 0.0), 1, where=value) for value in parts_),
            *(call("delete", "s", where=value) for value in parts_),
        ]
    return [call("write", "s", value) for value in odd]
