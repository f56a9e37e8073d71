"""Keeps the scopes of a vector store in memory, with one matrix per scope, and writes through to the store."""

from __future__ import annotations

from array import array
from itertools import chain
from typing import TYPE_CHECKING

from saga_backends.checked import CheckedVectors, Numbered, wanted
from saga_backends.resident.store import PAGE, ResidentStore
from saga_core.stores import Filter, Hit, ScopeSpec, Vector, VectorItem, VectorStore
from saga_core.stores.validate import check_dimension

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


class ResidentVectors(ResidentStore[VectorStore, _Image], CheckedVectors):
    """A vector store behind ``ResidentStore``. Queries of a scope in memory are exact."""

    async def _create(self, scope: str, spec: ScopeSpec) -> None:
        await self.cache.write(scope, lambda: self.inner.create(scope, spec), lambda image, _: image.create(spec))

    async def _describe(self, scope: str) -> ScopeSpec | None:
        """If the scope is not loaded, ``inner`` is asked, which is cheaper."""
        image = await self.cache.known(scope)
        return image.spec if image is not None else await self.inner.describe(scope)

    async def _upsert(self, scope: str, items: list[Numbered]) -> None:
        def mirror(image: _Image, _none: None) -> bool:
            if image.matrix is None or any(len(vector) != image.matrix.dimension for _, vector in items):
                return False
            image.matrix.put(items)
            return True

        await self.cache.write(scope, lambda: self.inner.upsert(scope, [item for item, _ in items]), mirror)

    async def _get(self, scope: str, ids: list[str]) -> dict[str, VectorItem]:
        image = await self.cache.fetch(scope)
        if image is None:
            return await self.inner.get(scope, ids)
        return image.matrix.get(ids) if image.matrix is not None else {}

    async def _scan(self, scope: str, after: str | None, limit: int) -> list[VectorItem]:
        image = await self.cache.fetch(scope)
        if image is None:
            return await self.inner.scan(scope, after=after, limit=limit)
        return image.matrix.scan(after, limit) if image.matrix is not None else []

    async def _query(self, scopes: list[str], asked: array[float], k: int, where: Filter | None) -> list[Hit]:
        from saga_backends.scoring import QueryVector

        question, passes = QueryVector(asked), wanted(where)
        found: list[list[Hit]] = []
        for scope in scopes:
            image = await self.cache.fetch(scope)
            if image is None:
                found.append(await self.inner.query([scope], asked, k, where=where))
            elif image.matrix is not None and image.spec is not None:
                check_dimension("vector", asked, scope, image.spec)
                best = image.matrix.best(question, k, passes)
                found.append([Hit(row.id, score, row.text, row.metadata) for score, row in best])
        # Sorting is stable, so equal hits of several scopes stay in the order of the scopes.
        return sorted(chain.from_iterable(found), key=lambda hit: (-hit.score, hit.id))[:k]

    async def _delete(self, scope: str, ids: list[str] | None, where: Filter | None) -> int:
        passes = wanted(where)

        def mirror(image: _Image, removed: int) -> bool:
            matrix = image.matrix
            here = 0 if matrix is None else matrix.delete(ids if ids is not None else matrix.matching(passes))
            return here == removed

        return await self.cache.write(scope, lambda: self.inner.delete(scope, ids=ids, where=where), mirror)

    async def _count(self, scope: str, where: Filter | None) -> int:
        """If the scope is not loaded, ``inner`` is asked, which is cheaper."""
        image = await self.cache.known(scope)
        if image is None:
            return await self.inner.count(scope, where=where)
        return 0 if image.matrix is None else len(image.matrix.matching(wanted(where)))

    async def _load(self, scope: str, most: int) -> _Image | None:
        """Load every item, sorted by id."""
        spec = await self.inner.describe(scope)
        image = _Image(spec)
        if spec is None or image.matrix is None:
            return image
        if await self.inner.count(scope) * spec.dimension * 4 > most:
            return None
        page = min(PAGE, self._info.limits.batch)
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
