"""Wrong VectorStores: at size, in names, in filters, and with answers that are older than they may be."""

from __future__ import annotations

import asyncio
import unicodedata
from array import array
from collections.abc import Sequence
from typing import Any

from attrs import evolve

from saga_backends.memory import MemoryVector
from saga_core.capabilities import Capability
from saga_core.errors import BadInput
from saga_core.stores import And, Compare, Exists, Filter, Hit, Not, Or, ScopeSpec, Vector, VectorItem, Within
from tests.mutants.causes.state_names import like
from tests.mutants.stores_registry import breaks, renaming


class Upserting(MemoryVector):
    """Changes items that were found well formed."""

    def changed(self, scope: str, items: list[VectorItem]) -> list[VectorItem]:
        return items

    async def upsert(self, scope: str, items: Sequence[VectorItem]) -> None:
        probe = MemoryVector(self.info.limits)
        held = self._scope(scope)
        if held is not None:
            await probe.create(scope, held.spec)
        await probe.upsert(scope, items)
        await super().upsert(scope, self.changed(scope, list(items)))


class Asking(MemoryVector):
    """Changes the filter of every method, or what a query found."""

    def asked(self, where: Filter) -> Filter:
        return where

    def put(self, where: Filter | None) -> Filter | None:
        if where is None:
            return None
        if isinstance(where, And | Or):
            return self.asked(type(where)(tuple(self.inner(part) for part in where.parts)))
        if isinstance(where, Not):
            return self.asked(Not(self.inner(where.part)))
        return self.asked(where)

    def inner(self, where: Filter) -> Filter:
        return self.put(where) or where

    def hits(self, found: list[Hit], scopes: Sequence[str], k: int) -> list[Hit]:
        return found

    async def query(self, scopes: Sequence[str], vector: Vector, k: int, *, where: Filter | None = None) -> list[Hit]:
        await super().query(scopes, vector, k, where=where)
        return self.hits(await super().query(scopes, vector, k, where=self.put(where)), scopes, k)

    async def count(self, scope: str, *, where: Filter | None = None) -> int:
        await super().count(scope, where=where)
        return await super().count(scope, where=self.put(where))


class Matching(MemoryVector):
    """Compares in a way of its own, in every method that takes a filter."""

    def equal(self, found: Any, wanted: Any) -> bool:
        return self.kind(found) == self.kind(wanted) and bool(found == wanted)

    def below(self, found: Any, wanted: Any) -> bool:
        return bool(found < wanted)

    @staticmethod
    def kind(value: Any) -> str:
        return "number" if type(value) in (int, float) else type(value).__name__

    def passes(self, where: Filter, metadata: Any) -> bool:
        if isinstance(where, And):
            return all(self.passes(part, metadata) for part in where.parts)
        if isinstance(where, Or):
            return any(self.passes(part, metadata) for part in where.parts)
        if isinstance(where, Not):
            return not self.passes(where.part, metadata)
        if where.name not in metadata:
            return False
        found = metadata[where.name]
        if isinstance(where, Exists):
            return True
        if isinstance(where, Within):
            return any(self.equal(found, value) for value in where.values) is not where.negate
        return self.compares(where, found)

    def compares(self, where: Compare, found: Any) -> bool:
        if where.op == "eq":
            return self.equal(found, where.value)
        if where.op == "ne":
            return found is not None and where.value is not None and not self.equal(found, where.value)
        if self.kind(found) != self.kind(where.value) or self.kind(found) not in ("number", "str"):
            return False
        below, equal = self.below(found, where.value), self.equal(found, where.value)
        return {"lt": below, "le": below or equal, "gt": not below and not equal, "ge": not below}[where.op]

    def chosen(self, scope: str, where: Filter) -> list[str]:
        items = self._items(scope)
        return [name for name, item in items.items() if self.passes(where, item.metadata)]

    async def query(self, scopes: Sequence[str], vector: Vector, k: int, *, where: Filter | None = None) -> list[Hit]:
        found = await super().query(scopes, vector, k, where=where)
        if where is None:
            return found
        every = await super().query(scopes, vector, 10**9)
        return [hit for hit in every if self.passes(where, hit.metadata)][:k]

    async def count(self, scope: str, *, where: Filter | None = None) -> int:
        found = await super().count(scope, where=where)
        return found if where is None else len(self.chosen(scope, where))

    async def delete(self, scope: str, *, ids: Sequence[str] | None = None, where: Filter | None = None) -> int:
        if where is None or ids is not None:
            return await super().delete(scope, ids=ids, where=where)
        await super().count(scope, where=where)
        return await super().delete(scope, ids=self.chosen(scope, where))


