"""The core's walk over a graph: from some nodes outwards, a few hops, by nothing but ``neighbors``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Protocol

from attrs import field, frozen

from saga_core.errors import BadInput
from saga_core.model import SCHEMA
from saga_core.stores import Direction, Edge

_WEIGHTS = {edge.type: edge.weight for edge in SCHEMA.edges}
_UNKNOWN_WEIGHT = 0.3
_WIDER = 8

Identity = tuple[str, str, str, str]

_identity = attrgetter("source", "type", "target", "key")


def weight_of(edge_type: str) -> float:
    """How far interest carries over an edge of that type, 0 to 1; 0.3 for a type that the schema does not have."""
    return _WEIGHTS.get(edge_type, _UNKNOWN_WEIGHT)


class Neighbors(Protocol):
    """What a walk needs of a graph: a ``GraphStore``, or a graph at rest in memory.

    One at rest may have ``touching(ids)`` besides: all edges that touch them, by identity, in any order. They need
    neither be waited for nor put in order.
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
    """What a walk saw."""

    distance: Mapping[str, int] = field(factory=dict)
    """Node id to the fewest hops from any seed, nearest first; seeds are at 0, whether or not the graph has them."""
    met: Mapping[Identity, Edge] = field(factory=dict)
    """The edges by identity, in any order: most readers need few of them, and put those in order."""

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
    interest_of, weigh = interest.get, _WEIGHTS.get
    seen: dict[Identity, Edge] = {}
    for hop in range(1, hops + 1):
        if not frontier:
            break
        new: list[tuple[float, Identity]] = []
        around = await _around(graph, scope, frontier, types, limit, len(seen))
        if hop == 1:  # a seed is at each of them, and none was seen
            new = [(-weigh(key[1], _UNKNOWN_WEIGHT), key) for key in around]
        for key in around if hop > 1 else ():
            source, type_, target, _ = key
            one, other = interest_of(source), interest_of(target)
            # The ends of an edge that was seen are both known: the others need no look.
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
        frontier = sorted(fresh)  # no more than there are new edges
    return Walk(distance, seen)


def _first(new: list[tuple[float, Identity]], limit: int) -> list[tuple[float, Identity]]:
    """The ``limit`` smallest, in any order. Few losses differ: identities are compared where they are needed alone."""
    last = sorted([loss for loss, _ in new])[limit - 1]
    chosen = [each for each in new if each[0] < last]
    equal = sorted([each for each in new if each[0] == last])
    return chosen + equal[: limit - len(chosen)]


async def _around(
    graph: Neighbors, scope: str, ids: Sequence[str], types: Sequence[str] | None, limit: int | None, known: int
) -> Mapping[Identity, Edge]:
    """The edges that touch ``ids``, by identity, in any order; with a ``limit`` so many that the heaviest of them are
    there, ``known`` old ones aside."""
    most = _WIDER * limit + known if limit is not None else None
    touching: Callable[[Sequence[str]], Mapping[Identity, Edge]] | None = getattr(graph, "touching", None)
    if touching is not None and types is None:  # ``isinstance`` of a protocol costs a tenth of a walk
        at_hand = touching(ids)
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
