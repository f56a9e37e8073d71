"""Wrong VectorStores that were written from the clauses by somebody who had not read a check."""

from __future__ import annotations

import asyncio
import time
from array import array
from collections.abc import Sequence
from typing import Any

from attrs import evolve

from saga_backends.memory import MemoryVector
from saga_core.errors import ScopeMismatch
from saga_core.stores import And, Compare, Exists, Filter, Hit, Not, Or, ScopeSpec, Vector, VectorItem, Within
from saga_core.stores.filters import predicate
from saga_core.stores.validate import check_items
from saga_core.stores.vector import cosine
from tests.mutants.stores_registry import breaks

_ALL = 10**6


class _Reading(MemoryVector):
    """Filters are read otherwise than they are meant."""

    def other(self, where: Filter) -> Filter:
        return where

    async def query(self, scopes: Sequence[str], vector: Vector, k: int, *, where: Filter | None = None) -> list[Hit]:
        found = await super().query(scopes, vector, k, where=where)
        return found if where is None else await super().query(scopes, vector, k, where=self.other(where))

    async def count(self, scope: str, *, where: Filter | None = None) -> int:
        found = await super().count(scope, where=where)
        return found if where is None else await super().count(scope, where=self.other(where))


def _leaves(where: Filter, change: Any) -> Filter:
    if isinstance(where, And):
        return And(tuple(_leaves(part, change) for part in where.parts))
    if isinstance(where, Or):
        return Or(tuple(_leaves(part, change) for part in where.parts))
    if isinstance(where, Not):
        return Not(_leaves(where.part, change))
    changed: Filter = change(where)
    return changed


@breaks("V-18")
class PreparesEqualFiltersOnce(_Reading):
    """Filters are kept by equality, by which one and true are the same."""

    def __init__(self) -> None:
        super().__init__()
        self._prepared: dict[Filter, Filter] = {}

    def other(self, where: Filter) -> Filter:
        return self._prepared.setdefault(where, where)


@breaks("V-20")
class TakesNullForNotThere(_Reading):
    def other(self, where: Filter) -> Filter:
        return _leaves(where, lambda leaf: Not(Compare(leaf.name, "eq", None)) if isinstance(leaf, Exists) else leaf)


@breaks("V-20")
class NeverFindsNullInAList(_Reading):
    def other(self, where: Filter) -> Filter:
        def without(leaf: Filter) -> Filter:
            if not isinstance(leaf, Within):
                return leaf
            return evolve(leaf, values=tuple(value for value in leaf.values if value is not None))

        return _leaves(where, without)


@breaks("V-20")
class TakesManyNotsForNone(_Reading):
    """Beyond ten levels they are thought to take each other away."""

    def other(self, where: Filter) -> Filter:
        levels, inner = 0, where
        while isinstance(inner, Not):
            levels, inner = levels + 1, inner.part
        return inner if levels > 10 else where


@breaks("V-19")
class CutsNumbersToIntegers(_Reading):
    """Before it orders them."""

    def other(self, where: Filter) -> Filter:
        def cut(leaf: Filter) -> Filter:
            ordered = isinstance(leaf, Compare) and leaf.op in ("lt", "ge") and isinstance(leaf.value, float)
            return evolve(leaf, value=int(leaf.value)) if ordered else leaf  # type: ignore[union-attr, call-arg, arg-type]

        return _leaves(where, cut)


@breaks("V-22")
class CountsTheNamesItDeletes(MemoryVector):
    """Deleting says how many ids were named when all of them are there."""

    async def delete(self, scope: str, *, ids: Sequence[str] | None = None, where: Filter | None = None) -> int:
        known = set(self._items(scope))
        found = await super().delete(scope, ids=ids, where=where)
        return len(ids) if ids and known.issuperset(ids) else found


@breaks("V-22")
class DeletesTwoThousandFiveHundred(MemoryVector):
    async def delete(self, scope: str, *, ids: Sequence[str] | None = None, where: Filter | None = None) -> int:
        if where is None or ids is not None:
            return await super().delete(scope, ids=ids, where=where)
        await super().count(scope, where=where)
        passes = predicate(where)
        gone = sorted(item.id for item in self._items(scope).values() if passes(item.metadata))
        return await super().delete(scope, ids=gone[:2_500])


@breaks("V-6")
class SkipsWhatHasTheSameVector(MemoryVector):
    """An item whose vector and text are as before keeps its metadata."""

    async def upsert(self, scope: str, items: Sequence[VectorItem]) -> None:
        known = dict(self._items(scope))
        await super().upsert(scope, items)
        for item in items:
            before = known.get(item.id)
            if before is not None and array("f", item.vector) == before.vector and item.text == before.text:
                self._items(scope)[item.id] = before


