"""Keeps the scopes of a graph store in memory as adjacency dicts, and writes through to the store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from attrs import evolve

from saga_backends.resident.scope_cache import ScopeCache
from saga_backends.resident.scope_graph import ScopeGraph
from saga_core.capabilities import Capability
from saga_core.errors import NotSupported
from saga_core.stores import (
    Direction,
    Edge,
    Fenced,
    FenceOf,
    GraphStore,
    Health,
    Mutation,
    NativeExpand,
    Node,
    RawQuery,
    StoreInfo,
    Value,
)
from saga_core.stores.validate import (
    check_expand,
    check_mutation,
    check_names,
    check_neighbors,
    check_node_scan,
    check_scope,
)

_PAGE = 1_000


class ResidentGraph:
    """The store ``inner`` with its scopes in memory. Reads of a loaded scope need no I/O and no thread.

    Writes go to ``inner`` first, which must only be written through this object. Of a ``SHARED`` store, only the scopes
    passed to ``hold`` are kept in memory, and all others are read from ``inner``. A scope whose estimated size exceeds
    ``scope_bytes`` (by default half of ``limit_bytes``) is also read from ``inner``. ``query`` always uses ``inner``,
    and ``expand`` only for such scopes. Both raise ``NotSupported`` if ``inner`` does not declare them.
    """

    def __init__(self, inner: GraphStore, *, limit_bytes: int, scope_bytes: int | None = None) -> None:
        self.inner = inner
        self.cache: ScopeCache[ScopeGraph] = ScopeCache(
            self._load,
            limit_bytes=limit_bytes,
            scope_bytes=scope_bytes,
            shared=Capability.SHARED in inner.info.capabilities,
        )
        """The cache of scopes. Its ``counters`` are statistics."""
        self._info = evolve(inner.info, capabilities=inner.info.capabilities | {Capability.RESIDENT})
        self._limits = inner.info.limits

    @property
    def info(self) -> StoreInfo:
        """The info of ``inner`` with the additional capability ``RESIDENT``."""
        return self._info

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

    async def apply(self, scope: str, mutation: Mutation) -> None:
        """See ``GraphStore.apply``."""
        self.cache.ensure_open()
        check_scope(scope, self._limits)
        check_mutation(mutation, self._limits)
        # The write continues if the caller is cancelled, so it needs its own copy of the values.
        own = evolve(
            mutation,
            put_nodes=tuple(evolve(node, properties=dict(node.properties)) for node in mutation.put_nodes),
            put_edges=tuple(evolve(edge, properties=dict(edge.properties)) for edge in mutation.put_edges),
        )

        def mirror(image: ScopeGraph, _none: None) -> bool:
            image.apply(own)
            return True

        await self.cache.write(scope, lambda: self.inner.apply(scope, own), mirror)

    async def get(self, scope: str, ids: Sequence[str]) -> dict[str, Node]:
        """See ``GraphStore.get``."""
        image = self.cache.find(scope) or await self._fetch(scope)
        if image is None:
            return await self.inner.get(scope, ids)
        check_names("ids", ids, self._limits)
        return image.get(ids)

    async def neighbors(
        self,
        scope: str,
        ids: Sequence[str],
        *,
        types: Sequence[str] | None = None,
        direction: Direction = "both",
        limit: int | None = None,
    ) -> list[Edge]:
        """See ``GraphStore.neighbors``."""
        image = self.cache.find(scope) or await self._fetch(scope)
        if image is None:
            return await self.inner.neighbors(scope, ids, types=types, direction=direction, limit=limit)
        check_neighbors(ids, types, direction, limit, self._limits)
        return image.neighbors(ids, types, direction, limit)

    async def scan(
        self, scope: str, *, label: str | None = None, after: str | None = None, limit: int = 1_000
    ) -> list[Node]:
        """See ``GraphStore.scan``."""
        image = self.cache.find(scope) or await self._fetch(scope)
        if image is None:
            return await self.inner.scan(scope, label=label, after=after, limit=limit)
        check_node_scan(label, after, limit, self._limits)
        return image.scan(label, after, limit)

    async def watermark(self, scope: str) -> str | None:
        """See ``GraphStore.watermark``. If the scope is not loaded, ``inner`` is asked, which is cheaper."""
        image = self.cache.find(scope) or await self.cache.known(scope)
        return image.watermark if image is not None else await self.inner.watermark(scope)

    async def scopes(self) -> list[str]:
        """See ``GraphStore.scopes``."""
        return await self.inner.scopes()

    async def drop(self, scope: str) -> None:
        """See ``GraphStore.drop``."""
        self.cache.ensure_open()
        check_scope(scope, self._limits)
        await self.cache.write(scope, lambda: self._drop(scope), lambda _image, _none: True)

    async def _drop(self, scope: str) -> None:
        await self.inner.drop(scope)
        self.cache.forget(scope)

    async def expand(
        self, scope: str, ids: Sequence[str], *, hops: int, types: Sequence[str] | None = None
    ) -> dict[str, int]:
        """See ``NativeExpand.expand``."""
        self.cache.ensure_open()
        if Capability.NATIVE_EXPAND not in self._info.capabilities:
            raise NotSupported(f"graph.{self._info.name} has no native expand; walk over neighbors")
        image = self.cache.find(scope) or await self._fetch(scope)
        if image is None:
            return await cast(NativeExpand, self.inner).expand(scope, ids, hops=hops, types=types)
        check_expand(ids, hops, types, self._limits)
        return image.expand(ids, hops, types)

    async def query(self, text: str, *, timeout: float, limit: int) -> list[dict[str, Value]]:
        """See ``RawQuery.query``."""
        self.cache.ensure_open()
        if Capability.RAW_QUERY not in self._info.capabilities:
            raise NotSupported(f"graph.{self._info.name} has no query language")
        return await cast(RawQuery, self.inner).query(text, timeout=timeout, limit=limit)

    async def _fetch(self, scope: str) -> ScopeGraph | None:
        self.cache.ensure_open()
        check_scope(scope, self._limits)
        return await self.cache.fetch(scope)

    async def _load(self, scope: str, most: int) -> ScopeGraph | None:
        """Load every node, sorted by id, then every edge. Returns None if they would take more than ``most`` bytes."""
        image = ScopeGraph(await self.inner.watermark(scope))
        page = min(_PAGE, self._limits.batch)
        ids: list[str] = []
        while True:
            nodes = await self.inner.scan(scope, after=ids[-1] if ids else None, limit=page)
            image.add_nodes(nodes)
            ids += [node.id for node in nodes]
            if image.size > most:
                return None
            if len(nodes) < page:
                break
        for start in range(0, len(ids), page):
            image.add_edges(await self.inner.neighbors(scope, ids[start : start + page], direction="out"))
            if image.size > most:
                return None
        return image
