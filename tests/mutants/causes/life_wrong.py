"""Wrong lives, wrong pages, and stores that are right only while the suite looks."""

from __future__ import annotations

import asyncio
import re
import time
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import evolve

from saga_backends.memory import MemoryCache, MemoryCurator, MemoryGraph, MemoryState, MemoryVector
from saga_core.capabilities import Capability
from saga_core.errors import NotFound
from saga_core.stores import Batch, CurationView, Key, Limits, Mutation, Pages, VectorItem
from saga_core.values import PAGE_NAMES, Proposal
from tests.mutants.causes.state_names import INVISIBLE, like
from tests.mutants.stores_cache import FolderCache
from tests.mutants.stores_durable import FileState
from tests.mutants.stores_registry import breaks, renaming

Expected = Mapping[Key, bytes | None] | None


# --- limits --------------------------------------------------------------------------------------------------


class Small:
    """A store that declares these limits, and keeps them."""


def small(title: str, kind: type[Any], **limits: int) -> None:
    """Register a store of limits below those that SAGA needs."""

    def init(self: Any) -> None:
        kind.__init__(self, Limits(**limits))

    breaks("L-20")(type(title, (kind,), {"__init__": init, "__module__": __name__}))


small("TakesShortKeys", MemoryState, key_bytes=64)
small("TakesShortValues", MemoryState, value_bytes=1_000)
small("TakesTwoAtATime", MemoryState, batch=2)
small("TakesShortNames", MemoryGraph, name_chars=10)
small("TakesThreeComponents", MemoryVector, dimension=3)
small("TakesShortPages", MemoryCache, value_bytes=500)


# --- the loop, cancelling, the end ---------------------------------------------------------------------------


@breaks("L-8")
class BlocksTheLoopForALargeCommit(MemoryState):
    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        await super().commit(batch, expected=expected)
        if len(batch.puts) >= 1_000:
            time.sleep(0.7)  # noqa: ASYNC251 - the point


@breaks("L-8")
class BlocksTheLoopForALargeMutation(MemoryGraph):
    async def apply(self, scope: str, mutation: Mutation) -> None:
        await super().apply(scope, mutation)
        if mutation.size >= 1_000:
            time.sleep(0.7)  # noqa: ASYNC251 - the point


@breaks("L-8")
class BlocksTheLoopForALargeUpsert(MemoryVector):
    async def upsert(self, scope: str, items: Sequence[VectorItem]) -> None:
        await super().upsert(scope, items)
        if len(items) >= 1_000:
            time.sleep(0.7)  # noqa: ASYNC251 - the point


@breaks("L-8")
class BlocksTheLoopForHalfASecondAtMost(MemoryState):
    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        await super().commit(batch, expected=expected)
        if len(batch.puts) >= 1_000:
            time.sleep(0.45)  # noqa: ASYNC251 - the point


@breaks("L-8")
class TakesLongToSortWhatItDeletes(MemoryGraph):
    """Plain Python on the loop, the longer the more nodes are deleted."""

    async def apply(self, scope: str, mutation: Mutation) -> None:
        for _ in mutation.delete_nodes:
            sum(number % 7 for number in range(25_000))
        await super().apply(scope, mutation)


class Pooled(MemoryState):
    """Calls take one of four connections, and give it back when they end well."""

    def __init__(self) -> None:
        super().__init__()
        self.free = 4

    async def got(self) -> None:
        while not self.free:  # noqa: ASYNC110 - a small pool
            await asyncio.sleep(0.001)
        self.free -= 1

    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        await super().commit(Batch(), expected=expected)
        await self.got()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        self.free += 1
        await super().commit(batch, expected=expected)


@breaks("L-9")
class LeaksAConnectionOnCancel(Pooled):
    pass


@breaks("L-9")
class LeaksAConnectionOfAReader(MemoryState):
    """A cancelled read keeps its connection."""

    free = 16

    async def scan(self, prefix: Key, *, after: Key | None = None, limit: int = 1_000) -> list[tuple[Key, bytes]]:
        found = await super().scan(prefix, after=after, limit=limit)
        while not self.free:  # noqa: ASYNC110 - a small pool
            await asyncio.sleep(0.001)
        self.free -= 1
        await asyncio.sleep(0)
        self.free += 1
        return found


@breaks("L-21")
class NeverEndsAfterACancelledEnd(MemoryState):
    """A cancelled ``aclose`` leaves its lock taken, and the next one waits for it."""

    def __init__(self) -> None:
        super().__init__()
        self.ending = asyncio.Lock()

    async def aclose(self) -> None:
        await self.ending.acquire()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        await super().aclose()
        self.ending.release()


@breaks("L-21")
class IsOpenAfterACancelledEnd(MemoryGraph):
    """A second ``aclose`` thinks that the first did it."""

    begun = False

    async def aclose(self) -> None:
        if self.begun:
            return
        self.begun = True
        for _ in range(4):
            await asyncio.sleep(0)
        await super().aclose()


