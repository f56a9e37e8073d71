"""Wrong VectorStores that are right up to a number: beyond it they leave something out, and say nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import islice
from typing import Any

from attrs import evolve

from saga_backends.memory import MemoryVector
from saga_core.stores import Filter, Hit, Vector, VectorItem, Within
from saga_core.stores.validate import check_delete, check_items
from tests.mutants.stores_registry import capped


class _Upserting(MemoryVector):
    """Changes items that were found well formed."""

    cap = 0

    async def upsert(self, scope: str, items: Sequence[VectorItem]) -> None:
        self._alive()
        check_items(items, self.info.limits)
        await super().upsert(scope, self.changed(list(items)))

    def changed(self, items: list[VectorItem]) -> list[VectorItem]:
        return items


@capped("V-6", of_a_batch=True)
class PutsTheFirst(_Upserting):
    def changed(self, items: list[VectorItem]) -> list[VectorItem]:
        return items[: self.cap]


@capped("V-6")
class HoldsSoMany(MemoryVector):
    """A scope that is full lets go of what was put first."""

    cap = 0

    async def upsert(self, scope: str, items: Sequence[VectorItem]) -> None:
        await super().upsert(scope, items)
        held = self._items(scope)
        for name in list(islice(held, max(0, len(held) - self.cap))):
            del held[name]


@capped("V-7", of_a_batch=True)
class LooksAtAPieceWhenItsTurnComes(MemoryVector):
    """What stands in a later piece of an upsert is looked at when the first piece is written."""

    cap = 0

    async def upsert(self, scope: str, items: Sequence[VectorItem]) -> None:
        if isinstance(items, list) and self.cap < len(items) <= self.info.limits.batch:
            await super().upsert(scope, items[: self.cap])
            items = items[self.cap :]
        await super().upsert(scope, items)


@capped("V-30", of_a_batch=True)
class ShowsTheFirstPiece(_Upserting):
    """Readers come between the pieces of a large upsert."""

    async def upsert(self, scope: str, items: Sequence[VectorItem]) -> None:
        self._alive()
        check_items(items, self.info.limits)
        if len(items) > self.cap:
            await super().upsert(scope, items[: self.cap])
            await asyncio.sleep(0)
            items = items[self.cap :]
        await super().upsert(scope, items)


# --- reading -------------------------------------------------------------------------------------------------


@capped("V-12", of_a_batch=True)
class AnswersTheFirstIds(MemoryVector):
    cap = 0

    async def get(self, scope: str, ids: Sequence[str]) -> dict[str, VectorItem]:
        found = await super().get(scope, ids)
        asked = frozenset(islice(ids, self.cap))
        return {name: item for name, item in found.items() if name in asked}


@capped("V-13")
class ScansSoMany(MemoryVector):
    cap = 0

    async def scan(self, scope: str, **options: Any) -> list[VectorItem]:
        return (await super().scan(scope, **options))[: self.cap]


@capped("V-13")
class PagesEnd(MemoryVector):
    """A page that begins further back than that is empty; one large scan gives all."""

    cap = 0

    async def scan(self, scope: str, **options: Any) -> list[VectorItem]:
        found, after = await super().scan(scope, **options), options.get("after")
        if after is None:
            return found
        return found if sum(name <= after for name in self._items(scope)) < self.cap else []


class _Asking(MemoryVector):
    """Changes what a query gives."""

    cap = 0

    def hits(self, found: list[Hit], scopes: Sequence[str], where: Filter | None) -> list[Hit]:
        return found

    async def query(self, scopes: Sequence[str], vector: Vector, k: int, *, where: Filter | None = None) -> list[Hit]:
        return self.hits(await super().query(scopes, vector, k, where=where), scopes, where)


@capped("V-28")
class FindsSoMany(_Asking):
    """``k`` has a most of its own."""

    def hits(self, found: list[Hit], scopes: Sequence[str], where: Filter | None) -> list[Hit]:
        return found[: self.cap]


class _Looking(_Asking):
    """A query looks at those items alone that were put first."""

    def first(self, scopes: Sequence[str]) -> frozenset[str]:
        return frozenset(name for scope in scopes for name in islice(self._items(scope), self.cap))


@capped("V-28")
class LooksAtTheFirst(_Looking):
    def hits(self, found: list[Hit], scopes: Sequence[str], where: Filter | None) -> list[Hit]:
        first = self.first(scopes)
        return [hit for hit in found if hit.id in first]


@capped("V-17")
class FiltersTheFirst(_Looking):
    """Only with a filter."""

    def hits(self, found: list[Hit], scopes: Sequence[str], where: Filter | None) -> list[Hit]:
        first = self.first(scopes) if where is not None else frozenset()
        return [hit for hit in found if where is None or hit.id in first]


@capped("V-17")
class FiltersTheNearest(MemoryVector):
    """So many candidates are looked up, and the filter is applied to them."""

    cap = 0

    async def query(self, scopes: Sequence[str], vector: Vector, k: int, *, where: Filter | None = None) -> list[Hit]:
        found = await super().query(scopes, vector, k, where=where)
        if where is None or sum(len(self._items(scope)) for scope in scopes) <= self.cap:
            return found
        near = {hit.id for hit in await super().query(scopes, vector, self.cap)}
        return [hit for hit in found if hit.id in near]


@capped("V-16", of_a_batch=True)
class AsksTheFirstScopes(MemoryVector):
    cap = 0

    async def query(self, scopes: Sequence[str], vector: Vector, k: int, *, where: Filter | None = None) -> list[Hit]:
        await super().query(scopes, vector, k, where=where)
        return await super().query(list(scopes)[: self.cap], vector, k, where=where)


@capped("V-23")
class CountsToSoMany(MemoryVector):
    cap = 0

    async def count(self, scope: str, *, where: Filter | None = None) -> int:
        return min(self.cap, await super().count(scope, where=where))


@capped("V-23")
class CountsToSoManyWithAFilter(MemoryVector):
    cap = 0

    async def count(self, scope: str, *, where: Filter | None = None) -> int:
        found = await super().count(scope, where=where)
        return found if where is None else min(self.cap, found)


@capped("V-20", of_a_batch=True)
class TakesTheFirstValuesOfAList(MemoryVector):
    cap = 0

    async def count(self, scope: str, *, where: Filter | None = None) -> int:
        known = await super().count(scope, where=where)
        if isinstance(where, Within) and not where.negate:
            return await super().count(scope, where=evolve(where, values=tuple(where.values)[: self.cap]))
        return known


# --- deleting ------------------------------------------------------------------------------------------------


class _Deleting(MemoryVector):
    """Keeps some of what it says that it deleted."""

    cap = 0
    by_ids = True

    async def delete(self, scope: str, *, ids: Any = None, where: Filter | None = None) -> int:
        self._scope(scope)
        check_delete(ids, where, self.info.limits)
        before = dict(self._items(scope))
        gone = await super().delete(scope, ids=ids, where=where)
        if (ids is not None) is self.by_ids:
            held = self._items(scope)
            held.update(islice(((n, item) for n, item in before.items() if n not in held), self.cap, None))
        return gone


@capped("V-22", of_a_batch=True)
class DeletesTheFirstIds(_Deleting):
    pass


@capped("V-22")
class DeletesSoManyByFilter(_Deleting):
    by_ids = False


@capped("V-22")
class SaysThatSoManyWent(MemoryVector):
    """All are deleted; the number has a most."""

    cap = 0

    async def delete(self, scope: str, *, ids: Any = None, where: Filter | None = None) -> int:
        return min(self.cap, await super().delete(scope, ids=ids, where=where))


@capped("V-24")
class DropsSoMany(MemoryVector):
    """What is left is there again when the scope is made anew."""

    cap = 0

    def __init__(self) -> None:
        super().__init__()
        self.left: dict[str, dict[str, VectorItem]] = {}

    async def drop(self, scope: str) -> None:
        left = dict(islice(self._items(scope).items(), self.cap, None))
        await super().drop(scope)
        if left:
            self.left[scope] = left

    async def create(self, scope: str, spec: Any) -> None:
        await super().create(scope, spec)
        self._items(scope).update(self.left.pop(scope, {}))


@capped("V-5")
class ListsSoManyScopes(MemoryVector):
    cap = 0

    async def scopes(self) -> list[str]:
        return (await super().scopes())[: self.cap]


@capped("V-1")
class DescribesSoManyScopes(MemoryVector):
    """A table of specs that lets go of the first."""

    cap = 0

    async def describe(self, scope: str) -> Any:
        found = await super().describe(scope)
        return found if scope in frozenset(islice(reversed(self._scopes), self.cap)) else None
