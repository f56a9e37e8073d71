"""Wrong VectorStores: each breaks one clause."""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import evolve

from conformance.oracles import passes
from saga_backends.memory import MemoryVector, _VectorScope
from saga_core.capabilities import Capability
from saga_core.errors import BadInput, NotFound, ScopeMismatch
from saga_core.stores.filters import Compare, Exists, Filter, Not, Within
from saga_core.stores.vector import Hit, ScopeSpec, Vector, VectorItem
from tests.mutants.stores_registry import breaks, renaming


@breaks("V-1")
class EmptiesAScopeMadeTwice(MemoryVector):
    async def create(self, scope: str, spec: ScopeSpec) -> None:
        await super().create(scope, spec)
        self._scopes[scope] = _VectorScope(spec)


@breaks("V-1")
class DescribesOnlyWhatHoldsItems(MemoryVector):
    async def describe(self, scope: str) -> ScopeSpec | None:
        found = await super().describe(scope)
        return found if await super().count(scope) else None


@breaks("V-2")
class TakesAnotherSpec(MemoryVector):
    async def create(self, scope: str, spec: ScopeSpec) -> None:
        try:
            await super().create(scope, spec)
        except ScopeMismatch:
            self._scopes[scope] = evolve(self._scopes[scope], spec=spec)


@breaks("V-2")
class LooksAtTheDimensionAlone(MemoryVector):
    async def create(self, scope: str, spec: ScopeSpec) -> None:
        known = await super().describe(scope)
        if known is not None and known.dimension == spec.dimension:
            return
        await super().create(scope, spec)


@breaks("V-3")
class CallsItDefault(MemoryVector):
    async def create(self, scope: str, spec: ScopeSpec) -> None:
        await super().create(scope, spec if spec.embedder != "" else evolve(spec, embedder="default"))


@breaks("V-4")
class MakesAScopeByUpsert(MemoryVector):
    async def upsert(self, scope: str, items: Sequence[VectorItem]) -> None:
        if items and await super().describe(scope) is None and isinstance(items[0], VectorItem):
            await super().create(scope, ScopeSpec("?", max(1, len(items[0].vector))))
        await super().upsert(scope, items)


@breaks("V-4")
class MissesAnUnknownScope(MemoryVector):
    async def count(self, scope: str, *, where: Filter | None = None) -> int:
        if await super().describe(scope) is None:
            raise NotFound("no such scope")
        return await super().count(scope, where=where)


@breaks("V-5")
class FoldsCase(MemoryVector):
    async def query(self, scopes: Any, vector: Vector, k: int, *, where: Filter | None = None) -> list[Hit]:
        folded = scopes if isinstance(scopes, str) else [s.casefold() if isinstance(s, str) else s for s in scopes]
        return await super().query(folded, vector, k, where=where)


renaming(FoldsCase, "create describe upsert get scan delete count drop", str.casefold)


@breaks("V-5")
class ListsScopesAsTheyCame(MemoryVector):
    async def scopes(self) -> list[str]:
        await super().scopes()
        return list(self._scopes)


class Rewriting(MemoryVector):
    """Changes items before it puts them."""

    def rewritten(self, scope: str, items: list[VectorItem]) -> list[VectorItem]:
        return items

    async def upsert(self, scope: str, items: Any) -> None:
        plain = not isinstance(items, str) and all(isinstance(item, VectorItem) for item in items)
        await super().upsert(scope, self.rewritten(scope, list(items)) if plain else items)


@breaks("V-6")
class MergesMetadata(Rewriting):
    def rewritten(self, scope: str, items: list[VectorItem]) -> list[VectorItem]:
        old = self._scopes[scope].items if scope in self._scopes else {}
        return [evolve(i, metadata={**old[i.id].metadata, **i.metadata}) if i.id in old else i for i in items]


@breaks("V-6")
class TakesTheFirstOfTwo(Rewriting):
    def rewritten(self, scope: str, items: list[VectorItem]) -> list[VectorItem]:
        return items[::-1]


@breaks("V-7")
class TearsAnUpsert(MemoryVector):
    async def upsert(self, scope: str, items: Sequence[VectorItem]) -> None:
        try:
            await super().upsert(scope, items)
        except (BadInput, ScopeMismatch):
            await super().upsert(scope, items[:1])
            raise


