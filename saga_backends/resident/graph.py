"""Keeps the scopes of a graph store in memory, and writes through to the store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from saga_backends.resident.store import PAGE, ResidentStore
from saga_backends.scope_graph import ScopeGraph, import_classes, sealed_mutation
from saga_core.capabilities import Capability
from saga_core.errors import NotSupported
from saga_core.stores import Direction, Edge, GraphStore, Mutation, NativeExpand, Node, RawQuery, Value
from saga_core.stores.validate import check_expand, check_mutation, check_names, check_neighbors, check_node_scan


class ResidentGraph(ResidentStore[GraphStore, ScopeGraph]):
    """A graph store behind ``ResidentStore``.

    ``query`` always uses ``inner``, and ``expand`` only for scopes that are not in memory. Both raise ``NotSupported``
    if ``inner`` does not declare them.
    """

    async def apply(self, scope: str, mutation: Mutation) -> None:
        """See ``GraphStore.apply``."""
        self._check_scope(scope)
        check_mutation(mutation, self._limits)
        # The write continues if the caller is cancelled, so it needs its own copy of the values.
        own = sealed_mutation(mutation)

        def mirror(image: ScopeGraph, _none: None) -> bool:
            image.apply(own)
            return True

        await self.cache.write(scope, lambda: self.inner.apply(scope, own), mirror)

    async def get(self, scope: str, ids: Sequence[str]) -> dict[str, Node]:
        """See ``GraphStore.get``."""
        image = self.cache.find(scope) or await self._image(scope)
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
        image = self.cache.find(scope) or await self._image(scope)
        if image is None:
            return await self.inner.neighbors(scope, ids, types=types, direction=direction, limit=limit)
        check_neighbors(ids, types, direction, limit, self._limits)
        return image.neighbors(ids, types, direction, limit)

    async def scan(
        self, scope: str, *, label: str | None = None, after: str | None = None, limit: int = 1_000
    ) -> list[Node]:
        """See ``GraphStore.scan``."""
        image = self.cache.find(scope) or await self._image(scope)
        if image is None:
            return await self.inner.scan(scope, label=label, after=after, limit=limit)
        check_node_scan(label, after, limit, self._limits)
        return image.scan(label, after, limit)

    async def watermark(self, scope: str) -> str | None:
        """See ``GraphStore.watermark``. If the scope is not loaded, ``inner`` is asked, which is cheaper."""
        image = self.cache.find(scope) or await self.cache.known(scope)
        return image.watermark if image is not None else await self.inner.watermark(scope)

    async def expand(
        self, scope: str, ids: Sequence[str], *, hops: int, types: Sequence[str] | None = None
    ) -> dict[str, int]:
        """See ``NativeExpand.expand``."""
        self.cache.ensure_open()
        if Capability.NATIVE_EXPAND not in self._info.capabilities:
            raise NotSupported(f"graph.{self._info.name} has no native expand; walk over neighbors")
        image = self.cache.find(scope) or await self._image(scope)
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

    async def _load(self, scope: str, most: int) -> ScopeGraph | None:
        """Load every node, sorted by id, then every edge."""
        await import_classes()
        image = ScopeGraph(await self.inner.watermark(scope))
        page = min(PAGE, self._limits.batch)
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
