"""Stand-ins for the journal: one that becomes read-only when damaged, and one for a journal that cannot be opened."""

from __future__ import annotations

import asyncio
import logging
import shutil
import time
from collections.abc import Awaitable, Mapping, Sequence
from pathlib import Path
from typing import NoReturn, TypeVar, cast

from saga_core.capabilities import Capability
from saga_core.counters import Counters
from saga_core.errors import Closed, StoreCorrupt, StoreError, StoreTimeout
from saga_core.storage.late_calls import under_way
from saga_core.storage.self_healing import ENDS
from saga_core.stores import Batch, Compacting, Health, Key, StateKV, StoreInfo

log = logging.getLogger("saga.journal")

T = TypeVar("T")

DAMAGED = "journal.damaged"
"""The name of the degraded mode."""
ANSWER_SECONDS = 30.0
"""How long the journal may take for a read or a commit, and to close. A turn that waits longer for a read is played
without memory. Of a commit that is given up, nobody knows whether it happened; its session must be read again."""


def restoring(engine: str) -> str:
    """Return how a journal of ``engine`` is restored. ``saga restore`` knows SQLite's alone."""
    how = "`saga restore FILE --force`" if engine == "sqlite" else f"the tools of {engine}"
    return f"restore a backup with {how}"


def keep_copy(path: Path) -> Path | None:
    """Copy the file at ``path`` with its logs, once for each of its states. Return None if a copy exists.

    Raises ``OSError``.
    """
    if not path.is_file():
        return None
    about = path.stat()
    for other in path.parent.glob(f"{path.name}.damaged-*"):
        seen = other.stat()
        if (seen.st_size, seen.st_mtime_ns) == (about.st_size, about.st_mtime_ns):
            return None
    target = path.with_name(f"{path.name}.damaged-{time.strftime('%Y%m%d-%H%M%S')}")
    for end in ENDS:
        each = path.with_name(path.name + end)
        if each.is_file():
            shutil.copy2(each, target.with_name(target.name + end))
    return target


class ReadOnlyOnCorruption:
    """A StateKV that refuses every commit after the first sign of damage, and waits for no call without an end."""

    def __init__(self, inner: StateKV, path: Path | None, counters: Counters) -> None:
        self._inner = inner
        self._path = path
        self._counters = counters
        self._damage: str | None = None

    @property
    def info(self) -> StoreInfo:
        """The description of the inner store."""
        return self._inner.info

    async def get(self, keys: Sequence[Key]) -> dict[Key, bytes]:
        """See ``StateKV.get``."""
        return await self._call("get", self._inner.get(keys))

    async def scan(self, prefix: Key, *, after: Key | None = None, limit: int = 1_000) -> list[tuple[Key, bytes]]:
        """See ``StateKV.scan``."""
        return await self._call("scan", self._inner.scan(prefix, after=after, limit=limit))

    async def commit(self, batch: Batch, *, expected: Mapping[Key, bytes | None] | None = None) -> None:
        """See ``StateKV.commit``. Raises ``StoreCorrupt`` once damage was found."""
        self._check_whole()
        await self._call("commit", self._inner.commit(batch, expected=expected))

    async def compact(self) -> None:
        """Rewrite the files without deleted data, if the store can. Raises ``StoreCorrupt`` once damage was found."""
        self._check_whole()
        if Capability.COMPACTS in self._inner.info.capabilities:
            await cast(Compacting, self._inner).compact()

    async def check(self, *, thorough: bool = False) -> Health:
        """Check the store. The result is not ok once damage was found."""
        found = await self._inner.check(thorough=thorough)
        return found if self._damage is None else Health(False, self._damage, found.bytes)

    async def aclose(self) -> None:
        """Close the store. A store that is damaged and cannot be closed, or does not end, is only logged."""
        try:
            await self._in_time(self._inner.aclose())
        except (StoreCorrupt, StoreTimeout) as error:
            log.error("the journal cannot be closed in order: %s", error)

    async def _in_time(self, call: Awaitable[T]) -> T:
        try:
            async with asyncio.timeout(ANSWER_SECONDS) as limit:
                return await call
        except TimeoutError as error:
            if not limit.expired():
                raise
            late = f"storage.state: the journal ({self.info.name}) did not answer within {ANSWER_SECONDS:g} s"
            raise StoreTimeout(late) from error

    def _check_whole(self) -> None:
        if self._damage is not None:
            raise StoreCorrupt(f"the journal is damaged, and nothing more is written to it: {self._damage}")

    async def _call(self, name: str, call: Awaitable[T]) -> T:
        try:
            with under_way(self._counters, "storage.state", self.info.name, name):
                return await self._in_time(call)
        except StoreCorrupt as error:
            await self.found_damaged(error)
            raise

    async def found_damaged(self, error: StoreCorrupt) -> None:
        """Refuse every commit from now on, and report the damage, which may be in what the store gave."""
        if self._damage is None:
            self._damage = str(error)
            await tell_damage(self._counters, self.info.name, self._path, error)


async def tell_damage(counters: Counters, engine: str, path: Path | None, error: StoreError) -> None:
    """Copy the damaged file of ``engine``, and report the damage and the recovery steps."""
    kept = ""
    if path is not None and isinstance(error, StoreCorrupt):
        try:
            copy = await asyncio.to_thread(keep_copy, path)
            kept = f"; a copy of it as it was found is {copy}" if copy is not None else ""
        except OSError as failure:
            kept = f"; no copy of it could be made ({failure.strerror})"
    told = f"Nothing is written to it. To recover, stop the server and {restoring(engine)}"
    if engine == "sqlite":
        told += f"; without one, save what can be read with `saga restore {path or 'FILE'} --damaged --force`"
    else:
        told += f"; without one, move {path or 'its data'} away, and a new journal begins"
    if not isinstance(error, StoreCorrupt):
        told = "What is in it is safe; nothing is read or recorded until that is mended and the server started again"
    counters.degrade(DAMAGED, f"{error}{kept}. {told}")


class UnavailableStore:
    """Replaces a journal that cannot be opened. Every call raises the error from opening."""

    def __init__(self, name: str, path: Path | None, error: StoreError) -> None:
        self._error = error
        self._closed = False
        self._info = StoreInfo(kind="state", name=name, location=str(path or ""))

    @property
    def info(self) -> StoreInfo:
        """The name and the place of the store that cannot be opened."""
        return self._info

    def _refuse(self) -> NoReturn:
        if self._closed:
            raise Closed("the state store is closed")
        raise type(self._error)(*self._error.args)

    async def get(self, keys: Sequence[Key]) -> dict[Key, bytes]:
        """Raise the error from opening."""
        self._refuse()

    async def scan(self, prefix: Key, *, after: Key | None = None, limit: int = 1_000) -> list[tuple[Key, bytes]]:
        """Raise the error from opening."""
        self._refuse()

    async def commit(self, batch: Batch, *, expected: Mapping[Key, bytes | None] | None = None) -> None:
        """Raise the error from opening."""
        self._refuse()

    async def check(self, *, thorough: bool = False) -> Health:
        """Return that the store is not ok."""
        return Health(False, str(self._error))

    async def aclose(self) -> None:
        """Do nothing, because no store is open."""
        self._closed = True