@breaks("V-8")
class FillsShortVectors(Rewriting):
    def rewritten(self, scope: str, items: list[VectorItem]) -> list[VectorItem]:
        spec = self._scopes[scope].spec if scope in self._scopes else None
        if spec is None:
            return items
        return [evolve(i, vector=self.filled(i.vector, spec.dimension)) for i in items]

    def filled(self, vector: Vector, dimension: int) -> Vector:
        return [*vector, *[0.0] * (dimension - len(vector))] if isinstance(vector, tuple) else vector


@breaks("V-8")
class FindsNothingInAnotherDimension(MemoryVector):
    async def query(self, scopes: Sequence[str], vector: Vector, k: int, *, where: Filter | None = None) -> list[Hit]:
        try:
            return await super().query(scopes, vector, k, where=where)
        except ScopeMismatch:
            return []


@breaks("V-9")
class StoresNanAsZero(Rewriting):
    def rewritten(self, scope: str, items: list[VectorItem]) -> list[VectorItem]:
        def clean(vector: Any) -> Any:
            if not isinstance(vector, tuple | list):
                return vector
            return [0.0 if isinstance(part, float) and math.isnan(part) else part for part in vector]

        return [evolve(item, vector=clean(item.vector)) for item in items]


@breaks("V-9")
class LeavesOutBadMetadata(Rewriting):
    def rewritten(self, scope: str, items: list[VectorItem]) -> list[VectorItem]:
        def plain(metadata: Mapping[str, Any]) -> dict[str, Any]:
            return {n: v for n, v in metadata.items() if isinstance(v, str | int | float | bool | None)}

        return [evolve(item, metadata=plain(item.metadata)) for item in items]


@breaks("V-10")
class GivesVectorsAsLists(MemoryVector):
    async def get(self, scope: str, ids: Sequence[str]) -> dict[str, VectorItem]:
        found = await super().get(scope, ids)
        return {name: evolve(item, vector=list(item.vector)) for name, item in found.items()}


@breaks("V-10")
class NormalisesVectors(Rewriting):
    def rewritten(self, scope: str, items: list[VectorItem]) -> list[VectorItem]:
        def unit(vector: Any) -> Any:
            try:
                length = math.sqrt(sum(part * part for part in vector))
                return array("f", [part / length for part in vector]) if 0 < length < 1e38 else vector
            except TypeError:
                return vector

        return [evolve(item, vector=unit(item.vector)) for item in items]


@breaks("V-11")
class MakesFloatsOfInts(Rewriting):
    def rewritten(self, scope: str, items: list[VectorItem]) -> list[VectorItem]:
        def floated(metadata: Mapping[str, Any]) -> dict[str, Any]:
            return {n: float(v) if type(v) is int and abs(v) < 2**53 else v for n, v in metadata.items()}

        return [evolve(item, metadata=floated(item.metadata)) for item in items]


@breaks("V-11")
class LosesNullMetadata(Rewriting):
    def rewritten(self, scope: str, items: list[VectorItem]) -> list[VectorItem]:
        return [evolve(i, metadata={n: v for n, v in i.metadata.items() if v is not None}) for i in items]


@breaks("V-12")
class ForgetsTheSecondOfTwoIds(MemoryVector):
    async def get(self, scope: str, ids: Sequence[str]) -> dict[str, VectorItem]:
        found = await super().get(scope, ids)
        return {name: item for name, item in found.items() if list(ids).count(name) == 1}


@breaks("V-13")
class GivesTheItemAfterAgain(MemoryVector):
    async def scan(self, scope: str, *, after: str | None = None, limit: int = 1_000) -> list[VectorItem]:
        found = await super().scan(scope, after=after, limit=limit)
        again = await super().get(scope, [after]) if after is not None and found else {}
        return [*again.values(), *found]


@breaks("V-13")
class ScansByUtf16(MemoryVector):
    async def scan(self, scope: str, *, after: str | None = None, limit: int = 1_000) -> list[VectorItem]:
        await super().scan(scope, after=after, limit=limit)

        def order(name: str) -> bytes:
            return name.encode("utf-16-be")

        found = await super().scan(scope, limit=10**6)
        found = [item for item in found if after is None or order(item.id) > order(after)]
        return sorted(found, key=lambda item: order(item.id))[:limit]


