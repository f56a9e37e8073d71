"""Checks of the declared limits and of input of the wrong kind, which is rejected and changes nothing."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from typing import Any

from attrs import evolve

from conformance.assertions import Refused, equal, require, same, typed
from conformance.calls import StoreCall, answer, answer_all, call, snapshot
from conformance.case import Case
from conformance.check import check
from conformance.inputs import pages, samples
from conformance.spec import STORED
from saga_core.capabilities import Capability
from saga_core.stores import (
    And,
    Batch,
    Edge,
    EdgeKey,
    Exists,
    Hit,
    Key,
    Limits,
    Mutation,
    Node,
    Not,
    Or,
    Pages,
    ScopeSpec,
    VectorItem,
)
from saga_core.stores.validate import SEGMENT_END_BYTES

_ROOM = 1_000_000
"""Larger values than this are written only once, at the limit itself."""
_MOST = 64 * 1_024 * 1_024
"""Larger limits are not tried, because the suite has to hold the value in memory too."""


async def _hold(
    case: Case,
    allowed: Mapping[str, StoreCall],
    beyond: Mapping[str, StoreCall],
    wanted: Mapping[str, Any] | None = None,
) -> None:
    """Check that ``beyond`` is rejected and ``allowed`` accepted. ``wanted`` has results of some allowed calls."""
    await answer_all(case.store, samples(case.harness.kind)[:2])
    before = typed(await snapshot(case.store))
    for what, made in beyond.items():
        found = await answer(case.store, made)
        require(found == Refused("BadInput"), f"{what} is beyond the limits, but gave {str(found)[:200]}")
        equal(typed(await snapshot(case.store)), before, f"{what} was rejected, but changed what is stored")
    for what, made in allowed.items():
        found = await answer(case.store, made)
        require(not isinstance(found, Refused), f"{what} is within the limits, but gave {str(found)[:200]}")
        if wanted is not None and what in wanted:
            same(found, wanted[what], f"{what} at the limit came back changed")


def _largest(case: Case) -> int:
    """A size at the limit itself, but at most ``_MOST``, or ``_ROOM`` in a quick run."""
    return min(case.harness.limits.value_bytes, _ROOM if case.brief else _MOST)


def _value_sizes(limits: Limits) -> tuple[int, int]:
    """A size that must be accepted, and the first that must not."""
    return min(limits.value_bytes, _ROOM), limits.value_bytes + 1


@check("S-16")
async def limits_of_state(case: Case) -> None:
    limits = case.harness.limits
    key, batch, (size, over) = limits.key_bytes, limits.batch, _value_sizes(limits)
    room = key - SEGMENT_END_BYTES
    wide: Key = ("가" * (room // 3) + "x" * (room % 3),)
    many: dict[Key, bytes] = {("b", str(number)): b"" for number in range(batch)}
    further: dict[Key, bytes] = {("f", str(number)): b"1" for number in range(batch)}
    largest = b"x" * (_largest(case) - 1) + b"y"
    one_more: dict[Key, bytes] = {**many, ("c",): b""}
    await _hold(
        case,
        {
            "a key": call("commit", Batch({("x" * room,): b"", wide: b""})),
            "a value": call("commit", Batch({("v",): b"x" * size})),
            "a batch": call("commit", Batch(many)),
            "keys to get": call("get", list(many)),
            "another batch": call("commit", Batch(further)),
            "keys of the first batch": call("get", list(many)),
            "keys of the second batch": call("get", list(further)),
            "the largest value": call("commit", Batch({("largest",): largest})),
            "a key of the largest value": call("get", [("largest",)]),
        },
        {
            "a key": call("commit", Batch({("new",): b"", ("x" * (room + 1),): b""})),
            "a key of two-byte letters": call("commit", Batch({("é" * (room // 2 + 1),): b""})),
            "a key of two segments": call("commit", Batch({("x" * (room - 2), "y"): b""})),
            "a key with NUL": call("commit", Batch({("x" * (room - 1) + "\0",): b""})),
            "a deleted key": call("commit", Batch({("new",): b""}, frozenset({("x" * (room + 1),)}))),
            "a key to get": call("get", [("x" * (room + 1),)]),
            "a prefix": call("scan", ("x" * (room + 1),)),
            "a value": call("commit", Batch({("new",): b"", ("v",): b"x" * over})),
            "a batch": call("commit", Batch(one_more)),
            "deletes": call("commit", Batch({("new",): b""}, frozenset(many))),
            "keys to get": call("get", list(one_more)),
        },
        {
            "keys to get": many,
            "keys of the first batch": many,
            "keys of the second batch": further,
            "a key of the largest value": {("largest",): largest},
        },
    )


def _names(limits: Limits) -> tuple[str, str]:
    return "힣" * limits.name_chars, "x" * (limits.name_chars + 1)


@check("G-28")
async def limits_of_a_graph(case: Case) -> None:
    limits = case.harness.limits
    (name, long), batch, (size, over) = _names(limits), limits.batch, _value_sizes(limits)
    text = "x" * (size - 1)
    many = tuple(Node(f"b{number}", "L") for number in range(batch))
    node: Any = Node("a", "L")
    await _hold(
        case,
        {
            "names": call("apply", name, Mutation((Node(name, name, {name: 1}),), (Edge(name, name, name, name),))),
            "properties": call("apply", "s", Mutation((Node("v", "L", {"v": text}),))),
            "a mutation": call("apply", "s", Mutation(many)),
            "ids": call("get", "s", [each.id for each in many]),
            "one more node than a mutation": call("apply", "s", Mutation((Node("z", "Late"),))),
            "that one by its label": call("scan", "s", label="Late"),
            "the first one of them": call("get", "s", ["b0", "z"]),
        },
        {
            "an id": call("apply", "s", Mutation((node, Node(long, "L")))),
            "a label": call("apply", "s", Mutation((node, Node("b", long)))),
            "a field name": call("apply", "s", Mutation((node, Node("b", "L", {long: 1})))),
            "a type": call("apply", "s", Mutation((node,), (Edge("a", long, "a"),))),
            "a key": call("apply", "s", Mutation((node,), (Edge("a", "T", "a", long),))),
            "a watermark": call("apply", "s", Mutation((node,), watermark=long)),
            "a deleted id": call("apply", "s", Mutation((node,), delete_nodes=(long,))),
            "a scope": call("apply", long, Mutation((node,))),
            "properties": call("apply", "s", Mutation((node, Node("v", "L", {"v": "x" * over})))),
            "properties of an edge": call(
                "apply", "s", Mutation((node,), (Edge("a", "T", "a", "", {"v": "x" * over}),))
            ),
            "a mutation": call("apply", "s", Mutation((*many, node))),
            "a mutation of deletes": call(
                "apply", "s", Mutation((node,), delete_edges=(EdgeKey("a", "T", "b"),) * batch)
            ),
            "ids": call("get", "s", ["a"] * (batch + 1)),
            "ids of neighbors": call("neighbors", "s", ["a"] * (batch + 1)),
        },
        {
            "ids": {node.id: node for node in many},
            "that one by its label": [Node("z", "Late")],
            "the first one of them": {"b0": many[0], "z": Node("z", "Late")},
        },
    )


@check("V-26")
async def limits_of_vectors(case: Case) -> None:
    limits = case.harness.limits
    (name, long), batch, (size, over) = _names(limits), limits.batch, _value_sizes(limits)
    widest = min(limits.dimension, 100_000)
    many = [VectorItem(f"b{number}", array("f", (1.0, 0.0))) for number in range(batch)]
    item, late = VectorItem("a", (1.0, 0.0)), VectorItem("late", array("f", (-1.0, -0.5)), "late")

    def upsert(*items: VectorItem) -> StoreCall:
        return call("upsert", "s", list(items))

    await _hold(
        case,
        {
            "names": call("create", name, ScopeSpec(name, 2)),
            "an item with long names": call("upsert", name, [VectorItem(name, (1.0, 0.0), "", {name: 1})]),
            "a dimension": call("create", "wide", ScopeSpec("e", widest)),
            "a wide vector": call("upsert", "wide", [VectorItem("a", (1.0,) * widest)]),
            "a text": upsert(VectorItem("t", (1.0, 0.0), "x" * size)),
            "metadata": upsert(VectorItem("m", (1.0, 0.0), "", {"m": "x" * (size - 1)})),
            "items": call("upsert", "s", many),
            "ids": call("get", "s", [each.id for each in many]),
            "one more item than an upsert": call("upsert", "s", [late]),
            "all of them to count": call("count", "s"),
            "the one that came last": call("query", ["s"], late.vector, 1),
        },
        {
            "a dimension": call("create", "wider", ScopeSpec("e", limits.dimension + 1)),
            "a scope": call("create", long, ScopeSpec("e", 2)),
            "an embedder": call("create", "other", ScopeSpec(long, 2)),
            "an id": upsert(item, VectorItem(long, (1.0, 0.0))),
            "a field name": upsert(item, VectorItem("b", (1.0, 0.0), "", {long: 1})),
            "a text": upsert(item, VectorItem("b", (1.0, 0.0), "x" * over)),
            "metadata": upsert(item, VectorItem("b", (1.0, 0.0), "", {"m": "x" * over})),
            "items": call("upsert", "s", [*many, item]),
            "ids": call("get", "s", ["a"] * (batch + 1)),
            "ids to delete": call("delete", "s", ids=["b0"] * (batch + 1)),
        },
        {
            "ids": {each.id: each for each in many},
            "all of them to count": batch + 5,  # two samples, a text, metadata and the late one
            **({} if _approximate(case) else {"the one that came last": [Hit("late", 1.0, "late", {})]}),
        },
    )


def _approximate(case: Case) -> bool:
    return Capability.APPROXIMATE in case.harness.provides


@check("C-9")
async def limits_of_a_cache(case: Case) -> None:
    limits = case.harness.limits
    (name, long), (size, over) = _names(limits), _value_sizes(limits)
    new = pages("new")
    largest = Pages({**new.files, "lore.md": "x" * (_largest(case) - 1) + "y"}, "t")
    await _hold(
        case,
        {
            "a scope": call("write", name, pages("long")),
            "a watermark": call("write", "w", pages("long", name)),
            "a page": call("write", "s", Pages({**new.files, "story.md": "가" * (size // 3)}, "t")),
            "the largest page": call("write", "s", largest),
            "the largest page to read": call("read", "s"),
        },
        {
            "a scope": call("write", long, new),
            "a watermark": call("write", "s", pages("new", long)),
            "a page": call("write", "s", Pages({**new.files, "story.md": "x" * over})),
            "a page of three-byte letters": call("write", "s", Pages({**new.files, "lore.md": "가" * (over // 3 + 1)})),
        },
        {"the largest page to read": largest},
    )


@check("L-7", kinds=STORED)
async def what_is_put_in_wrongly(case: Case) -> None:
    """Values of the wrong kind and filters that are nested too deeply raise ``BadInput`` and change nothing."""
    await answer_all(case.store, samples(case.harness.kind))
    before = typed(await snapshot(case.store))
    for made in _wrong(case.harness.kind):
        found = await answer(case.store, made)
        require(found == Refused("BadInput"), f"{str(made)[:200]}: gave {found!r}, expected BadInput")
    equal(typed(await snapshot(case.store)), before, "a rejected call changed what is stored")


def _wrong(kind: str) -> list[StoreCall]:
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