# --- size ----------------------------------------------------------------------------------------------------


@breaks("V-13")
class ScanEndsAtAThousand(MemoryVector):
    async def scan(self, scope: str, **options: Any) -> list[VectorItem]:
        return (await super().scan(scope, **options))[:1_000]


@breaks("V-12")
class GetsNineHundredNinetyNine(MemoryVector):
    async def get(self, scope: str, ids: Sequence[str]) -> dict[str, VectorItem]:
        return dict(list((await super().get(scope, ids)).items())[:999])


@breaks("V-28")
class FindsFiveHundred(Asking):
    def hits(self, found: list[Hit], scopes: Sequence[str], k: int) -> list[Hit]:
        return found[:500]


@breaks("V-28")
class TheIndexSeesHalf(Asking):
    """From a thousand items on, a query looks into the nearer half of the lists only."""

    def hits(self, found: list[Hit], scopes: Sequence[str], k: int) -> list[Hit]:
        large = any(len(self._items(scope)) >= 1_000 for scope in scopes)
        return (
            [hit for hit in found if hash(len(hit.id)) >= 0 and int(hit.id[-1:], 36) % 2]
            if large and all(hit.id[-1:].isalnum() and hit.id[-1:].isascii() for hit in found)
            else found
        )


@breaks("V-16")
class RanksTenScopes(MemoryVector):
    async def query(self, scopes: Sequence[str], vector: Vector, k: int, *, where: Filter | None = None) -> list[Hit]:
        await super().query(scopes, vector, k, where=where)
        return await super().query(list(dict.fromkeys(scopes))[:10], vector, k, where=where)


@breaks("V-17")
class LooksAtTenTimesK(MemoryVector):
    """The filter is applied to ten times as many as were asked for, and never to more."""

    async def query(self, scopes: Sequence[str], vector: Vector, k: int, *, where: Filter | None = None) -> list[Hit]:
        found = await super().query(scopes, vector, k, where=where)
        if where is None:
            return found
        near = {(hit.id, hit.text) for hit in await super().query(scopes, vector, max(100, k * 10))}
        return [hit for hit in found if (hit.id, hit.text) in near]


@breaks("V-22")
class DeletesFiveHundred(MemoryVector):
    async def delete(self, scope: str, *, ids: Any = None, where: Filter | None = None) -> int:
        if ids is not None and not isinstance(ids, str) and 500 < len(ids) <= self.info.limits.batch:
            found = sorted(await self.get(scope, ids))
            await super().delete(scope, ids=found[:500])
            return len(found)
        return await super().delete(scope, ids=ids, where=where)


@breaks("V-22")
class DeletesAThousandByFilter(MemoryVector):
    """And says that there were as many as there were."""

    async def delete(self, scope: str, *, ids: Any = None, where: Filter | None = None) -> int:
        if where is None or ids is not None:
            return await super().delete(scope, ids=ids, where=where)
        kept = dict(self._items(scope))
        number = await super().delete(scope, where=where)
        gone = sorted(kept.keys() - self._items(scope).keys())
        for name in gone[1_000:]:
            self._items(scope)[name] = kept[name]
        return number


@breaks("V-23")
class CountsToAThousand(MemoryVector):
    async def count(self, scope: str, *, where: Filter | None = None) -> int:
        return min(1_000, await super().count(scope, where=where))


@breaks("V-23")
class CountsAPageWithAFilter(MemoryVector):
    async def count(self, scope: str, *, where: Filter | None = None) -> int:
        found = await super().count(scope, where=where)
        return found if where is None else min(256, found)


@breaks("V-24")
class DropsAThousand(MemoryVector):
    """The rest is found again when the scope is made anew."""

    def __init__(self) -> None:
        super().__init__()
        self.left: dict[str, dict[str, VectorItem]] = {}

    async def drop(self, scope: str) -> None:
        items = self._items(scope)
        self.left[scope] = {name: items[name] for name in sorted(items)[1_000:]}
        await super().drop(scope)

    async def create(self, scope: str, spec: ScopeSpec) -> None:
        new = self._scope(scope) is None
        await super().create(scope, spec)
        if new and self.left.get(scope):
            self._items(scope).update(self.left.pop(scope))


