"""VectorStore: vectors with text and metadata in scopes; exact filters, cosine similarity."""

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
"""Scores are rounded to so many places before they are ordered, so that every backend sees the same ties."""


def cosine(left: Vector, right: Vector) -> float:
    """What a score means: the cosine of two vectors of one length, each first rounded to 32-bit components.

    The sums are exact, so the order of summation and the machine do not matter; the result is cut to -1 to 1 and
    rounded to ``SCORE_DECIMALS``. A zero vector scores 0. A backend whose engine computes in 32 bits fetches a few
    candidates more than it was asked for and scores them with this.
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
    """A stored vector. ``metadata`` values are scalars, and their types come back as they went in."""

    id: str
    vector: Vector
    text: str = ""
    metadata: Mapping[str, Scalar] = field(factory=dict)


@frozen
class Hit:
    """A found item. ``score`` is ``cosine`` of its vector and the asked one: -1 to 1, higher is nearer."""

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
        NaN, infinities (also of 32-bit precision: 1e39) or malformed metadata.
        """
        ...

    async def get(self, scope: str, ids: Sequence[str]) -> dict[str, VectorItem]:
        """Those of ``ids`` that exist, vectors as ``array('f')``. An unknown scope has none."""
        ...

    async def scan(self, scope: str, *, after: str | None = None, limit: int = 1_000) -> list[VectorItem]:
        """Up to ``limit`` items ordered by id, behind the id ``after``, which need not exist; vectors as in ``get``.

        An unknown scope is empty. Raises ``BadInput`` for a limit below 1.
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
        """The ``k`` items most similar to ``vector`` among those that pass ``where``, in any of ``scopes``.

        The filter is applied before the cut to ``k``. Ordered by score, highest first; equal scores by id, then by
        the scope's place in ``scopes``. Unknown scopes are empty, and a scope named twice counts once, at its first
        place. Raises ``ScopeMismatch`` when a scope has another dimension, ``BadInput`` for ``k`` below 1 or a
        malformed filter.
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
