"""Filters on values that engines may compare in their own way."""

from __future__ import annotations

from array import array
from typing import Any

from conformance.assertions import same
from conformance.case import Case
from conformance.check import check
from conformance.fixtures import filled, ids_of, item
from conformance.inputs import NFC, NFD
from conformance.models import passes
from saga_core.stores import And, Compare, Exists, Filter, Not, Or, VectorItem, Within

EAST = (1.0, 0.0)

_TEXTS: tuple[str, ...] = (
    *("CROOK", "crook", "Crook", "crook ", " crook", "crook\t", "cr%k", "cr_ok", "STRASSE", "straße", "I", "ı", "i"),
    *(NFC, NFD, "é", "e\u0301", "f", "z", "Z", "\uffff", "\U00010000", "\ud7ff", "\ue000", "10", "9", "09", "1.0"),
    *("x" * 64 + "a", "x" * 64 + "b", "x" * 300, "", "true", "null", "2024-01-01", "2024-1-1"),
)
_NUMBERS: tuple[Any, ...] = (
    *(0.1, 0.1 + 1e-12, 0.30000000000000004, 0.3, 16_777_217, 16_777_216.0, 2**53, 2**53 + 1, float(2**53), -0.0, 0),
    *(1e300, -1e300, 5e-324, 2**63 - 1, -(2**63), 9, 10, 1, True, False, None),
)
_ITEMS = [item(f"t{at:02}", v=text) for at, text in enumerate(_TEXTS)]
_ITEMS += [item(f"n{at:02}", v=number, other=1) for at, number in enumerate(_NUMBERS)]
_ITEMS += [item("upper", V=1), VectorItem("dotted", array("f", EAST), "", {"a.b": 1}), item("plain", a=1), item("bare")]


async def _agree(case: Case, filters: list[Filter], *, remove: int) -> None:
    """Check that query and count follow the filter grammar, and for every ``remove``-th filter also delete."""
    store = case.store
    await filled(store, "s", *_ITEMS)
    for at, where in enumerate(filters):
        wanted = sorted(each.id for each in _ITEMS if passes(where, each.metadata))
        hits = await store.query(["s"], EAST, 99, where=where)
        same([hit.id for hit in hits], wanted, f"query where {where}")
        same(await store.count("s", where=where), len(wanted), f"count where {where}")
        if at % remove == 0:
            same(await store.delete("s", where=where), len(wanted), f"delete where {where}")
            left = sorted({each.id for each in _ITEMS} - {*wanted})
            same(await ids_of(store), left, f"left after delete where {where}")
            await store.upsert("s", _ITEMS)


@check("V-18")
async def equal_values(case: Case) -> None:
    values = (*_TEXTS, *_NUMBERS, "Crook\n", "straße ", "%", "x" * 64)
    filters: list[Filter] = [Compare("v", "eq", value) for value in values]
    filters += [Compare("v", "ne", value) for value in values[::4]]
    await _agree(case, filters, remove=7)


@check("V-19")
async def ordered_values(case: Case) -> None:
    texts = ("f", "Z", "é", NFD, "\uffff", "\ue000", "\U00010000", "10", "9", "crook", "x" * 64 + "a")
    numbers = (0.1, 16_777_217, 16_777_216.0, 2**53 + 1, float(2**53), 0, 10, -(2**63))
    filters: list[Filter] = [Compare("v", op, value) for value in (*texts, *numbers) for op in ("lt", "ge")]
    filters += [Compare("v", op, value) for value in (*texts[::3], *numbers[::3]) for op in ("le", "gt")]
    await _agree(case, filters, remove=11)


@check("V-17", "V-20")
async def other_filters(case: Case) -> None:
    long = tuple(f"no {n}" for n in range(min(400, case.harness.limits.batch - 2)))
    filters: list[Filter] = [
        Within("v", (*long[:99], "crook", *long[99:])),
        Within("v", (*long, 2**53 + 1)),
        Within("v", (*long, "CROOK "), True),
        Within("v", (1, "1", True), True),
        Exists("V"),
        Exists("v"),
        Exists("a.b"),
        Exists("a"),
        Compare("a.b", "eq", 1),
        Compare("V", "eq", 1),
        Compare("OTHER", "eq", 1),
        Not(Compare("v", "eq", "crook")),
        Not(Exists("a.b")),
        Not(Within("v", (None,))),
        And((Compare("v", "ge", "a"), Compare("v", "lt", "z"), Not(Within("v", ("crook", NFC))))),
        Or((Compare("v", "lt", 0), Compare("v", "eq", None), Exists("V"), Compare("v", "gt", "\uffff"))),
        And((Or((Exists("other"), Exists("a"))), Not(And((Exists("v"), Compare("v", "ne", 1)))))),
    ]
    await _agree(case, filters, remove=1)


@check("V-17")
async def the_farthest(case: Case) -> None:
    """The few items that pass the filter are the farthest of many, and must be found nevertheless."""
    store = case.store
    many = [item(f"i{n:04}", 1.0, n / 16, n=n) for n in range(1_200)]
    for part in case.batches(many):
        await filled(store, "s", *part)
    for where, wanted in {
        Compare("n", "ge", 1_197): ["i1197", "i1198", "i1199"],
        Within("n", (3, 1_198)): ["i0003", "i1198"],
        And((Compare("n", "gt", 600), Compare("n", "lt", 602))): ["i0601"],
    }.items():
        for k in (1, 2, 3):
            hits = await store.query(["s"], EAST, k, where=where)
            same([hit.id for hit in hits], wanted[:k], f"the nearest {k} where {where}")