@breaks("V-6")
class LosesTheTailOfAnUpsert(Upserting):
    def changed(self, scope: str, items: list[VectorItem]) -> list[VectorItem]:
        return items[:2_000]


@breaks("V-6")
class LosesTheLastOfAChunk(Upserting):
    def changed(self, scope: str, items: list[VectorItem]) -> list[VectorItem]:
        return [item for at, item in enumerate(items) if at % 256 != 255 or at == len(items) - 1]


@breaks("V-6")
class TakesTheFirstOfTwoChunks(Upserting):
    def changed(self, scope: str, items: list[VectorItem]) -> list[VectorItem]:
        chunks = [items[at : at + 100] for at in range(0, len(items), 100)]
        return [item for chunk in reversed(chunks) for item in chunk]


@breaks("V-7")
class TearsALargeUpsert(MemoryVector):
    async def upsert(self, scope: str, items: Sequence[VectorItem]) -> None:
        await super().upsert(scope, [])
        if isinstance(items, str) or len(items) > self.info.limits.batch:
            await super().upsert(scope, items)
            return
        for at in range(0, len(items), 100):
            await super().upsert(scope, list(items)[at : at + 100])


@breaks("V-30")
class ShowsALargeUpsertInParts(MemoryVector):
    async def upsert(self, scope: str, items: Sequence[VectorItem]) -> None:
        probe = MemoryVector(self.info.limits)
        held = self._scope(scope)
        if held is not None:
            await probe.create(scope, held.spec)
        await probe.upsert(scope, items)
        for at in range(0, max(1, len(items)), 100):
            await super().upsert(scope, list(items)[at : at + 100])
            await asyncio.sleep(0)


@breaks("V-10")
class KeepsAThousandComponents(Upserting):
    def changed(self, scope: str, items: list[VectorItem]) -> list[VectorItem]:
        def cut(vector: Vector) -> Vector:
            return [*list(vector)[:1_024], *[0.0] * (len(vector) - 1_024)] if len(vector) > 1_024 else vector

        return [evolve(item, vector=cut(item.vector)) for item in items]


@breaks("V-11")
class CutsTextsOfHits(Asking):
    """What is read by id is whole, what is found is cut at 32,766 characters."""

    def hits(self, found: list[Hit], scopes: Sequence[str], k: int) -> list[Hit]:
        return [evolve(hit, text=hit.text[:200_000]) for hit in found]


@breaks("V-11")
class KeepsThirtyTwoFields(Upserting):
    def changed(self, scope: str, items: list[VectorItem]) -> list[VectorItem]:
        return [evolve(item, metadata=dict(list(item.metadata.items())[:32])) for item in items]


@breaks("V-20")
class LooksAtAHundredValues(Asking):
    def asked(self, where: Filter) -> Filter:
        return evolve(where, values=where.values[:100]) if isinstance(where, Within) else where


@breaks("V-20")
class LooksAtThirtyTwoParts(Asking):
    def asked(self, where: Filter) -> Filter:
        return evolve(where, parts=where.parts[:32]) if isinstance(where, And | Or) else where


# --- filters -------------------------------------------------------------------------------------------------


@breaks("V-18")
class EqualWithoutCase(Matching):
    def equal(self, found: Any, wanted: Any) -> bool:
        if isinstance(found, str) and isinstance(wanted, str):
            return found.casefold() == wanted.casefold()
        return super().equal(found, wanted)


@breaks("V-18")
class EqualWithPadding(Matching):
    """Spaces at the end do not count, as in some columns of fixed width."""

    def equal(self, found: Any, wanted: Any) -> bool:
        if isinstance(found, str) and isinstance(wanted, str):
            return found.rstrip(" ") == wanted.rstrip(" ")
        return super().equal(found, wanted)


@breaks("V-18")
class EqualComposed(Matching):
    def equal(self, found: Any, wanted: Any) -> bool:
        if isinstance(found, str) and isinstance(wanted, str):
            return unicodedata.normalize("NFC", found) == unicodedata.normalize("NFC", wanted)
        return super().equal(found, wanted)


@breaks("V-18")
class EqualWithinAHair(Matching):
    def equal(self, found: Any, wanted: Any) -> bool:
        if type(found) is float and type(wanted) is float:
            return abs(found - wanted) < 1e-9
        return super().equal(found, wanted)


@breaks("V-18")
class EqualInThirtyTwoBits(Matching):
    def equal(self, found: Any, wanted: Any) -> bool:
        if self.kind(found) == self.kind(wanted) == "number" and max(abs(found), abs(wanted)) < 1e30:
            return array("f", [found]) == array("f", [wanted])
        return super().equal(found, wanted)


