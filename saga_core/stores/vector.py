"""VectorStore: vectors with text and metadata in scopes; exact filters, cosine similarity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from attrs import field, frozen

from saga_core.stores.filters import Filter
from saga_core.stores.graph import Scalar
from saga_core.stores.lifecycle import Store

Vector = Sequence[float]
"""Finite components; ``array('f')`` and numpy arrays qualify."""


@frozen(eq=False)
class VectorItem:
    """A stored vector. ``metadata`` values are scalars, and their types come back as they went in."""

    id: str
    vector: Vector
    text: str = ""
    metadata: Mapping[str, Scalar] = field(factory=dict)


@frozen
class Hit:
    """A found item. ``score`` is the cosine similarity, -1 to 1, higher is nearer; a zero vector scores 0."""

    id: str
    score: float
    text: str
    metadata: Mapping[str, Scalar]


@frozen
class ScopeSpec:
    """What a scope's vectors were made with. Vectors of two embedders are never compared."""

    embedder: str
    dimension: int


class VectorStore(Store, Protocol):
    """Vectors per scope. Scopes are created with a ``ScopeSpec`` before anything is put into them."""

    async def create(self, scope: str, spec: ScopeSpec) -> None:
        """Make the scope; if it exists with an equal spec nothing happens, else ``ScopeMismatch`` is raised."""
        ...

    async def describe(self, scope: str) -> ScopeSpec | None:
        """The scope's spec, or None when there is no such scope."""
        ...

    async def upsert(self, scope: str, items: Sequence[VectorItem]) -> None:
        """Put or replace ``items``, all or nothing; of one id named twice the last counts.

        Raises ``NotFound`` for an unknown scope, ``ScopeMismatch`` for another dimension, ``BadInput`` for
        NaN, infinities or malformed metadata.
        """
        ...

    async def get(self, scope: str, ids: Sequence[str]) -> dict[str, VectorItem]:
        """Those of ``ids`` that exist, vectors in 32-bit precision. An unknown scope has none."""
        ...

    async def query(
        self,
        scopes: Sequence[str],
        vector: Vector,
        k: int,
        *,
        where: Filter | None = None,
    ) -> list[Hit]:
        """The ``k`` items most similar to ``vector`` among those that pass ``where``, in any of ``scopes``.

        The filter is applied before the cut to ``k``. Ordered by score, highest first; equal scores by id, then by scope's
        place in ``scopes``. Unknown scopes are empty. Raises ``ScopeMismatch`` when a scope has another dimension,
        ``BadInput`` for ``k`` below 1.
        """
        ...

    async def delete(self, scope: str, *, ids: Sequence[str] | None = None, where: Filter | None = None) -> int:
        """Remove items by id or by filter (exactly one of the two) and say how many there were."""
        ...

    async def count(self, scope: str, *, where: Filter | None = None) -> int:
        """How many items pass ``where``; all of them without one. An unknown scope has 0."""
        ...

    async def scopes(self) -> list[str]:
        """The scopes that exist, in order."""
        ...

    async def drop(self, scope: str) -> None:
        """Remove the scope with everything in it, its spec too. An unknown scope is no error."""
        ...