class Ranking(MemoryVector):
    """Ranks everything that passes in a way of its own."""

    def rank(self, asked: Vector, entries: list[tuple[int, VectorItem, Hit]]) -> list[Hit]:
        return [hit for _, _, hit in entries]

    async def query(self, scopes: Sequence[str], vector: Vector, k: int, *, where: Filter | None = None) -> list[Hit]:
        await super().query(scopes, vector, k, where=where)
        entries = []
        for place, scope in enumerate(dict.fromkeys(scopes)):
            for hit in await super().query([scope], vector, 10**6, where=where):
                entries.append((place, self._scopes[scope].items[hit.id], hit))
        entries.sort(key=lambda entry: (-entry[2].score, entry[2].id, entry[0]))
        return self.rank(vector, entries)[:k]


@breaks("V-14")
class ScoresByTheProduct(Ranking):
    def rank(self, asked: Vector, entries: list[tuple[int, VectorItem, Hit]]) -> list[Hit]:
        found = [
            evolve(hit, score=sum(a * b for a, b in zip(asked, item.vector, strict=True))) for _, item, hit in entries
        ]
        return sorted(found, key=lambda hit: (-hit.score, hit.id))


@breaks("V-14")
class ScoresFromZeroToOne(Ranking):
    def rank(self, asked: Vector, entries: list[tuple[int, VectorItem, Hit]]) -> list[Hit]:
        return [evolve(hit, score=(hit.score + 1) / 2) for _, _, hit in entries]


@breaks("V-15")
class BreaksTiesBackwards(Ranking):
    def rank(self, asked: Vector, entries: list[tuple[int, VectorItem, Hit]]) -> list[Hit]:
        turned = sorted(entries, key=lambda entry: entry[2].id, reverse=True)
        return [hit for _, _, hit in sorted(turned, key=lambda entry: -entry[2].score)]


@breaks("V-15")
class BreaksTiesAsTheyCame(Ranking):
    def rank(self, asked: Vector, entries: list[tuple[int, VectorItem, Hit]]) -> list[Hit]:
        came = {id(item): at for held in self._scopes.values() for at, item in enumerate(held.items.values())}
        return [hit for _, _, hit in sorted(entries, key=lambda e: (-e[2].score, came[id(e[1])]))]


@breaks("V-15")
class PutsTheFarthestFirst(Ranking):
    def rank(self, asked: Vector, entries: list[tuple[int, VectorItem, Hit]]) -> list[Hit]:
        return [hit for _, _, hit in sorted(entries, key=lambda e: (e[2].score, e[2].id, e[0]))]


@breaks("V-16")
class RanksScopeByScope(Ranking):
    def rank(self, asked: Vector, entries: list[tuple[int, VectorItem, Hit]]) -> list[Hit]:
        return [hit for _, _, hit in sorted(entries, key=lambda e: (e[0], -e[2].score, e[2].id))]


@breaks("V-16")
class CountsAScopeTwice(MemoryVector):
    async def query(self, scopes: Sequence[str], vector: Vector, k: int, *, where: Filter | None = None) -> list[Hit]:
        await super().query(scopes, vector, k, where=where)
        found = [
            hit
            for scope in scopes
            for hit in await super(CountsAScopeTwice, self).query([scope], vector, k, where=where)
        ]
        return sorted(found, key=lambda hit: (-hit.score, hit.id))[:k]


@breaks("V-17")
class FiltersAfterTheCut(MemoryVector):
    async def query(self, scopes: Sequence[str], vector: Vector, k: int, *, where: Filter | None = None) -> list[Hit]:
        await super().query(scopes, vector, k, where=where)
        found = await super().query(scopes, vector, k)
        return [hit for hit in found if where is None or passes(where, hit.metadata)]


class Filtering(MemoryVector):
    """Rewrites filters."""

    def where(self, where: Filter) -> Filter:
        return where

    async def query(self, scopes: Sequence[str], vector: Vector, k: int, *, where: Filter | None = None) -> list[Hit]:
        return await super().query(scopes, vector, k, where=self.where(where) if where is not None else None)

    async def count(self, scope: str, *, where: Filter | None = None) -> int:
        return await super().count(scope, where=self.where(where) if where is not None else None)


