"""A walk over a graph, a few hops outwards from some nodes. Uses only the ``neighbors`` method of the graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Protocol

from attrs import field, frozen

from saga_core.errors import BadInput
from saga_core.stores import Direction, Edge

_WEIGHTS = {
    "RELATES_TO": 0.9,
    "LOCATED_AT": 0.8,
    "OWNS": 0.7,
    "ADJACENT": 0.6,
    "INVOLVED_IN": 0.5,
    "CAUSED": 0.4,
    "KNOWS": 0.6,
    "RELATED": 0.4,
    "HAS_LORE": 0.6,
    "ITEM_LORE": 0.5,
}
"""The part of the interest that crosses an edge, by its type."""
_UNKNOWN_WEIGHT = 0.3
_WIDER = 8

Identity = tuple[str, str, str, str]

_identity = attrgetter("source", "type", "target", "key")


def weight_of(edge_type: str) -> float:
    """Return the factor for interest that crosses an edge of that type, 0 to 1; 0.3 for another type."""
    return _WEIGHTS.get(edge_type, _UNKNOWN_WEIGHT)


class Neighbors(Protocol):
    """The interface that a walk needs of a graph: a ``GraphStore`` or a graph in memory.

    A graph in memory may also have ``touching(scope, ids)``, which returns all edges that touch the nodes, by identity
    and in any order. This call needs no ``await`` and no sorting.
    """

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
    """The result of a walk."""

    distance: Mapping[str, int] = field(factory=dict)
    """The fewest hops from any seed by node id, nearest first. Seeds are at 0 even if the graph does not have them."""
    met: Mapping[Identity, Edge] = field(factory=dict)
    """The edges by identity, in any order. Most callers need few of them and sort only those."""

    @property
    def edges(self) -> tuple[Edge, ...]:
        """The edges, ordered by identity."""
        return tuple([self.met[key] for key in sorted(self.met)])


async def walk(
    graph: Neighbors,
    scope: str,
    seeds: Iterable[str],
    *,
    hops: int,
    types: Sequence[str] | None = None,
    limit: int | None = None,
) -> Walk:
    """Return the nodes within ``hops`` of ``seeds`` and the edges on the way. Edges are followed in both directions.

    With a ``limit``, each hop keeps at most ``limit`` new edges and continues from at most ``limit`` nodes: those with
    the highest interest (the product of the edge types' weights on the best path from a seed), ties by identity. A
    store truncates its answer by identity, so it is asked for eight times ``limit`` edges, and type by type, heaviest
    first, if it has more. Without a limit the distances are exact. Raises ``BadInput`` for negative ``hops`` or a
    ``limit`` below 1.
    """
    if hops < 0:
        raise BadInput(f"hops is {hops}; give 0 or more")
    if limit is not None and limit < 1:
        raise BadInput(f"limit is {limit}; give 1 or more")
    frontier = sorted(set(seeds))
    distance = dict.fromkeys(frontier, 0)
    interest = dict.fromkeys(frontier, 1.0)
    interest_of, weigh = interest.get, _WEIGHTS.get
    seen: dict[Identity, Edge] = {}
    for hop in range(1, hops + 1):
        if not frontier:
            break
        new: list[tuple[float, Identity]] = []
        around = await _around(graph, scope, frontier, types, limit, len(seen))
        if hop == 1:  # each edge touches a seed, and none was seen yet
            new = [(-weigh(key[1], _UNKNOWN_WEIGHT), key) for key in around]
        for key in around if hop > 1 else ():
            source, type_, target, _ = key
            one, other = interest_of(source), interest_of(target)
            # Both ends of a seen edge are known, so ``seen`` is checked only if both are.
            if one is None:
                most = other or 0.0
            elif other is None:
                most = one
            elif key in seen:
                continue
            else:
                most = one if one > other else other
            new.append((-most * weigh(type_, _UNKNOWN_WEIGHT), key))
        if limit is not None and len(new) > limit:
            new = _first(new, limit)
        fresh: dict[str, float] = {}
        for loss, key in new:
            seen[key] = around[key]
            source, _, target, _ = key
            known = target in distance
            if known is not (source in distance):
                there = source if known else target
                if -loss > fresh.get(there, -1.0):
                    fresh[there] = -loss
        distance.update(dict.fromkeys(fresh, hop))
        interest.update(fresh)
        frontier = sorted(fresh)  # at most one node per new edge
    return Walk(distance, seen)


def _first(new: list[tuple[float, Identity]], limit: int) -> list[tuple[float, Identity]]:
    """Return the ``limit`` smallest, in any order. Identities are compared only among the edges of the last loss."""
    last = sorted([loss for loss, _ in new])[limit - 1]
    chosen = [each for each in new if each[0] < last]
    equal = sorted([each for each in new if each[0] == last])
    return chosen + equal[: limit - len(chosen)]


async def _around(
    graph: Neighbors, scope: str, ids: Sequence[str], types: Sequence[str] | None, limit: int | None, known: int
) -> Mapping[Identity, Edge]:
    """Return the edges that touch ``ids``, by identity, in any order.

    With a ``limit``, at least the heaviest ``limit`` edges are returned, besides ``known`` edges that were seen before.
    """
    most = _WIDER * limit + known if limit is not None else None
    touching: Callable[[str, Sequence[str]], Mapping[Identity, Edge]] | None = getattr(graph, "touching", None)
    if touching is not None and types is None:  # ``isinstance`` with a protocol costs a tenth of a walk
        at_hand = touching(scope, ids)
        if most is None or len(at_hand) < most:
            return at_hand
    met = await graph.neighbors(scope, ids, types=types, direction="both", limit=most)
    if limit is None or most is None or len(met) < most:
        return {_identity(edge): edge for edge in met}
    heavy = sorted(_WEIGHTS if types is None else set(types), key=lambda type_: (-weight_of(type_), type_))
    found: list[Edge] = []
    for type_ in heavy:
        found += await graph.neighbors(scope, ids, types=[type_], direction="both", limit=most)
        if len(found) >= limit + known:
            break
    else:
        found += met
    return {_identity(edge): edge for edge in found}