@breaks("V-6")
class HidesAnIdThatCameBack(MemoryVector):
    """What was deleted once is not found by a query any more, though get has it."""

    def __init__(self) -> None:
        super().__init__()
        self._dead: set[str] = set()

    async def delete(self, scope: str, *, ids: Sequence[str] | None = None, where: Filter | None = None) -> int:
        before = set(self._items(scope))
        found = await super().delete(scope, ids=ids, where=where)
        self._dead |= before - set(self._items(scope))
        return found

    async def query(self, scopes: Sequence[str], vector: Vector, k: int, *, where: Filter | None = None) -> list[Hit]:
        await super().query(scopes, vector, k, where=where)
        found = await super().query(scopes, vector, _ALL, where=where)
        return [hit for hit in found if hit.id not in self._dead][:k]


@breaks("V-14")
class ForgetsTheTailOfFours(MemoryVector):
    """Components are multiplied four at a time, and what is left over is not."""

    async def query(self, scopes: Sequence[str], vector: Vector, k: int, *, where: Filter | None = None) -> list[Hit]:
        found = await super().query(scopes, vector, k, where=where)
        size = len(vector)
        if size <= 4 or size % 4 == 0:
            return found
        cut = size - size % 4
        items = {item.id: item for name in scopes for item in self._items(name).values()}
        return [evolve(hit, score=cosine(list(vector)[:cut], list(items[hit.id].vector)[:cut])) for hit in found]


@breaks("V-28")
class FindsOneOfTwins(MemoryVector):
    """Of items with the same vector and text one is found."""

    async def query(self, scopes: Sequence[str], vector: Vector, k: int, *, where: Filter | None = None) -> list[Hit]:
        await super().query(scopes, vector, k, where=where)
        found: dict[object, Hit] = {}
        for hit in await super().query(scopes, vector, _ALL, where=where):
            found.setdefault((hit.score, hit.text) if hit.text else hit.id, hit)
        return list(found.values())[:k]


@breaks("V-26")
class FindsTheNewestLater(MemoryVector):
    """In a scope of thousands the index does not have the last 64 yet."""

    async def query(self, scopes: Sequence[str], vector: Vector, k: int, *, where: Filter | None = None) -> list[Hit]:
        found = await super().query(scopes, vector, k, where=where)
        late = {name for scope in scopes if len(self._items(scope)) > 5_000 for name in list(self._items(scope))[-64:]}
        return [hit for hit in found if hit.id not in late]


@breaks("V-8")
class PassesOverAnotherDimension(MemoryVector):
    """Only the first scope has to agree with the question."""

    async def query(self, scopes: Sequence[str], vector: Vector, k: int, *, where: Filter | None = None) -> list[Hit]:
        try:
            return await super().query(scopes, vector, k, where=where)
        except ScopeMismatch:
            fitting = [name for name in scopes if name in self._scopes and await self._fits(name, vector)]
            if fitting[:1] != [*scopes][:1]:
                raise
            return await super().query(fitting, vector, k, where=where)

    async def _fits(self, scope: str, vector: Vector) -> bool:
        return self._scopes[scope].spec.dimension == len(vector)


@breaks("V-5")
class ListsTwoHundredScopes(MemoryVector):
    async def scopes(self) -> list[str]:
        return (await super().scopes())[:200]


@breaks("V-30")
class CountsBeforeItWrites(MemoryVector):
    """The count of a large upsert is there before its items are."""

    def __init__(self) -> None:
        super().__init__()
        self._ahead = 0

    async def upsert(self, scope: str, items: Sequence[VectorItem]) -> None:
        self._alive()
        check_items(items, self.info.limits)
        self._ahead = len({item.id for item in items}.difference(self._items(scope))) if len(items) > 200 else 0
        try:
            await asyncio.sleep(0)
        finally:
            self._ahead = 0
        await super().upsert(scope, [*items])

    async def count(self, scope: str, *, where: Filter | None = None) -> int:
        return await super().count(scope, where=where) + (self._ahead if where is None else 0)


@breaks("V-2")
class MakesAScopeTwice(MemoryVector):
    """It looks, waits and makes: two that create at the same time both have made it."""

    async def create(self, scope: str, spec: ScopeSpec) -> None:
        known = self._scope(scope)
        await asyncio.sleep(0)
        if known is None:
            self._scopes.pop(scope, None)
        await super().create(scope, spec)


@breaks("V-16")
class EndsAtAnUnknownScope(MemoryVector):
    async def query(self, scopes: Sequence[str], vector: Vector, k: int, *, where: Filter | None = None) -> list[Hit]:
        await super().query(scopes, vector, k, where=where)
        unknown = [at for at, name in enumerate(scopes) if name not in self._scopes]
        return await super().query(scopes[: unknown[0]] if unknown else scopes, vector, k, where=where)


@breaks("L-8")
class StandsStillForAQueryOfAThousand(MemoryVector):
    async def query(self, scopes: Sequence[str], vector: Vector, k: int, *, where: Filter | None = None) -> list[Hit]:
        found = await super().query(scopes, vector, k, where=where)
        if len(found) > 900:
            time.sleep(0.6)  # noqa: ASYNC251 - which is what is wrong
        return found