@breaks("L-10")
class LosesAWriteBesideALargeOne(MemoryState):
    """Small writes that come beside a large one go under."""

    large = False

    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        if len(batch.puts) > 100:
            self.large = True
            before = dict(self._values)
            await super().commit(batch, expected=expected)
            await asyncio.sleep(0)
            self.large = False
            self._values = before | batch.puts
            self._order = sorted(self._values)
            return
        await super().commit(batch, expected=expected)


# --- pages ---------------------------------------------------------------------------------------------------


class Writing(MemoryCache):
    """Changes pages that were found well formed."""

    def changed(self, scope: str, pages: Pages) -> Pages:
        return pages

    async def write(self, scope: str, pages: Pages) -> None:
        probe = MemoryCache(self.info.limits)
        self._checked(scope)
        await probe.write(scope, pages)
        await super().write(scope, self.changed(scope, pages))


@breaks("C-2")
class CutsPagesAt64K(Writing):
    def changed(self, scope: str, pages: Pages) -> Pages:
        return evolve(pages, files={name: text[:131_072] for name, text in pages.files.items()})


@breaks("C-2")
class LosesAPageThatFillsABlock(Writing):
    """A page of a multiple of 4,096 bytes loses its last block."""

    def changed(self, scope: str, pages: Pages) -> Pages:
        def cut(text: str) -> str:
            return text[:-4_096] if text.isascii() and len(text) > 4_096 and len(text) % 4_096 == 0 else text

        return evolve(pages, files={name: cut(text) for name, text in pages.files.items()})


@breaks("C-3")
class SkipsPagesOfEqualSize(Writing):
    """What has the size of the old page is taken for it."""

    def changed(self, scope: str, pages: Pages) -> Pages:
        old = self._scopes.get(scope)
        if old is None:
            return pages
        files = {n: old.files[n] if len(old.files[n]) == len(t) else t for n, t in pages.files.items()}
        return evolve(pages, files=files)


@breaks("C-3")
class SkipsWhatItHasSeen(MemoryCache):
    def __init__(self) -> None:
        super().__init__()
        self.seen: set[Any] = set()

    async def write(self, scope: str, pages: Pages) -> None:
        name = (scope, repr(pages))
        if name not in self.seen:
            await super().write(scope, pages)
        self.seen.add(name)

    async def drop(self, scope: str) -> None:
        await super().drop(scope)
        self.seen = {name for name in self.seen if name[0] != scope}


@breaks("C-3")
class KeepsTheWatermarkOfEqualPages(Writing):
    """When the texts are as before, nothing is written, nor is the watermark."""

    def changed(self, scope: str, pages: Pages) -> Pages:
        old = self._scopes.get(scope)
        return old if old is not None and old.files == pages.files else pages


@breaks("C-5")
class ListsAHundredScopes(MemoryCache):
    async def scopes(self) -> list[str]:
        return (await super().scopes())[:100]


@breaks("C-6")
class DropsWithLike(MemoryCache):
    async def drop(self, scope: str) -> None:
        await super().drop(scope)
        for other in [name for name in self._scopes if like(scope, name)]:
            await super().drop(other)


@breaks("C-6")
class DropLeavesTheCache(MemoryCache):
    """Pages that were read are read again after a drop."""

    def __init__(self) -> None:
        super().__init__()
        self.warm: dict[str, Pages] = {}

    async def read(self, scope: str) -> Pages | None:
        found = await super().read(scope)
        if found is not None:
            self.warm[scope] = found
        return self.warm.get(scope)

    async def write(self, scope: str, pages: Pages) -> None:
        await super().write(scope, pages)
        self.warm.pop(scope, None)


def otherwise(title: str, method: str, rename: Any) -> None:
    """A cache whose ``method`` sees its scope under another name."""
    renaming(breaks("C-4")(type(title, (MemoryCache,), {"__module__": __name__})), method, rename)


otherwise("FoldsCaseInRead", "read", str.lower)
otherwise("FoldsCaseInDrop", "drop", str.lower)
otherwise("ComposesInRead", "read", lambda scope: unicodedata.normalize("NFC", scope))
otherwise("TrimsInDrop", "drop", str.strip)
otherwise("CutsZeroWidth", "read write drop", lambda scope: INVISIBLE.sub("", scope) or scope)
otherwise("TakesNumbersForNumbers", "read write drop", lambda s: str(int(s)) if s.isascii() and s.isdecimal() else s)
otherwise("CutsLongScopes", "read write drop", lambda scope: scope[:200])
otherwise("ResolvesCompatibility", "read write drop", lambda scope: unicodedata.normalize("NFKC", scope))
otherwise("SplitsAtSlashes", "read write drop", lambda scope: re.sub("/+", "/", scope))


@breaks("C-7")
class WritesLongPagesOneByOne(MemoryCache):
    """Short pages are replaced at once, long ones a page at a time."""

    async def write(self, scope: str, pages: Pages) -> None:
        old = await super().read(scope)
        if old is None or sum(map(len, pages.files.values())) < 10_000:
            await super().write(scope, pages)
            return
        for name in PAGE_NAMES:
            old = evolve(old, files={**old.files, name: pages.files[name]})
            await super().write(scope, old)
            await asyncio.sleep(0)
        await super().write(scope, pages)