@breaks("V-18")
class TakesTrueForOne(Filtering):
    def where(self, where: Filter) -> Filter:
        if isinstance(where, Compare) and where.op == "eq" and where.value in (0, 1):
            return Within(where.name, (int(where.value or 0), bool(where.value)))
        return where


@breaks("V-18")
class TakesMissingForDifferent(Filtering):
    def where(self, where: Filter) -> Filter:
        if isinstance(where, Compare) and where.op == "ne":
            return Not(Compare(where.name, "eq", where.value))
        return where


@breaks("V-19")
class ConfusesBelowAndUpTo(Filtering):
    def where(self, where: Filter) -> Filter:
        if isinstance(where, Compare) and where.op == "lt":
            return Compare(where.name, "le", where.value)
        return where


@breaks("V-19")
class ComparesAsFloats(Filtering):
    def where(self, where: Filter) -> Filter:
        if isinstance(where, Compare) and where.op not in ("eq", "ne") and type(where.value) is int:
            return Compare(where.name, where.op, float(where.value))
        return where


@breaks("V-20")
class TakesMissingForNotIn(Filtering):
    def where(self, where: Filter) -> Filter:
        if isinstance(where, Within) and where.negate:
            return Not(Within(where.name, where.values))
        return where


@breaks("V-20")
class TakesNullForMissing(Filtering):
    def where(self, where: Filter) -> Filter:
        return Compare(where.name, "ne", None) if isinstance(where, Exists) else where


@breaks("V-21")
class LooksAtAFilterOnlyForData(MemoryVector):
    async def count(self, scope: str, *, where: Filter | None = None) -> int:
        return await super().count(scope, where=where if await super().count(scope) else None)


@breaks("V-21")
class PassesBadFilters(MemoryVector):
    async def query(self, scopes: Sequence[str], vector: Vector, k: int, *, where: Filter | None = None) -> list[Hit]:
        try:
            return await super().query(scopes, vector, k, where=where)
        except BadInput:
            return await super().query(scopes, vector, k)


@breaks("V-22")
class SaysHowManyWereAsked(MemoryVector):
    async def delete(self, scope: str, *, ids: Sequence[str] | None = None, where: Filter | None = None) -> int:
        found = await super().delete(scope, ids=ids, where=where)
        return len(ids) if ids is not None else found


@breaks("V-22")
class LosesADelete(MemoryVector):
    """Removes the first only."""

    async def delete(self, scope: str, *, ids: Sequence[str] | None = None, where: Filter | None = None) -> int:
        before = dict(self._scopes[scope].items) if scope in self._scopes else {}
        found = await super().delete(scope, ids=ids, where=where)
        if found > 1:
            last = [name for name in before if name not in self._scopes[scope].items][-1]
            self._scopes[scope].items[last] = before[last]
        return found


@breaks("V-23")
class CountsEverything(MemoryVector):
    async def count(self, scope: str, *, where: Filter | None = None) -> int:
        await super().count(scope, where=where)
        return await super().count(scope)


@breaks("V-23")
class CountsUpserts(MemoryVector):
    def __init__(self) -> None:
        super().__init__()
        self.put: dict[str, int] = {}

    async def upsert(self, scope: str, items: Sequence[VectorItem]) -> None:
        await super().upsert(scope, items)
        self.put[scope] = self.put.get(scope, 0) + len(items)

    async def count(self, scope: str, *, where: Filter | None = None) -> int:
        found = await super().count(scope, where=where)
        return self.put.get(scope, 0) if where is None else found


@breaks("V-24")
class DropLeavesTheSpec(MemoryVector):
    async def drop(self, scope: str) -> None:
        spec = await super().describe(scope)
        await super().drop(scope)
        if spec is not None:
            await super().create(scope, spec)


@breaks("V-24")
class DropLeavesItems(MemoryVector):
    def __init__(self) -> None:
        super().__init__()
        self.left: dict[str, Any] = {}

    async def drop(self, scope: str) -> None:
        held = self._scopes.get(scope)
        await super().drop(scope)
        if held is not None:
            self.left[scope] = held.items

    async def create(self, scope: str, spec: ScopeSpec) -> None:
        fresh = await super().describe(scope) is None
        await super().create(scope, spec)
        if fresh:
            self._scopes[scope].items.update(self.left.pop(scope, {}))


