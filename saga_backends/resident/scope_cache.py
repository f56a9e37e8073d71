"""A cache of scopes in front of a store. Scopes are loaded once, written through, and evicted if memory is short."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Generic, Protocol, TypeVar
from weakref import WeakValueDictionary

from cachetools import LRUCache

from saga_core.errors import BadInput, Closed, NotFound, NotSupported, ScopeMismatch

_REFUSALS = (BadInput, NotFound, NotSupported, ScopeMismatch)
"""Errors that guarantee that nothing was changed. After any other error, the contents of the store are uncertain."""

_REMEMBERED = 1_024
"""How many names of scopes that were too large are kept, so that their load is not attempted again."""

CLOSING_SECONDS = 20.0
"""How long a cache that is closed waits for calls of the store, whose data can be made anew."""


class Image(Protocol):
    """The contents of a scope in memory."""

    @property
    def size(self) -> int:
        """The estimated memory in bytes."""
        ...


D = TypeVar("D", bound=Image)
R = TypeVar("R")


class ScopeCache(Generic[D]):
    """An LRU cache of images of scopes, which together take at most ``limit_bytes``.

    ``load(scope, most)`` reads a scope from the store. It returns None if the image would exceed ``most`` bytes. Such a
    scope is bypassed until it is dropped or forgotten, because loading it for each read would cost more than asking the
    store.

    If the store is ``shared``, other processes write to it too. Then only held scopes have images. ``hold`` states that
    no other process writes to a scope until ``release``.

    The writes and loads of one scope run one after the other, in their own tasks. They complete even if the caller is
    cancelled, so an image is never incomplete. Reads of an image do not wait, except for a write whose caller was
    cancelled. Otherwise, two consecutive reads could see the scope before and after that write.
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
        self._images: LRUCache[str, tuple[D, int]] = LRUCache(limit_bytes, getsizeof=lambda image: image[1])
        self._too_large: LRUCache[str, None] = LRUCache(_REMEMBERED)
        self._loading: dict[str, asyncio.Task[D | None]] = {}
        self._running: set[asyncio.Task[Any]] = set()
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._disowned: set[str] = set()
        self._left: dict[str, asyncio.Task[Any]] = {}
        """For each scope, the last write that is still running although its caller was cancelled."""
        self._closed = False
        self.hits = 0
        """The number of reads that were answered from memory at once."""
        self.loads = 0
        """The number of scopes that were loaded from the store."""
        self.evictions = 0
        """The number of images that were dropped because memory was short."""
        self.bypasses = 0
        """The number of reads that went to the store because the scope is too large or not held."""
        self.divergences = 0
        """The number of writes that showed a difference between image and store, after which the image was dropped."""

    def __len__(self) -> int:
        return len(self._images)

    @property
    def used_bytes(self) -> int:
        """The estimated memory of all images in bytes."""
        return int(self._images.currsize)

    @property
    def counters(self) -> dict[str, int]:
        """The statistics by name."""
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
        """Return the image if it is in memory. This is the fast path of every read."""
        found = self._images.get(scope) if type(scope) is str else None  # other types are rejected later
        if found is None or scope in self._left:
            return None
        self.hits += 1
        return found[0]

    async def known(self, scope: str) -> D | None:
        """Return the image if it is in memory, after waiting for writes whose callers were cancelled."""
        left = self._left.get(scope) if type(scope) is str else None
        if left is not None:
            await asyncio.wait({left})  # writes run in order, so waiting for the last one is enough
        return self.find(scope)

    async def fetch(self, scope: str) -> D | None:
        """Return the image, and load it if necessary. Returns None if the scope is bypassed.

        Concurrent callers share one load. If the load raises, so does this, and the next call tries again. Raises
        ``Closed`` after ``close``.
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
        """Run ``store`` and return its result. If the scope has an image, ``mirror(image, result)`` updates it first.

        The image is dropped, so that the next read reloads it, if ``mirror`` returns False because the image disagrees
        with the result, or if ``store`` raises anything but a refusal.
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
        """State that no other process writes to ``scope`` of a shared store from now on."""
        self._held.add(scope)

    def release(self, scope: str) -> None:
        """State that other processes may write to ``scope`` of a shared store again."""
        self._held.discard(scope)
        if self._shared:
            self.forget(scope)

    def forget(self, scope: str | None = None) -> None:
        """Drop the image of ``scope`` (or all images), because another process may have changed the store."""
        if scope is None:
            self._images.clear()
            self._too_large.clear()
            self._disowned.update(self._loading)
        else:
            self._images.pop(scope, None)
            self._too_large.pop(scope, None)
            self._disowned.update({scope} & self._loading.keys())

    async def close(self) -> None:
        """Reject further calls, and wait for the writes and loads in progress. One that does not end is cancelled."""
        self._closed = True
        self.forget()
        if self._running:
            _, hanging = await asyncio.wait(self._running, timeout=CLOSING_SECONDS)
            for task in hanging:
                task.cancel()

    def _start(self, work: Coroutine[Any, Any, R]) -> asyncio.Task[R]:
        task = asyncio.get_running_loop().create_task(work)
        self._running.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        if not task.cancelled():
            task.exception()  # if all callers were cancelled, asyncio would log it as never retrieved

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
                self._images.pop(scope, None)
                raise
            found = self._images.pop(scope, None)
            if found is not None:
                if mirror(found[0], result):
                    self._admit(scope, found[0])
                else:
                    self.divergences += 1
            return result

    def _admit(self, scope: str, image: D | None) -> None:
        """Add the image, or measure it again after a change, and evict others to make room."""
        self._images.pop(scope, None)
        size = image.size if image is not None else 0
        if image is None or size > self._scope_limit:
            self._too_large[scope] = None
            return
        before = len(self._images)
        self._images[scope] = (image, size)
        self.evictions += before + 1 - len(self._images)
