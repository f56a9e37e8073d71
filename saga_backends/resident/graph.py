"""Keeps the scopes of a graph store in memory, and writes through to the store."""

from __future__ import annotations

from typing import cast

from saga_backends.checked import CheckedGraph
from saga_backends.resident.store import PAGE, ResidentStore
from saga_backends.scope_graph import ScopeGraph, import_classes
from saga_core.capabilities import Capability
from saga_core.stores import Direction, Edge, GraphStore, Mutation, NativeExpand, Node, RawQuery, Value


class ResidentGraph(ResidentStore[GraphStore, ScopeGraph], CheckedGraph):
    """A graph store behind ``ResidentStore``.

    ``query`` always uses ``inner``, and ``expand`` only for scopes that are not in memory. Both raise ``NotSupported``
    if ``inner`` does not declare them.
    """

    async def _apply(self, scope: str, mutation: Mutation) -> None:
        def mirror(image: ScopeGraph, _none: None) -> bool:
            image.apply(mutation)
            return True

        await self.cache.write(scope, lambda: self.inner.apply(scope, mutation), mirror)

    async def _get(self, scope: str, ids: list[str]) -> dict[str, Node]:
        image = await self.cache.fetch(scope)
        return await self.inner.get(scope, ids) if image is None else image.get(ids)

    async def _neighbors(
        self, scope: str, ids: list[str], types: list[str] | None, direction: Direction, limit: int | None
    ) -> list[Edge]:
        image = await self.cache.fetch(scope)
        if image is None:
            return await self.inner.neighbors(scope, ids, types=types, direction=direction, limit=limit)
        return image.neighbors(ids, types, direction, limit)

    async def _scan(self, scope: str, label: str | None, after: str | None, limit: int) -> list[Node]:
        image = await self.cache.fetch(scope)
        if image is None:
            return await self.inner.scan(scope, label=label, after=after, limit=limit)
        return image.scan(label, after, limit)

    async def _watermark(self, scope: str) -> str | None:
        """If the scope is not loaded, ``inner`` is asked, which is cheaper."""
        image = await self.cache.known(scope)
        return image.watermark if image is not None else await self.inner.watermark(scope)

    async def _expand(self, scope: str, ids: list[str], hops: int, types: list[str] | None) -> dict[str, int]:
        if Capability.NATIVE_EXPAND not in self._info.capabilities:
            return await super()._expand(scope, ids, hops, types)
        image = await self.cache.fetch(scope)
        if image is None:
            return await cast(NativeExpand, self.inner).expand(scope, ids, hops=hops, types=types)
        return image.expand(ids, hops, types)

    async def _query(self, text: str, timeout: float, limit: int) -> list[dict[str, Value]]:
        if Capability.RAW_QUERY not in self._info.capabilities:
            return await super()._query(text, timeout, limit)
        return await cast(RawQuery, self.inner).query(text, timeout=timeout, limit=limit)

    async def _load(self, scope: str, most: int) -> ScopeGraph | None:
        """Load every node, sorted by id, then every edge."""
        await import_classes()
        image = ScopeGraph(await self.inner.watermark(scope))
        page = min(PAGE, self._info.limits.batch)
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
