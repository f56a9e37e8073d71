"""The core's walk over a graph: from some nodes outwards, a few hops, by nothing but ``neighbors``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from attrs import field, frozen

from saga_core.errors import BadInput
from saga_core.model.relations import SCHEMA
from saga_core.stores.graph import Direction, Edge

_WEIGHTS = {edge.type: edge.weight for edge in SCHEMA.edges}
_UNKNOWN_WEIGHT = 0.3


def weight_of(edge_type: str) -> float:
    """How far interest carries over an edge of that type, 0 to 1; 0.3 for a type that the schema does not have."""
    return _WEIGHTS.get(edge_type, _UNKNOWN_WEIGHT)


class Neighbors(Protocol):
    """What a walk needs of a graph: a ``GraphStore``, or a graph at rest in memory."""

    async def neighbors(
        self,
        scope: str,
        ids: Sequence[str],
        *,
        types: Sequence[str] | None = None,
        direction: Direction = "both",
        limit: int | None = None,
    ) -> list[Edge]:
        """As ``GraphStore.neighbors``."""
        ...


@frozen
class Walk:
    """What a walk saw. ``edges`` are ordered by identity, each once."""

    distance: Mapping[str, int] = field(factory=dict)
    """Node id to the fewest hops from any seed; seeds are at 0, whether or not the graph has them."""
    edges: tuple[Edge, ...] = ()


async def walk(
    graph: Neighbors,
    scope: str,
    seeds: Iterable[str],
    *,
    hops: int,
    types: Sequence[str] | None = None,
    limit: int | None = None,
) -> Walk:
    """The nodes within ``hops`` of ``seeds``, edges taken both ways, and the edges met on the way.

    With a ``limit`` each hop fetches at most so many new edges and goes on from at most so many nodes: those to which
    the most interest carries (the product of the edge types' weights on the best way from a seed), ties by id. Without
    one the distances are exact. Raises ``BadInput`` for fewer than 0 hops or a limit below 1.
    """
    if hops < 0:
        raise BadInput(f"hops is {hops}; give 0 or more")
    if limit is not None and limit < 1:
        raise BadInput(f"limit is {limit}; give 1 or more")
    frontier = sorted(set(seeds))
    distance = dict.fromkeys(frontier, 0)
    interest = dict.fromkeys(frontier, 1.0)
    seen: dict[tuple[str, str, str, str], Edge] = {}
    for hop in range(1, hops + 1):
        if not frontier:
            break
        fresh: dict[str, float] = {}
        # Edges of the hop before come again and must not crowd out the new ones.
        most = None if limit is None else limit + len(seen)
        for edge in await graph.neighbors(scope, frontier, types=types, direction="both", limit=most):
            source, target = edge.source, edge.target
            seen[source, edge.type, target, edge.key] = edge
            known = target in distance
            if known is (source in distance):
                continue
            here, there = (target, source) if known else (source, target)
            carried = interest[here] * _WEIGHTS.get(edge.type, _UNKNOWN_WEIGHT)
            if carried > fresh.get(there, -1.0):
                fresh[there] = carried
        distance.update(dict.fromkeys(fresh, hop))
        interest.update(fresh)
        frontier = sorted(sorted(fresh, key=lambda id_: (-fresh[id_], id_))[:limit])
    return Walk(distance, tuple(seen[key] for key in sorted(seen)))