@breaks("V-18")
class EqualByTheFirstCharacters(Matching):
    """An index over the first 64 characters decides."""

    def equal(self, found: Any, wanted: Any) -> bool:
        if isinstance(found, str) and isinstance(wanted, str):
            return found[:64] == wanted[:64]
        return super().equal(found, wanted)


@breaks("V-18")
class EqualWithLike(Matching):
    def equal(self, found: Any, wanted: Any) -> bool:
        if isinstance(found, str) and isinstance(wanted, str):
            return found == wanted or ("%" in wanted and like(wanted, found))
        return super().equal(found, wanted)


@breaks("V-19")
class OrdersByUtf16(Matching):
    def below(self, found: Any, wanted: Any) -> bool:
        if isinstance(found, str):
            return bool(found.encode("utf-16-be") < wanted.encode("utf-16-be"))
        return super().below(found, wanted)


@breaks("V-19")
class OrdersWithoutCase(Matching):
    def below(self, found: Any, wanted: Any) -> bool:
        if isinstance(found, str):
            return (found.casefold(), found) < (wanted.casefold(), wanted)
        return super().below(found, wanted)


@breaks("V-19")
class OrdersByDictionary(Matching):
    """Accents come after letters, as a collation would have it."""

    def below(self, found: Any, wanted: Any) -> bool:
        if isinstance(found, str):
            return (unicodedata.normalize("NFD", found), found) < (unicodedata.normalize("NFD", wanted), wanted)
        return super().below(found, wanted)


@breaks("V-19")
class OrdersNumbersInText(Matching):
    """``10`` stands behind ``9``."""

    def below(self, found: Any, wanted: Any) -> bool:
        if isinstance(found, str) and found.isdecimal() and wanted.isdecimal():
            return int(found) < int(wanted)
        return super().below(found, wanted)


@breaks("V-19")
class OrdersInThirtyTwoBits(Matching):
    def below(self, found: Any, wanted: Any) -> bool:
        if self.kind(found) == "number" and max(abs(found), abs(wanted)) < 1e30:
            return array("f", [found])[0] < array("f", [wanted])[0]
        return super().below(found, wanted)


@breaks("V-20")
class TakesFieldsWithoutCase(Asking):
    def asked(self, where: Filter) -> Filter:
        if isinstance(where, Exists | Compare | Within):
            names = {name for held in self._scopes.values() for i in held.items.values() for name in i.metadata}
            twin = next((name for name in sorted(names) if name.casefold() == where.name.casefold()), where.name)
            return evolve(where, name=where.name if where.name in names else twin)
        return where


@breaks("V-20")
class ReadsFieldsAsPaths(Matching):
    """A point in the name of a field leads into another field, which no scalar has."""

    def passes(self, where: Filter, metadata: Any) -> bool:
        if isinstance(where, Exists | Compare | Within) and "." in where.name:
            return False
        return super().passes(where, metadata)


@breaks("V-20")
class DeletesWithoutNull(MemoryVector):
    """``exists`` is false for null in ``delete`` alone."""

    async def delete(self, scope: str, *, ids: Any = None, where: Filter | None = None) -> int:
        if isinstance(where, Exists) and ids is None:
            await super().count(scope, where=where)
            return await super().delete(scope, where=And((where, Not(Compare(where.name, "eq", None)))))
        return await super().delete(scope, ids=ids, where=where)


@breaks("V-20")
class CountsMissingAsNeither(MemoryVector):
    """``not`` is false in ``count`` where the field is missing."""

    async def count(self, scope: str, *, where: Filter | None = None) -> int:
        if isinstance(where, Not) and isinstance(where.part, Compare):
            await super().count(scope, where=where)
            return await super().count(scope, where=And((where, Exists(where.part.name))))
        return await super().count(scope, where=where)


# --- names ---------------------------------------------------------------------------------------------------


class Reserved(Upserting):
    """A field of this name is kept where the engine keeps its own."""

    name = "id"

    def changed(self, scope: str, items: list[VectorItem]) -> list[VectorItem]:
        def own(item: VectorItem) -> dict[str, Any]:
            return {k: item.id if k == self.name else v for k, v in item.metadata.items()}

        return [evolve(item, metadata=own(item)) for item in items]


