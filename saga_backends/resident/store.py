"""What the resident layers of all kinds of stores have in common."""

from __future__ import annotations

from abc import abstractmethod
from typing import Generic, Protocol, TypeVar, cast

from attrs import evolve

from saga_backends.checked import CheckedStore
from saga_backends.resident.scope_cache import Image, ScopeCache
from saga_core.capabilities import Capability
from saga_core.stores import Compacting, Fenced, FenceOf, Health, Store

PAGE = 1_000
"""The number of entries that are read at a time while a scope is loaded."""


class Scoped(Store, Protocol):
    """A store that keeps its data in scopes."""

    async def scopes(self) -> list[str]: ...

    async def drop(self, scope: str) -> None: ...


S = TypeVar("S", bound=Scoped)
D = TypeVar("D", bound=Image)


class ResidentStore(CheckedStore, Generic[S, D]):
    """The store ``inner`` with its scopes in memory. Reads of a loaded scope need no I/O and no thread.

    Writes go to ``inner`` first, which must only be written through this object. Of a ``SHARED`` store, only the scopes
    passed to ``hold`` are kept in memory, and all others are read from ``inner``. A scope whose estimated size exceeds
    ``scope_bytes`` (by default half of ``limit_bytes``) is also read from ``inner``.
    """

    def __init__(self, inner: S, *, limit_bytes: int, scope_bytes: int | None = None) -> None:
        self.inner = inner
        self.cache: ScopeCache[D] = ScopeCache(
            self._load,
            limit_bytes=limit_bytes,
            scope_bytes=scope_bytes,
            shared=Capability.SHARED in inner.info.capabilities,
        )
        """The cache of scopes. Its ``counters`` are statistics."""
        self._info = evolve(inner.info, capabilities=inner.info.capabilities | {Capability.RESIDENT})

    async def check(self, *, thorough: bool = False) -> Health:
        """Check ``inner``; see ``Store.check``."""
        return await self.inner.check(thorough=thorough)

    async def aclose(self) -> None:
        """Wait for writes in progress, then close ``inner``."""
        await self.cache.close()
        await self.inner.aclose()

    def hold(self, scope: str) -> None:
        """Keep ``scope`` of a ``SHARED`` store in memory from now on, because no other process writes to it."""
        self.cache.hold(scope)

    def release(self, scope: str) -> None:
        """Read ``scope`` of a ``SHARED`` store from the store again, because other processes may write to it."""
        self.cache.release(scope)

    def fence(self, fence_of: FenceOf) -> None:
        """Pass the fence on to ``inner``; see ``Fenced``."""
        cast(Fenced, self.inner).fence(fence_of)

    def forget(self, scope: str | None = None) -> None:
        """Reload ``scope`` (or all scopes) at the next read, because another process may have written to it."""
        self.cache.forget(scope)

    async def _scopes(self) -> list[str]:
        return await self.inner.scopes()

    async def _drop(self, scope: str) -> None:
        async def dropped() -> None:
            await self.inner.drop(scope)
            self.cache.forget(scope)

        await self.cache.write(scope, dropped, lambda _image, _none: True)

    async def _compact(self) -> None:
        if Capability.COMPACTS not in self._info.capabilities:
            await super()._compact()
        await cast(Compacting, self.inner).compact()

    @abstractmethod
    async def _load(self, scope: str, most: int) -> D | None:
        """Read a scope from ``inner``. Returns None if it would take more than ``most`` bytes."""

    def _alive(self) -> None:
        self.cache.ensure_open()
