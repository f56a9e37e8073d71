"""The core's walk over a graph: from some nodes outwards, a few hops, by nothing but ``neighbors``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter, itemgetter
from typing import Protocol, runtime_checkable

from attrs import field, frozen

from saga_core.errors import BadInput
from saga_core.model import SCHEMA
from saga_core.stores import Direction, Edge

_WEIGHTS = {edge.type: edge.weight for edge in SCHEMA.edges}
_UNKNOWN_WEIGHT = 0.3
_WIDER = 8

Identity = tuple[str, str, str, str]

_interest_and_identity = itemgetter(0, 1)
_identity = attrgetter("source", "type", "target", "key")


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


@runtime_checkable
class AtHand(Protocol):
    """A graph at rest in memory. Its edges need neither be waited for nor put in order."""

    def touching(self, ids: Sequence[str]) -> Mapping[Identity, Edge]:
        """All edges that touch ``ids``, by identity (source, type, target, key), in any order."""
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

    With a ``limit`` each hop keeps at most so many new edges and goes on from at most so many nodes: those to which the
    most interest carries (the product of the edge types' weights on the best way from a seed), ties by identity. A
    store cuts by identity; it is asked for eight times as many, and type by type, the heaviest first, where there are
    more yet. Without a limit the distances are exact. Raises ``BadInput`` for fewer than 0 hops or a limit below 1.
    """
    if hops < 0:
        raise BadInput(f"hops is {hops}; give 0 or more")
    if limit is not None and limit < 1:
        raise BadInput(f"limit is {limit}; give 1 or more")
    frontier = sorted(set(seeds))
    distance = dict.fromkeys(frontier, 0)
    interest = dict.fromkeys(frontier, 1.0)
    seen: dict[Identity, Edge] = {}
    for hop in range(1, hops + 1):
        if not frontier:
            break
        new: list[tuple[float, Identity, Edge]] = []
        for key, edge in await _around(graph, scope, frontier, types, limit, len(seen)):
            one, other = interest.get(edge.source), interest.get(edge.target)
            # The ends of an edge that was seen are both known: the others need no look.
            if one is None:
                most = other or 0.0
            elif other is None:
                most = one
            elif key in seen:
                continue
            else:
                most = one if one > other else other
            new.append((-most * _WEIGHTS.get(edge.type, _UNKNOWN_WEIGHT), key, edge))
        if limit is not None and len(new) > limit:
            new.sort(key=_interest_and_identity)
            del new[limit:]
        fresh: dict[str, float] = {}
        for loss, key, edge in new:
            seen[key] = edge
            known = edge.target in distance
            if known is not (edge.source in distance):
                there = edge.source if known else edge.target
                if -loss > fresh.get(there, -1.0):
                    fresh[there] = -loss
        distance.update(dict.fromkeys(fresh, hop))
        interest.update(fresh)
        frontier = sorted(fresh)  # no more than there are new edges
    return Walk(distance, tuple(seen[key] for key in sorted(seen)))


async def _around(
    graph: Neighbors, scope: str, ids: Sequence[str], types: Sequence[str] | None, limit: int | None, known: int
) -> Iterable[tuple[Identity, Edge]]:
    """The edges that touch ``ids``, by identity, in any order; with a ``limit`` so many that the heaviest of them are
    there, ``known`` old ones aside."""
    most = _WIDER * limit + known if limit is not None else None
    if isinstance(graph, AtHand) and types is None:
        at_hand = graph.touching(ids)
        if most is None or len(at_hand) < most:
            return at_hand.items()
    met = await graph.neighbors(scope, ids, types=types, direction="both", limit=most)
    if limit is None or most is None or len(met) < most:
        return [(_identity(edge), edge) for edge in met]
    heavy = sorted(_WEIGHTS if types is None else set(types), key=lambda type_: (-weight_of(type_), type_))
    found: list[Edge] = []
    for type_ in heavy:
        found += await graph.neighbors(scope, ids, types=[type_], direction="both", limit=most)
        if len(found) >= limit + known:
            break
    else:
        found += met
    return {_identity(edge): edge for edge in found}.items()