for title, reserved in {
    "Id": "id",
    "Text": "text",
    "Document": "document",
    "Vector": "vector",
    "Score": "score",
    "Scope": "scope",
    "Distance": "_distance",
    "Embedding": "embedding",
}.items():
    breaks("V-11")(type(f"KeepsItsOwnUnder{title}", (Reserved,), {"name": reserved}))


@breaks("V-5")
class JoinsScopeAndId(MemoryVector):
    """Item ``b:c`` of the scope ``a`` and item ``c`` of the scope ``a:b`` are one."""

    async def upsert(self, scope: str, items: Sequence[VectorItem]) -> None:
        await super().upsert(scope, items)
        for item in items:
            for other, held in self._scopes.items():
                for twin in [t for t in held.items if other != scope and f"{other}:{t}" == f"{scope}:{item.id}"]:
                    held.items[twin] = evolve(held.items[twin], text=item.text)


def otherwise(title: str, method: str, rename: Any) -> None:
    """A store whose ``method`` sees its scope under another name."""
    renaming(breaks("V-5")(type(title, (MemoryVector,), {"__module__": __name__})), method, rename)


otherwise("FoldsCaseInDrop", "drop", str.lower)
otherwise("FoldsCaseInDelete", "delete", str.lower)
otherwise("FoldsCaseInCount", "count", str.lower)
otherwise("FoldsCaseInGet", "get", str.lower)
otherwise("FoldsCaseInScan", "scan", str.lower)
otherwise("FoldsCaseInDescribe", "describe", str.lower)
otherwise("TrimsInDelete", "delete", str.strip)
otherwise("ComposesInCount", "count", lambda scope: unicodedata.normalize("NFC", scope))


@breaks("V-24")
class DropsWithLike(MemoryVector):
    async def drop(self, scope: str) -> None:
        await super().drop(scope)
        for other in [name for name in self._scopes if like(scope, name)]:
            await super().drop(other)


@breaks("V-22")
class DeletesIdsWithoutCase(MemoryVector):
    async def delete(self, scope: str, *, ids: Any = None, where: Filter | None = None) -> int:
        if ids is None or where is not None:
            return await super().delete(scope, ids=ids, where=where)
        await self.get(scope, ids)
        folded = {name.casefold() for name in ids}
        return await super().delete(scope, ids=[name for name in self._items(scope) if name.casefold() in folded])


# --- answers of yesterday, and scores ------------------------------------------------------------------------


class Cached(MemoryVector):
    """A query that was asked before is answered as before, until a write."""

    forgets = frozenset({"upsert", "delete", "drop", "create"})

    def __init__(self) -> None:
        super().__init__()
        self.answers: dict[Any, Any] = {}

    def wrote(self, method: str) -> None:
        if method in self.forgets:
            self.answers.clear()

    async def query(self, scopes: Sequence[str], vector: Vector, k: int, *, where: Filter | None = None) -> list[Hit]:
        found = await super().query(scopes, vector, k, where=where)
        return list(self.answers.setdefault((tuple(scopes), tuple(vector), k, repr(where)), found))

    async def upsert(self, scope: str, items: Sequence[VectorItem]) -> None:
        await super().upsert(scope, items)
        self.wrote("upsert")

    async def delete(self, scope: str, **options: Any) -> int:
        found = await super().delete(scope, **options)
        self.wrote("delete")
        return found

    async def drop(self, scope: str) -> None:
        await super().drop(scope)
        self.wrote("drop")


@breaks("V-22")
class DeleteLeavesTheQueryCache(Cached):
    forgets = frozenset({"upsert", "drop", "create"})


@breaks("V-24")
class DropLeavesTheQueryCache(Cached):
    forgets = frozenset({"upsert", "delete"})


@breaks("V-6")
class ReplacingLeavesTheQueryCache(Cached):
    """Only a new id makes an answer stale."""

    forgets = frozenset({"delete", "drop"})

    async def upsert(self, scope: str, items: Sequence[VectorItem]) -> None:
        before = set(self._items(scope))
        await super().upsert(scope, items)
        if any(item.id not in before for item in items):
            self.answers.clear()


