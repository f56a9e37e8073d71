"""VectorStore: vectors with text and metadata in scopes, with exact filters and cosine similarity."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from math import fsum, sqrt
from operator import mul
from typing import Protocol

from attrs import field, frozen

from saga_core.stores.filters import Filter
from saga_core.stores.graph import Scalar
from saga_core.stores.lifecycle import Store

Vector = Sequence[float]
"""Components that are finite in 32-bit precision; ``array('f')`` and numpy arrays qualify."""

SCORE_DECIMALS = 6
"""The decimal places of scores. Scores are rounded before they are ordered, so that all backends agree on ties."""


def cosine(left: Vector, right: Vector) -> float:
    """Return the score: the cosine of two vectors of equal length, whose components are first rounded to 32 bits.

    The sums are exact, so the order of summation and the machine do not matter. The result is clamped to -1 to 1 and
    rounded to ``SCORE_DECIMALS``. A zero vector scores 0. A backend whose engine computes in 32 bits fetches some extra
    candidates and scores them with this function.
    """
    a = left if isinstance(left, array) and left.typecode == "f" else array("f", left)
    b = right if isinstance(right, array) and right.typecode == "f" else array("f", right)
    squares = fsum(map(mul, a, a)) * fsum(map(mul, b, b))
    if not squares:
        return 0.0
    exact = fsum(map(mul, a, b)) / sqrt(squares)
    return round(max(-1.0, min(1.0, exact)), SCORE_DECIMALS) + 0.0  # + 0.0 turns -0.0 into 0.0


@frozen(eq=False)
class VectorItem:
    """A stored vector. ``metadata`` values are scalars, and their types round-trip."""

    id: str
    vector: Vector
    text: str = ""
    metadata: Mapping[str, Scalar] = field(factory=dict)


@frozen
class Hit:
    """A found item. ``score`` is the ``cosine`` of its vector and the query vector: -1 to 1, higher is nearer."""

    id: str
    score: float
    text: str
    metadata: Mapping[str, Scalar]


@frozen
class ScopeSpec:
    """The embedder and the dimension of a scope's vectors. Vectors of different embedders are never compared."""

    embedder: str
    dimension: int


class VectorStore(Store, Protocol):
    """Vectors per scope. A scope is created with a ``ScopeSpec`` before items are put into it."""

    async def create(self, scope: str, spec: ScopeSpec) -> None:
        """Create the scope. If it exists, an equal spec changes nothing and another one raises ``ScopeMismatch``."""
        ...

    async def describe(self, scope: str) -> ScopeSpec | None:
        """Return the scope's spec, or None if the scope does not exist."""
        ...

    async def upsert(self, scope: str, items: Sequence[VectorItem]) -> None:
        """Put or replace all of ``items`` or none. If an id is given twice, the last one counts.

        Raises ``NotFound`` for an unknown scope, ``ScopeMismatch`` for another dimension, and ``BadInput`` for NaN,
        infinities (also in 32-bit precision: 1e39) or malformed metadata.
        """
        ...

    async def get(self, scope: str, ids: Sequence[str]) -> dict[str, VectorItem]:
        """Return those of ``ids`` that exist, with vectors as ``array('f')``. An unknown scope is empty."""
        ...

    async def scan(self, scope: str, *, after: str | None = None, limit: int = 1_000) -> list[VectorItem]:
        """Return up to ``limit`` items after the id ``after`` (which need not exist), ordered by id.

        Vectors are returned as in ``get``. An unknown scope is empty. Raises ``BadInput`` for a limit below 1.
        """
        ...

    async def query(
        self,
        scopes: Sequence[str],
        vector: Vector,
        k: int,
        *,
        where: Filter | None = None,
    ) -> list[Hit]:
        """Return the ``k`` items most similar to ``vector`` among those in any of ``scopes`` that pass ``where``.

        The filter is applied before the limit ``k``. Results are ordered by score, highest first; equal scores by id,
        then by the scope's position in ``scopes``. Unknown scopes are empty, and a repeated scope counts once, at its
        first position. Raises ``ScopeMismatch`` if a scope has another dimension, and ``BadInput`` for ``k`` below 1 or
        a malformed filter.
        """
        ...

    async def delete(self, scope: str, *, ids: Sequence[str] | None = None, where: Filter | None = None) -> int:
        """Remove items by id or by filter (exactly one of the two), and return the number of removed items."""
        ...

    async def count(self, scope: str, *, where: Filter | None = None) -> int:
        """Return how many items pass ``where``, or the number of all items without it. An unknown scope has 0."""
        ...

    async def scopes(self) -> list[str]:
        """Return the existing scopes in order."""
        ...

    async def drop(self, scope: str) -> None:
        """Remove the scope with all its contents, including its spec. An unknown scope is not an error."""
        ...
