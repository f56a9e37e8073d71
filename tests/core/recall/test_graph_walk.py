"""The walk against a breadth-first search written out."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saga_core.errors import BadInput
from saga_core.recall.graph_walk import walk, weight_of
from saga_core.stores.graph import Direction, Edge

NODES = [f"n{number}" for number in range(7)]
TYPES = ["RELATES_TO", "ADJACENT", "OWNS"]
edge_lists = st.lists(
    st.builds(Edge, st.sampled_from(NODES), st.sampled_from(TYPES), st.sampled_from(NODES)),
    max_size=16,
    unique_by=lambda edge: edge.identity,
)


class Listed:
    """Edges in a list."""

    def __init__(self, edges: Sequence[Edge]) -> None:
        self.edges = edges
        self.asked: list[tuple[int, int | None]] = []

    async def neighbors(
        self,
        scope: str,
        ids: Sequence[str],
        *,
        types: Sequence[str] | None = None,
        direction: Direction = "both",
        limit: int | None = None,
    ) -> list[Edge]:
        self.asked.append((len(ids), limit))
        found = [edge for edge in self.edges if edge.source in ids or edge.target in ids]
        found = [edge for edge in found if types is None or edge.type in types]
        return sorted(found, key=lambda edge: edge.identity)[:limit]


def distances(edges: Sequence[Edge], seeds: set[str], hops: int, types: Sequence[str] | None) -> dict[str, int]:
    reached = dict.fromkeys(seeds, 0)
    for hop in range(1, hops + 1):
        here = {node for node, at in reached.items() if at == hop - 1}
        for edge in edges:
            if types is not None and edge.type not in types:
                continue
            for one, other in ((edge.source, edge.target), (edge.target, edge.source)):
                if one in here:
                    reached.setdefault(other, hop)
    return reached


@given(edge_lists, st.sets(st.sampled_from(NODES)), st.integers(0, 4), st.none() | st.lists(st.sampled_from(TYPES)))
async def test_distances_are_those_of_a_breadth_first_search(
    edges: list[Edge], seeds: set[str], hops: int, types: list[str] | None
) -> None:
    found = await walk(Listed(edges), "s", sorted(seeds), hops=hops, types=types)
    assert found.distance == distances(edges, seeds, hops, types)
    touched = {node for node, at in found.distance.items() if at < hops}
    expected = {
        edge.identity
        for edge in edges
        if (edge.source in touched or edge.target in touched) and (types is None or edge.type in types)
    }
    assert [edge.identity for edge in found.edges] == sorted(expected)


@given(edge_lists, st.permutations(NODES[:4]), st.integers(1, 4), st.integers(1, 5))
async def test_neither_the_order_of_edges_nor_of_seeds_matters(
    edges: list[Edge], seeds: list[str], hops: int, limit: int
) -> None:
    one = await walk(Listed(edges), "s", seeds, hops=hops, limit=limit)
    other = await walk(Listed(edges[::-1]), "s", sorted(seeds), hops=hops, limit=limit)
    assert one == other


async def test_the_fan_out_is_bounded_and_follows_the_stronger_ties() -> None:
    edges = [Edge("a", "ADJACENT", f"place{number}") for number in range(5)]
    edges += [Edge("a", "RELATES_TO", "friend"), Edge("friend", "RELATES_TO", "far"), Edge("place0", "ADJACENT", "x")]
    graph = Listed(edges)
    found = await walk(graph, "s", ["a"], hops=2, limit=6)
    assert found.distance["far"] == 2
    assert graph.asked == [(1, 48), (6, 54)]
    narrow = Listed(edges)
    await walk(narrow, "s", ["a"], hops=2, limit=1)
    assert [size for size, _ in narrow.asked] == [1, 1]


@pytest.mark.parametrize("crowd", [40, 4_000])
async def test_a_crowd_does_not_hide_the_stronger_ties(crowd: int) -> None:
    edges = [Edge(f"lore{number:04}", "RELATED", "a") for number in range(crowd)]
    edges += [Edge("z", "RELATES_TO", "a"), Edge("a", "OWNS", "sword"), Edge("b", "RELATED", "lore0000")]
    graph = Listed(edges)
    found = await walk(graph, "s", ["a"], hops=2, limit=5)
    assert {"z", "sword", "b"} < found.distance.keys()
    kept = [edge for edge in found.edges if "a" in (edge.source, edge.target)]
    assert len(kept) == 5
    # Of equals the first by identity.
    assert [edge.source for edge in kept] == ["a", "lore0000", "lore0001", "lore0002", "z"]
    assert sum(limit or 0 for _, limit in graph.asked) <= 12 * 2 * 8 * 5, "however many there are, few are looked at"


async def test_of_a_crowd_of_one_kind_only_the_kinds_that_are_asked_for_count() -> None:
    edges = [Edge("a", "RELATES_TO", f"n{number:04}") for number in range(100)] + [Edge("a", "OWNS", "sword")]
    found = await walk(Listed(edges), "s", ["a"], hops=1, limit=3, types=["OWNS", "ADJACENT"])
    assert [edge.target for edge in found.edges] == ["sword"]
    found = await walk(Listed(edges), "s", ["a"], hops=1, limit=3, types=["OWNS", "RELATES_TO"])
    assert [edge.target for edge in found.edges] == ["n0000", "n0001", "n0002"]


async def test_kinds_that_the_schema_does_not_have_come_last_and_once() -> None:
    edges = [Edge("a", "INVENTED", f"n{number:04}") for number in range(100)] + [Edge("a", "OWNS", "sword")]
    found = await walk(Listed(edges), "s", ["a"], hops=1, limit=3)
    assert [edge.target for edge in found.edges] == ["n0000", "n0001", "sword"]


@given(edge_lists, st.sets(st.sampled_from(NODES), min_size=1), st.integers(1, 6))
async def test_the_heaviest_edges_are_kept(edges: list[Edge], seeds: set[str], limit: int) -> None:
    found = await walk(Listed(edges), "s", seeds, hops=1, limit=limit)
    near = [edge for edge in edges if edge.source in seeds or edge.target in seeds]
    best = sorted(near, key=lambda edge: (-weight_of(edge.type), edge.identity))[:limit]
    assert list(found.edges) == sorted(best, key=lambda edge: edge.identity)


async def test_no_seeds_or_no_hops_ask_nothing() -> None:
    graph = Listed([Edge("a", "OWNS", "b")])
    assert (await walk(graph, "s", [], hops=3)).distance == {}
    assert (await walk(graph, "s", ["a"], hops=0)).distance == {"a": 0}
    assert graph.asked == []


@pytest.mark.parametrize(("hops", "limit"), [(-1, None), (1, 0)])
async def test_bad_input_is_refused(hops: int, limit: int | None) -> None:
    with pytest.raises(BadInput, match="give"):
        await walk(Listed([]), "s", ["a"], hops=hops, limit=limit)


def test_interest_carries_over_an_edge_in_part_and_furthest_over_relations() -> None:
    assert weight_of("RELATES_TO") == 0.9 > weight_of("LOCATED_AT") > weight_of("INVENTED") == 0.3