@breaks("V-23")
class RemembersCounts(MemoryVector):
    """A count with a filter is remembered until the number of items changes."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: dict[Any, int] = {}

    async def count(self, scope: str, *, where: Filter | None = None) -> int:
        found = await super().count(scope, where=where)
        return self.counts.setdefault((scope, len(self._items(scope)), repr(where)), found)


@breaks("V-6")
class SkipsWhatItHasSeen(MemoryVector):
    """An upsert that was made before is not made again: A, B, A leaves B."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[Any] = set()

    async def upsert(self, scope: str, items: Sequence[VectorItem]) -> None:
        await super().upsert(scope, [])
        name = (
            (scope, repr([(getattr(i, "id", i), list(getattr(i, "vector", "")), i.metadata, i.text) for i in items]))
            if all(isinstance(i, VectorItem) and isinstance(i.vector, tuple | list | array) for i in items)
            else None
        )
        if name is None or name not in self.seen or not items:
            await super().upsert(scope, items)
        self.seen.add(name)

    async def drop(self, scope: str) -> None:
        await super().drop(scope)
        self.seen.clear()

    async def delete(self, scope: str, **options: Any) -> int:
        self.seen.clear()
        return await super().delete(scope, **options)


@breaks("V-6")
class FindsTheOldVectorToo(Cached):
    """The vector that an item had before stays in the index when only its vector changed."""

    forgets = frozenset({"delete", "drop"})

    async def upsert(self, scope: str, items: Sequence[VectorItem]) -> None:
        old = dict(self._items(scope))
        await super().upsert(scope, items)
        moved = [i for i in items if i.id in old and old[i.id].metadata == i.metadata and old[i.id].text == i.text]
        if not moved:
            self.answers.clear()


@breaks("V-15")
class OrdersBeforeItRounds(MemoryVector):
    """Scores that are equal when they are rounded are ordered by what they were before."""

    async def query(self, scopes: Sequence[str], vector: Vector, k: int, *, where: Filter | None = None) -> list[Hit]:
        found = await super().query(scopes, vector, 10**9 if type(k) is int and k > 0 else k, where=where)
        asked = array("f", vector)
        exact = {(s, n): i.vector for s in scopes for n, i in self._items(s).items()}

        def place(hit: Hit) -> tuple[float, float]:
            stored = next((v for (s, n), v in exact.items() if n == hit.id), asked)
            size = sum(x * x for x in stored) ** 0.5 * sum(x * x for x in asked) ** 0.5
            fine = sum(x * y for x, y in zip(stored, asked, strict=True)) / size if 0 < size < 1e30 else hit.score
            return -hit.score, -round(fine, 9)

        return sorted(found, key=place)[:k]


@breaks("V-14")
class ScoresInThirtyTwoBits(Asking):
    def hits(self, found: list[Hit], scopes: Sequence[str], k: int) -> list[Hit]:
        return [evolve(hit, score=array("f", [hit.score])[0]) for hit in found]


@breaks("V-10")
class TakesListsOnly(MemoryVector):
    """A vector of numpy has another type than it knows."""

    async def upsert(self, scope: str, items: Sequence[VectorItem]) -> None:
        for item in items:
            if isinstance(item, VectorItem) and not isinstance(item.vector, list | tuple | array):
                raise BadInput(f"items: {type(item.vector).__name__} is no list")
        await super().upsert(scope, items)


@breaks("V-14")
class DoubtsAVectorOfNumpy(MemoryVector):
    """``if vector`` is asked of the asked vector."""

    async def query(self, scopes: Sequence[str], vector: Vector, k: int, *, where: Filter | None = None) -> list[Hit]:
        if type(vector).__name__ == "ndarray":
            raise BadInput("vector: give a list")
        return await super().query(scopes, vector, k, where=where)


@breaks("V-29", Capability.RESIDENT, Capability.APPROXIMATE, recall=0.0)
class FindsNothingOfMany(MemoryVector):
    """Approximate, and from a hundred items on it finds nothing; the harness says a recall of 0."""

    def __init__(self) -> None:
        super().__init__()
        self._info = evolve(self._info, capabilities=frozenset({Capability.RESIDENT, Capability.APPROXIMATE}))

    async def query(self, scopes: Sequence[str], vector: Vector, k: int, *, where: Filter | None = None) -> list[Hit]:
        found = await super().query(scopes, vector, k, where=where)
        return [] if sum(len(self._items(scope)) for scope in scopes) >= 100 else found


@breaks("L-7")
class RecursesIntoFilters(MemoryVector):
    """A filter of three thousand levels ends in a RecursionError."""

    async def count(self, scope: str, *, where: Filter | None = None) -> int:
        def depth(part: Any) -> int:
            if isinstance(part, Not):
                return 1 + depth(part.part)
            return 1 + max((depth(p) for p in part.parts), default=0) if isinstance(part, And | Or) else 0

        depth(where)
        return await super().count(scope, where=where)
