"""Keeps the scopes of a vector store in memory, with one matrix per scope, and writes through to the store."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, cast

from attrs import evolve

from saga_backends.resident.store import PAGE, ResidentStore
from saga_core.capabilities import Capability
from saga_core.errors import NotSupported
from saga_core.stores import (
    Compacting,
    Filter,
    Hit,
    ScopeSpec,
    Vector,
    VectorItem,
    VectorStore,
)
from saga_core.stores.filters import predicate
from saga_core.stores.validate import (
    as_float32,
    check_delete,
    check_dimension,
    check_item_scan,
    check_items,
    check_names,
    check_query,
    check_where,
)

if TYPE_CHECKING:
    from saga_backends.resident.matrix import Matrix


def _matrix(dimension: int) -> Matrix:
    from saga_backends.resident.matrix import Matrix  # imports numpy, which the start should not pay for

    return Matrix(dimension)


class _Image:
    """The spec and the matrix of a scope. Without a spec, the scope does not exist."""

    def __init__(self, spec: ScopeSpec | None) -> None:
        self.spec = spec
        self.matrix = _matrix(spec.dimension) if spec is not None else None

    @property
    def size(self) -> int:
        """The estimated memory in bytes."""
        return self.matrix.size if self.matrix is not None else 1_024

    def create(self, spec: ScopeSpec) -> bool:
        """Create the scope if it does not exist. Returns whether the spec agrees with that of the image."""
        if self.spec is None:
            self.spec, self.matrix = spec, _matrix(spec.dimension)
        return self.spec == spec


class ResidentVectors(ResidentStore[VectorStore, _Image]):
    """A vector store behind ``ResidentStore``. Queries of a scope in memory are exact."""

    async def compact(self) -> None:
        """Compact ``inner``; see ``Compacting``. Raises ``NotSupported`` if it cannot."""
        self.cache.ensure_open()
        if Capability.COMPACTS not in self._info.capabilities:
            raise NotSupported(f"{self._info.name}: it cannot compact; see Capability.COMPACTS")
        await cast(Compacting, self.inner).compact()

    async def create(self, scope: str, spec: ScopeSpec) -> None:
        """See ``VectorStore.create``."""
        self._check_scope(scope)
        await self.cache.write(scope, lambda: self.inner.create(scope, spec), lambda image, _: image.create(spec))

    async def describe(self, scope: str) -> ScopeSpec | None:
        """See ``VectorStore.describe``. If the scope is not loaded, ``inner`` is asked, which is cheaper."""
        image = self.cache.find(scope) or await self.cache.known(scope)
        return image.spec if image is not None else await self.inner.describe(scope)

    async def upsert(self, scope: str, items: Sequence[VectorItem]) -> None:
        """See ``VectorStore.upsert``."""
        self._check_scope(scope)
        check_items(items, self._limits)
        # The write continues if the caller is cancelled, so it needs its own copy of the values.
        vectors = [as_float32(f"items[{index}].vector", item.vector) for index, item in enumerate(items)]
        own = [
            evolve(item, vector=vector, metadata=dict(item.metadata))
            for item, vector in zip(items, vectors, strict=True)
        ]

        def mirror(image: _Image, _none: None) -> bool:
            if image.matrix is None or any(len(vector) != image.matrix.dimension for vector in vectors):
                return False
            image.matrix.put(list(zip(own, vectors, strict=True)))
            return True

        await self.cache.write(scope, lambda: self.inner.upsert(scope, own), mirror)

    async def get(self, scope: str, ids: Sequence[str]) -> dict[str, VectorItem]:
        """See ``VectorStore.get``."""
        image = self.cache.find(scope) or await self._image(scope)
        if image is None:
            return await self.inner.get(scope, ids)
        check_names("ids", ids, self._limits)
        return image.matrix.get(ids) if image.matrix is not None else {}

    async def scan(self, scope: str, *, after: str | None = None, limit: int = 1_000) -> list[VectorItem]:
        """See ``VectorStore.scan``."""
        image = self.cache.find(scope) or await self._image(scope)
        if image is None:
            return await self.inner.scan(scope, after=after, limit=limit)
        check_item_scan(after, limit, self._limits)
        return image.matrix.scan(after, limit) if image.matrix is not None else []

    async def query(self, scopes: Sequence[str], vector: Vector, k: int, *, where: Filter | None = None) -> list[Hit]:
        """See ``VectorStore.query``."""
        self.cache.ensure_open()
        check_query(scopes, k, where, self._limits)
        asked = as_float32("vector", vector)
        from saga_backends.scoring import QueryVector

        question = QueryVector(asked)
        wanted = predicate(where) if where is not None else None
        found: list[list[Hit]] = []
        for scope in dict.fromkeys(scopes):
            image = self.cache.find(scope) or await self.cache.fetch(scope)
            if image is None:
                found.append(await self.inner.query([scope], asked, k, where=where))
            elif image.matrix is not None and image.spec is not None:
                check_dimension("vector", asked, scope, image.spec)
                best = image.matrix.best(question, k, wanted)
                found.append([Hit(row.id, score, row.text, row.metadata) for score, row in best])
        if len(found) == 1:
            return found[0][:k]  # already sorted
        # Sorting is stable, so equal hits of several scopes stay in the order of the scopes.
        return sorted(chain.from_iterable(found), key=lambda hit: (-hit.score, hit.id))[:k]

    async def delete(self, scope: str, *, ids: Sequence[str] | None = None, where: Filter | None = None) -> int:
        """See ``VectorStore.delete``."""
        self._check_scope(scope)
        check_delete(ids, where, self._limits)
        own = list(ids) if ids is not None else None
        wanted = predicate(where) if where is not None else None

        def mirror(image: _Image, removed: int) -> bool:
            matrix = image.matrix
            here = 0 if matrix is None else matrix.delete(own if own is not None else matrix.matching(wanted))
            return here == removed

        return await self.cache.write(scope, lambda: self.inner.delete(scope, ids=own, where=where), mirror)

    async def count(self, scope: str, *, where: Filter | None = None) -> int:
        """See ``VectorStore.count``. If the scope is not loaded, ``inner`` is asked, which is cheaper."""
        image = self.cache.find(scope) or await self.cache.known(scope)
        if image is None:
            return await self.inner.count(scope, where=where)
        check_where(where, self._limits)
        if image.matrix is None:
            return 0
        return len(image.matrix) if where is None else len(image.matrix.matching(predicate(where)))

    async def _load(self, scope: str, most: int) -> _Image | None:
        """Load every item, sorted by id."""
        spec = await self.inner.describe(scope)
        image = _Image(spec)
        if spec is None or image.matrix is None:
            return image
        if await self.inner.count(scope) * spec.dimension * 4 > most:
            return None
        page = min(PAGE, self._limits.batch)
        after: str | None = None
        while True:
            items = await self.inner.scan(scope, after=after, limit=page)
            image.matrix.put([(item, _single(item.vector)) for item in items])
            if image.size > most:
                return None
            if len(items) < page:
                return image
            after = items[-1].id


def _single(vector: Vector) -> array[float]:
    """Return a vector from a store as ``array('f')``. It is converted if the store returned another type."""
    return vector if isinstance(vector, array) and vector.typecode == "f" else array("f", vector)
