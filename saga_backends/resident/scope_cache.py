"""Scopes in memory in front of a store: loaded once, written through, evicted when memory is short."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Generic, Protocol, TypeVar
from weakref import WeakValueDictionary

from saga_core.errors import BadInput, Closed, NotFound, NotSupported, ScopeMismatch

_REFUSALS = (BadInput, NotFound, NotSupported, ScopeMismatch)
"""Errors that promise that nothing was changed. After any other, what the store holds is uncertain."""

_REMEMBERED = 1_024
"""Names of scopes that were too large, kept so that they are not tried again and again."""


class Image(Protocol):
    """A scope's contents in memory."""

    @property
    def size(self) -> int:
        """Estimated bytes of memory."""
        ...


D = TypeVar("D", bound=Image)
R = TypeVar("R")


class ScopeCache(Generic[D]):
    """Images of scopes, least recently used out first, together at most ``limit_bytes``.

    ``load(scope, most)`` reads a scope from the store; it gives None when the image would exceed ``most`` bytes. Such a
    scope is bypassed from then on, until it is dropped or forgotten: loading it for each question would cost more
    than asking the store.

    Of a ``shared`` store, which others write to as well, only scopes that are held have images: ``hold`` says that
    nobody else writes to one until it is released.

    One scope's writes and loads follow each other, and run to their end in tasks of their own, so that a caller who
    is cancelled leaves no half-known scope. Reads of an image need no turn: they never wait, but for a write that its
    caller left. Otherwise two reads, one behind the other, would see the scope without it and with it.
    """

    def __init__(
        self,
        load: Callable[[str, int], Awaitable[D | None]],
        *,
        limit_bytes: int,
        scope_bytes: int | None = None,
        shared: bool = False,
    ) -> None:
        if limit_bytes < 1:
            raise BadInput(f"limit_bytes: {limit_bytes} is below 1; without memory use the store itself")
        if scope_bytes is not None and not 1 <= scope_bytes <= limit_bytes:
            raise BadInput(f"scope_bytes: {scope_bytes} is out of range; give 1 to limit_bytes ({limit_bytes})")
        self._load = load
        self._shared = shared
        self._held: set[str] = set()
        self._limit = limit_bytes
        self._scope_limit = scope_bytes or max(1, limit_bytes // 2)
        self._images: OrderedDict[str, tuple[D, int]] = OrderedDict()
        self._too_large: OrderedDict[str, None] = OrderedDict()
        self._loading: dict[str, asyncio.Task[D | None]] = {}
        self._running: set[asyncio.Task[Any]] = set()
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._disowned: set[str] = set()
        self._left: dict[str, asyncio.Task[Any]] = {}
        """By scope, the last of the writes that run on though their callers were cancelled."""
        self._closed = False
        self.used_bytes = 0
        """Estimated bytes of all images."""
        self.hits = 0
        """Reads that were answered from memory at once."""
        self.loads = 0
        """Scopes that were read from the store."""
        self.evictions = 0
        """Images that were given up for want of memory."""
        self.bypasses = 0
        """Reads that went to the store because the scope is too large."""
        self.divergences = 0
        """Writes whose result showed that the image was not what the store held; it was given up."""

    def __len__(self) -> int:
        return len(self._images)

    @property
    def counters(self) -> dict[str, int]:
        """What there is and what happened, by name, for people."""
        return {
            "scopes": len(self),
            "bytes": self.used_bytes,
            "limit_bytes": self._limit,
            "hits": self.hits,
            "loads": self.loads,
            "evictions": self.evictions,
            "bypasses": self.bypasses,
            "divergences": self.divergences,
        }

    def ensure_open(self) -> None:
        """Raise ``Closed`` after ``close``."""
        if self._closed:
            raise Closed("the resident layer is closed, and the store behind it")

    def find(self, scope: str) -> D | None:
        """The image, if it is there now; the fast path of every read."""
        found = self._images.get(scope) if type(scope) is str else None  # what is no name is refused further on
        if found is None or scope in self._left:
            return None
        self._images.move_to_end(scope)
        self.hits += 1
        return found[0]

    async def known(self, scope: str) -> D | None:
        """The image, if it is there when the writes have ended whose callers were cancelled."""
        left = self._left.get(scope) if type(scope) is str else None
        if left is not None:
            await asyncio.wait({left})  # writes follow each other: the last of them
        return self.find(scope)

    async def fetch(self, scope: str) -> D | None:
        """The image, loaded if need be; None when the scope is bypassed. Concurrent callers share one load.

        Raises what the load raises, and the next call tries again; ``Closed`` after ``close``.
        """
        self.ensure_open()
        found = await self.known(scope)
        if found is not None:
            return found
        if scope not in self._too_large and (not self._shared or scope in self._held):
            task = self._loading.get(scope)
            if task is None:
                task = self._start(self._load_in_turn(scope))
                self._loading[scope] = task
            found = await asyncio.shield(task)
        if found is None:
            self.bypasses += 1
        return found

    async def write(self, scope: str, store: Callable[[], Awaitable[R]], mirror: Callable[[D, R], bool]) -> R:
        """Run ``store`` and give its result; before, if the scope has an image, ``mirror(image, result)``.

        The image is given up, so that the next read loads the truth, when ``mirror`` says that it disagrees with
        the result (False), and when ``store`` fails otherwise than by a refusal.
        """
        self.ensure_open()
        task = self._start(self._write_in_turn(scope, store, mirror))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if not task.done():
                self._left[scope] = task
                task.add_done_callback(lambda ended: self._settled(scope, ended))
            raise

    def _settled(self, scope: str, task: asyncio.Task[Any]) -> None:
        if self._left.get(scope) is task:
            del self._left[scope]

    def hold(self, scope: str) -> None:
        """Nobody else writes to ``scope`` of a shared store from now on."""
        self._held.add(scope)

    def release(self, scope: str) -> None:
        """Others may write to ``scope`` of a shared store again."""
        self._held.discard(scope)
        if self._shared:
            self.forget(scope)

    def forget(self, scope: str | None = None) -> None:
        """Give up the image of ``scope`` (of all without one): somebody else may have changed what it shows."""
        if scope is None:
            self._images.clear()
            self.used_bytes = 0
            self._too_large.clear()
            self._disowned.update(self._loading)
        else:
            self._remove(scope)
            self._too_large.pop(scope, None)
            self._disowned.update({scope} & self._loading.keys())

    async def close(self) -> None:
        """Refuse further calls, and wait for the writes and loads that run."""
        self._closed = True
        self.forget()
        if self._running:
            await asyncio.wait(self._running)

    def _start(self, work: Coroutine[Any, Any, R]) -> asyncio.Task[R]:
        task = asyncio.get_running_loop().create_task(work)
        self._running.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        if not task.cancelled():
            task.exception()  # when every caller was cancelled nobody asks for it, and asyncio would complain

    def _lock(self, scope: str) -> asyncio.Lock:
        lock = self._locks.get(scope)
        if lock is None:
            lock = self._locks[scope] = asyncio.Lock()
        return lock

    async def _load_in_turn(self, scope: str) -> D | None:
        try:
            async with self._lock(scope):
                self._disowned.discard(scope)
                image = await self._load(scope, self._scope_limit)
                self.loads += 1
                if scope not in self._disowned and not self._closed and (not self._shared or scope in self._held):
                    self._admit(scope, image)
                return image
        finally:
            self._disowned.discard(scope)
            del self._loading[scope]

    async def _write_in_turn(self, scope: str, store: Callable[[], Awaitable[R]], mirror: Callable[[D, R], bool]) -> R:
        async with self._lock(scope):
            try:
                result = await store()
            except _REFUSALS:
                raise
            except BaseException:
                self._remove(scope)
                raise
            found = self._images.get(scope)
            if found is not None:
                self._remove(scope)
                if mirror(found[0], result):
                    self._admit(scope, found[0])
                else:
                    self.divergences += 1
            return result

    def _admit(self, scope: str, image: D | None) -> None:
        """Take the image in, or count it anew after a change, and make room."""
        self._remove(scope)
        size = image.size if image is not None else 0
        if image is None or size > self._scope_limit:
            self._too_large[scope] = None
            if len(self._too_large) > _REMEMBERED:
                self._too_large.popitem(last=False)
            return
        self._images[scope] = (image, size)
        self.used_bytes += size
        while self.used_bytes > self._limit:
            self._remove(next(iter(self._images)))
            self.evictions += 1

    def _remove(self, scope: str) -> None:
        found = self._images.pop(scope, None)
        if found is not None:
            self.used_bytes -= found[1]
