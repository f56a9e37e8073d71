"""Wrong StateKVs and MdCaches that are right up to a number: beyond it they leave something out, and say nothing."""

from __future__ import annotations

import asyncio
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from itertools import islice

from attrs import evolve

from saga_backends.memory import MemoryCache, MemoryState
from saga_core.errors import BadInput
from saga_core.stores import Batch, Key, Pages
from saga_core.stores.validate import check_batch
from tests.mutants.stores_registry import capped

Expected = Mapping[Key, bytes | None] | None
Entries = list[tuple[Key, bytes]]


@capped("S-1", of_a_batch=True)
class AnswersTheFirstKeys(MemoryState):
    cap = 0

    async def get(self, keys: Sequence[Key]) -> dict[Key, bytes]:
        found = await super().get(keys)
        asked = frozenset(islice(keys, self.cap))
        return {key: value for key, value in found.items() if key in asked}


@capped("S-7")
class ScansSoMany(MemoryState):
    """A page has a most of its own, whatever ``limit`` says."""

    cap = 0

    async def scan(self, prefix: Key, *, after: Key | None = None, limit: int = 1_000) -> Entries:
        return (await super().scan(prefix, after=after, limit=limit))[: self.cap]


class _Cursor(MemoryState):
    """Knows the places of keys up to a number only."""

    cap = 0

    def reached(self, key: Key) -> bool:
        return len(self._order) <= self.cap or key < self._order[self.cap]


@capped("S-5")
class ScansTheFirstOfTheStore(_Cursor):
    """What stands further back in the order of the whole store is found by no scan."""

    async def scan(self, prefix: Key, *, after: Key | None = None, limit: int = 1_000) -> Entries:
        found = await super().scan(prefix, after=after, limit=limit)
        return [entry for entry in found if self.reached(entry[0])]


@capped("S-6")
class PagesEnd(_Cursor):
    """A page that begins further back than that is empty; one large scan gives all."""

    async def scan(self, prefix: Key, *, after: Key | None = None, limit: int = 1_000) -> Entries:
        found = await super().scan(prefix, after=after, limit=limit)
        return found if after is None or self.reached(after) else []


@capped("S-6")
class PagesEndInAPrefix(MemoryState):
    """The same, counted from where the prefix begins."""

    cap = 0

    async def scan(self, prefix: Key, *, after: Key | None = None, limit: int = 1_000) -> Entries:
        found = await super().scan(prefix, after=after, limit=limit)
        if after is None or not found:
            return found
        behind = bisect_right(self._order, after) - bisect_left(self._order, prefix)
        return found if behind < self.cap else []


@capped("S-5")
class KnowsSoManyFirstSegments(MemoryState):
    """Each first segment is a table, and a scan looks into so many of them."""

    cap = 0

    async def scan(self, prefix: Key, *, after: Key | None = None, limit: int = 1_000) -> Entries:
        found = await super().scan(prefix, after=after, limit=limit)
        tables = {table: at for at, table in enumerate(dict.fromkeys(key[0] for key in self._values))}
        return [entry for entry in found if tables[entry[0][0]] < self.cap]


class _Committing(MemoryState):
    """Changes a commit that was found well formed."""

    cap = 0

    def changed(self, batch: Batch) -> Batch:
        return batch

    def wanted(self, expected: Expected) -> Expected:
        return expected

    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        self._alive()
        check_batch(batch, expected, self.info.limits)
        await super().commit(self.changed(batch), expected=self.wanted(expected))


@capped("S-8", of_a_batch=True)
class PutsTheFirst(_Committing):
    def changed(self, batch: Batch) -> Batch:
        return evolve(batch, puts=dict(islice(batch.puts.items(), self.cap)))


@capped("S-8", of_a_batch=True)
class DeletesTheFirst(_Committing):
    def changed(self, batch: Batch) -> Batch:
        return evolve(batch, deletes=frozenset(sorted(batch.deletes)[: self.cap]))


@capped("S-8", of_a_batch=True)
class WritesTheFirst(_Committing):
    """Puts and deletes count together."""

    def changed(self, batch: Batch) -> Batch:
        room = max(0, self.cap - len(batch.puts))
        return Batch(dict(islice(batch.puts.items(), self.cap)), frozenset(sorted(batch.deletes)[:room]))


@capped("S-10", of_a_batch=True)
class ExpectsTheFirst(_Committing):
    def wanted(self, expected: Expected) -> Expected:
        return dict(islice((expected or {}).items(), self.cap))


@capped("S-8")
class HoldsSoMany(_Committing):
    """A store that is full lets go of what was written first."""

    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        await super().commit(batch, expected=expected)
        over = len(self._values) - self.cap
        if over > 0:
            await super().commit(Batch(deletes=frozenset(islice(self._values, over))))


@capped("S-16", of_a_batch=True)
class RefusesMore(_Committing):
    """An engine's own limit that nobody declared."""

    def changed(self, batch: Batch) -> Batch:
        if len(batch.puts) + len(batch.deletes) > self.cap:
            raise BadInput(f"batch: more than {self.cap}")
        return batch


@capped("S-9", of_a_batch=True)
class LooksAtAPieceWhenItsTurnComes(MemoryState):
    """What stands in a later piece of a commit is looked at when the first piece is written."""

    cap = 0

    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        puts = list(batch.puts.items())
        if not self.cap < len(puts) <= self.info.limits.batch:
            await super().commit(batch, expected=expected)
            return
        await super().commit(Batch(dict(puts[: self.cap]), batch.deletes), expected=expected)
        await super().commit(Batch(dict(puts[self.cap :])))


@capped("S-10", of_a_batch=True)
class ExpectsPieceByPiece(_Committing):
    """A conflict in a later piece is seen when the first piece is written."""

    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        check_batch(batch, expected, self.info.limits)
        wanted, puts = list((expected or {}).items()), list(batch.puts.items())
        if len(wanted) <= self.cap:
            await super().commit(batch, expected=expected)
            return
        await super().commit(Batch(dict(puts[: self.cap])), expected=dict(wanted[: self.cap]))
        await super().commit(Batch(dict(puts[self.cap :]), batch.deletes), expected=dict(wanted[self.cap :]))


@capped("S-13", of_a_batch=True)
class ShowsTheFirstPiece(_Committing):
    """Readers come between the pieces of a large commit."""

    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        puts = list(batch.puts.items())
        if len(puts) <= self.cap:
            await super().commit(batch, expected=expected)
            return
        check_batch(batch, expected, self.info.limits)
        await super().commit(Batch(dict(puts[: self.cap]), batch.deletes), expected=expected)
        await asyncio.sleep(0)
        await super().commit(Batch(dict(puts[self.cap :])))


# --- MdCache -------------------------------------------------------------------------------------------------


@capped("C-5")
class ListsSoManyScopes(MemoryCache):
    cap = 0

    async def scopes(self) -> list[str]:
        return (await super().scopes())[: self.cap]


@capped("C-2")
class KeepsSoManyScopes(MemoryCache):
    """The one that was written first makes room."""

    cap = 0

    async def write(self, scope: str, pages: Pages) -> None:
        await super().write(scope, pages)
        if len(self._scopes) > self.cap:
            del self._scopes[next(iter(self._scopes))]


@capped("C-2")
class FindsAmongTheFirst(MemoryCache):
    """All are listed; the pages of those that came later are not found."""

    cap = 0

    async def read(self, scope: str) -> Pages | None:
        found = await super().read(scope)
        return found if scope in frozenset(islice(self._scopes, self.cap)) else None
