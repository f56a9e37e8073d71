"""SelfHealingStore: replaces a damaged view store with an empty one.

Views are derived from the journal, so damage costs only the work of rendering them. The damaged data is set aside under
a name with the time, and every session is rendered into a new store. The journal is never treated like this.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import shutil
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from saga_core.counters import Counters
from saga_core.errors import NewerSchema, StoreCorrupt, StoreError, StoreUnavailable

log = logging.getLogger("saga.stores")

ENDS = ("", "-wal", "-shm", ".wal")
"""The suffixes of an engine's files."""

Open = Callable[[], Awaitable[Any]]


def put_aside(path: Path, why: str) -> Path | None:
    """Rename the data at ``path`` with its logs, and return the new path, or None if there was nothing.

    Raises ``OSError``.
    """
    stamp = time.strftime("%Y%m%d-%H%M%S")
    there = [end for end in ENDS if path.with_name(path.name + end).exists()]
    if not there:
        return None
    target, count = path.with_name(f"{path.name}.{why}-{stamp}"), 2
    while target.exists():
        target, count = path.with_name(f"{path.name}.{why}-{stamp}-{count}"), count + 1
    for end in there:
        path.with_name(path.name + end).rename(target.with_name(target.name + end))
    return target


def remove(path: Path) -> None:
    """Remove the data at ``path`` with its logs. Raises ``OSError``."""
    for end in ENDS:
        each = path.with_name(path.name + end)
        if each.is_dir():
            shutil.rmtree(each)
        else:
            each.unlink(missing_ok=True)


class SelfHealingStore:
    """Wraps a view store and forwards every operation of its protocol to the store that is currently open.

    A call that finds damage still raises. The store is reopened before the next call.
    """

    def __init__(
        self,
        kind: str,
        path: Path | None,
        open_store: Open,
        counters: Counters,
        *,
        ours: bool = True,
        mends: bool = True,
    ) -> None:
        self.kind = kind
        self.path = path
        self._ours = ours
        """Whether only SAGA writes to the place. Otherwise unreadable data may belong to another program."""
        self._mends = mends
        """Whether what is damaged is replaced. Otherwise the errors of the backend are raised."""
        self.renewed: Callable[[], Awaitable[None]] | None = None
        """Called after the store was replaced with an empty one."""
        self._open = open_store
        self._counters = counters
        self._inner: Any = None
        self._swap = asyncio.Lock()
        self._calls: dict[str, Any] = {}
        self._closed = False
        self.emptied = 0
        """How often the store was replaced with an empty one."""
        self.fresh = False
        """Whether damage was found at opening, so that every view must be rendered again."""

    async def open(self) -> None:
        """Open the store. If it is damaged, set it aside and open an empty one. Raises the backend's errors.

        Data in a place that the user configured is not touched.
        """
        try:
            self._inner = await self._open()
        except (StoreCorrupt, NewerSchema) as error:
            if not self._ours or not self._mends:
                raise
            self._inner = await self._another(error)
            self.fresh = True

    async def _another(self, error: StoreError) -> Any:
        if self.path is None or str(self.path) not in str(error):
            raise error  # the damage is elsewhere
        try:
            aside = await asyncio.to_thread(put_aside, self.path, "damaged")
        except OSError as failure:
            raise StoreUnavailable(f"{error}; and it cannot be set aside ({failure.strerror})") from error
        if aside is None:
            raise error
        log.warning("%s store: %s", self.kind, error)
        log.warning(
            "%s store: its old data are now %s; its views are rendered again from the journal", self.kind, aside
        )
        self._counters.add(f"{self.kind}.mended")
        return await self._open()

    async def renew(self) -> None:
        """Delete the store's data and begin with an empty store. Used if no trace of deleted data may remain."""
        async with self._swap:
            await self._inner.aclose()
            if self.path is not None:
                await asyncio.to_thread(remove, self.path)
            self._inner = await self._open()
            self.emptied += 1
        if self.renewed is not None:
            await self.renewed()

    async def _mend(self, broken: Any, error: StoreCorrupt) -> None:
        async with self._swap:
            if self._inner is not broken or self._closed or self.path is None:
                return  # another call has repaired it
            try:
                await broken.aclose()
            except StoreError as failure:
                log.warning("%s store: closing what is damaged: %s", self.kind, failure)
            self._inner = await self._another(error)
            self.emptied += 1
        if self.renewed is not None:
            await self.renewed()

    async def aclose(self) -> None:
        """Close the store."""
        async with self._swap:
            self._closed = True
            await self._inner.aclose()

    @property
    def info(self) -> Any:
        """As the store's own, without the detour of other attributes: a request reads it several times."""
        return self._inner.info

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        call = self._calls.get(name)
        if call is None:
            found = getattr(self._inner, name)
            if not inspect.iscoroutinefunction(found):
                return found
            call = self._calls[name] = self._through(name)
        return call

    def _through(self, name: str) -> Any:
        async def call(*args: Any, **kwargs: Any) -> Any:
            if self._swap.locked() and not self._closed:
                async with self._swap:
                    pass
            inner = self._inner
            try:
                return await getattr(inner, name)(*args, **kwargs)
            except StoreCorrupt as error:
                # Pages are repaired one by one by their readers: a damaged page says nothing about the others.
                if self._mends and self.kind != "cache":
                    await self._mend(inner, error)
                raise

        return call