@breaks("V-25")
class FindsNothingForZero(MemoryVector):
    async def query(self, scopes: Sequence[str], vector: Vector, k: int, *, where: Filter | None = None) -> list[Hit]:
        return [] if k == 0 and type(k) is int else await super().query(scopes, vector, k, where=where)


@breaks("V-25")
class TakesAWordForALetterList(MemoryVector):
    async def get(self, scope: str, ids: Sequence[str]) -> dict[str, VectorItem]:
        return await super().get(scope, list(ids) if isinstance(ids, str) else ids)


@breaks("V-26")
class CutsLongTexts(Rewriting):
    def rewritten(self, scope: str, items: list[VectorItem]) -> list[VectorItem]:
        most = self.info.limits.value_bytes

        def cut(text: Any) -> Any:
            return text[:most] if isinstance(text, str) else text

        return [evolve(item, text=cut(item.text)) for item in items]


@breaks("V-26")
class SplitsAnUpsert(MemoryVector):
    async def upsert(self, scope: str, items: Sequence[VectorItem]) -> None:
        most = self.info.limits.batch
        for start in range(0, max(len(items), 1), most):
            await super().upsert(scope, items[start : start + most])


@breaks("V-27")
class SharesMetadata(MemoryVector):
    async def query(self, scopes: Sequence[str], vector: Vector, k: int, *, where: Filter | None = None) -> list[Hit]:
        found = await super().query(scopes, vector, k, where=where)
        held = {name: item for scope in self._scopes.values() for name, item in scope.items.items()}
        return [evolve(hit, metadata=held[hit.id].metadata) for hit in found]


@breaks("V-27")
class KeepsTheCallersVector(MemoryVector):
    async def upsert(self, scope: str, items: Sequence[VectorItem]) -> None:
        await super().upsert(scope, items)
        for item in items:
            if isinstance(item.vector, array) and item.vector.typecode == "f":
                held = self._scopes[scope].items
                held[item.id] = evolve(held[item.id], vector=item.vector)


class Sampling(MemoryVector):
    """Looks at one item in so many."""

    every = 2

    async def query(self, scopes: Sequence[str], vector: Vector, k: int, *, where: Filter | None = None) -> list[Hit]:
        found = await super().query(scopes, vector, 10**6 if type(k) is int and k > 0 else k, where=where)
        if len(found) > 100:
            found = [hit for at, hit in enumerate(found) if at % self.every]
        return found[:k]


@breaks("V-28")
class MissesHalf(Sampling):
    pass


class ApproximateVector(Sampling):
    """A reference: says that it may miss some, and misses a tenth."""

    every = 10

    def __init__(self) -> None:
        super().__init__()
        self._info = evolve(self._info, capabilities=self._info.capabilities | {Capability.APPROXIMATE})


@breaks("V-29", recall=0.8)
class MissesMoreThanItSays(ApproximateVector):
    every = 2


@breaks("V-29", recall=0.8)
class ScoresByGuess(ApproximateVector):
    async def query(self, scopes: Sequence[str], vector: Vector, k: int, *, where: Filter | None = None) -> list[Hit]:
        return (await super().query(scopes, vector, k, where=where))[::-1]


class IndexesBehindACall:
    """Of more items than one call writes, it looks at one in two: an index begins there."""

    async def query(self, scopes: Sequence[str], vector: Vector, k: int, *, where: Filter | None = None) -> list[Hit]:
        found = await MemoryVector.query(self, scopes, vector, 10**6 if type(k) is int and k > 0 else k, where=where)  # type: ignore[arg-type]
        few = len(found) <= 5_000  # with a filter, half of them
        return (found if few else found[1::2])[:k]


@breaks("V-28")
class MissesBehindACall(IndexesBehindACall, MemoryVector):
    pass


@breaks("V-29", recall=0.8)
class MissesMoreBehindACall(IndexesBehindACall, ApproximateVector):
    pass


@breaks("V-15")
class OrdersTiesAsItLikes(ApproximateVector):
    """An approximate store may miss one of several equal scores, and has the others in order."""

    async def query(self, scopes: Sequence[str], vector: Vector, k: int, *, where: Filter | None = None) -> list[Hit]:
        found = await super().query(scopes, vector, k, where=where)
        return sorted(found, key=lambda hit: (-hit.score, hash(hit.id)))