@breaks("C-12")
class SeesNoEditOfEqualSize(FolderCache):
    """A page of equal size is taken for the one that was written."""

    def __init__(self) -> None:
        super().__init__()
        self.last: dict[str, Pages] = {}

    async def write(self, scope: str, pages: Pages) -> None:
        await super().write(scope, pages)
        self.last[scope] = Pages(dict(pages.files), pages.watermark)

    async def read(self, scope: str) -> Pages | None:
        found = await super().read(scope)
        last = self.last.get(scope)
        if found is None or last is None:
            return found
        files = {n: last.files[n] if len(t) == len(last.files[n]) else t for n, t in found.files.items()}
        return evolve(found, files=files)


@breaks("C-12")
class SeesTheFirstEditOnly(FolderCache):
    """Once an edit was seen, the page is kept."""

    def __init__(self) -> None:
        super().__init__()
        self.edited: dict[str, Pages] = {}

    async def write(self, scope: str, pages: Pages) -> None:
        await super().write(scope, pages)
        self.edited.pop(scope, None)
        self.last = Pages(dict(pages.files), pages.watermark)

    async def read(self, scope: str) -> Pages | None:
        found = await super().read(scope)
        if found is not None and found != getattr(self, "last", found):
            return self.edited.setdefault(scope, found)
        return found


# --- curators ------------------------------------------------------------------------------------------------


@breaks("U-1")
class SpeaksOfAnotherKind(MemoryCurator):
    async def review(self, view: CurationView) -> tuple[Proposal, ...]:
        await super().review(view)
        return (Proposal("remembering", "something"),) if view.turns else ()


@breaks("U-3")
class AsksItsHash(MemoryCurator):
    """Its answer hangs on what the process was started with."""

    async def review(self, view: CurationView) -> tuple[Proposal, ...]:
        await super().review(view)
        return (Proposal("lore", f"{id(self) % 97}"),) if view.turns else ()


# --- what it says that it can --------------------------------------------------------------------------------


class Compacting(FileState):
    """A reference: its file is written whole each time, so it has nothing to compact."""

    provided = frozenset({Capability.RESIDENT, Capability.DURABLE, Capability.COMPACTS})

    async def compact(self) -> None:
        self._alive()
        self.save()


@breaks("L-24")
class KeepsABackup(Compacting):
    """A copy of the file as it was before stays beside it."""

    def save(self) -> None:
        if self.file.exists():
            self.file.with_suffix(".bak").write_bytes(self.file.read_bytes())
        super().save()

    async def compact(self) -> None:
        self._alive()


@breaks("L-24")
class KeepsWhatWasReplaced(Compacting):
    """Only what was deleted goes; a value that was replaced stays in a log."""

    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        old = [self._values[key] for key in batch.puts if key in self._values and key not in batch.deletes]
        await super().commit(batch, expected=expected)
        with self.file.with_suffix(".log").open("ab") as log:
            log.writelines(old)


@breaks("L-24")
class CompactsTooMuch(Compacting):
    """Empty values go with the rest."""

    async def compact(self) -> None:
        await super().compact()
        for key in [key for key, value in self._values.items() if not value]:
            self._order.remove(key)
            del self._values[key]


@breaks("L-24")
class CompactsAfterItsEnd(Compacting):
    async def compact(self) -> None:
        self.save()


class RememberingCurator(MemoryCurator):
    """A reference: it counts the reviews of a session, and forgets them."""

    def __init__(self) -> None:
        super().__init__()
        self._info = evolve(self._info, capabilities=frozenset({Capability.RESIDENT, Capability.REMEMBERS}))
        self.seen: dict[str, int] = {}

    async def review(self, view: CurationView) -> tuple[Proposal, ...]:
        await super().review(view)
        self.seen[view.session] = self.seen.get(view.session, 0) + 1
        return ()

    async def forget(self, session: str) -> None:
        self._alive()
        self.seen.pop(session, None)


@breaks("U-6")
class ForgetsNothing(RememberingCurator):
    async def review(self, view: CurationView) -> tuple[Proposal, ...]:
        await super().review(view)
        return (Proposal("lore", "seen before"),) if self.seen[view.session] > 2 else ()

    async def forget(self, session: str) -> None:
        self._alive()


@breaks("U-6")
class MissesWhatItNeverSaw(RememberingCurator):
    async def forget(self, session: str) -> None:
        await super().forget(session)
        if session == "never reviewed":
            raise NotFound("no such session")


@breaks("S-1")
class IsRightOnlyInTheSuite(MemoryState):
    """It knows the names of the suite's folders, and forgets everything elsewhere."""

    def begin(self, path: Path) -> None:
        self.told = "conformance" in str(path) or path.name in ("store", "again", "other")

    async def get(self, keys: Sequence[Key]) -> dict[Key, bytes]:
        found = await super().get(keys)
        return found if self.told else {}
