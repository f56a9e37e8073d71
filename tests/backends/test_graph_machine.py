"""Long random lives of every graph store, beside a model of plain lists that shares no code with any of them."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from saga_core.capabilities import Capability
from saga_core.errors import BadInput
from saga_core.stores.graph import Edge, EdgeKey, Mutation, Node
from tests.backends.store_openers import LIVING_GRAPHS, Opener, each

SCOPES = ("s", "s/2", "숲")
IDS = ("아리아", "크룩", "각", "a", "a_", "a%", "A", "b:c")
TYPES = ("LOCATED_AT", "OWNS", "관계")
KEYS = ("", "1", "met")

scopes = st.sampled_from(SCOPES)
ids = st.sampled_from(IDS)
types = st.sampled_from(TYPES)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from([0, 1, -1, 2**63 - 1, -(2**63)]),
    st.sampled_from([0.0, -0.0, 1.0, 0.1, 1e300]),
    st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=6),
)
properties = st.dictionaries(
    st.sampled_from(["hp", "이름", "a.b"]), scalars | st.lists(scalars, max_size=2).map(tuple), max_size=2
)
nodes = st.builds(Node, ids, st.sampled_from(["Character", "Location"]), properties)
edges = st.builds(Edge, ids, types, ids, st.sampled_from(KEYS), properties)
keys = st.builds(EdgeKey, ids, types, ids, st.sampled_from(KEYS))


def lists(of: st.SearchStrategy[Any], most: int) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(of, max_size=most).map(tuple)


mutations = st.builds(
    Mutation,
    put_nodes=lists(nodes, 5),
    put_edges=lists(edges, 5),
    delete_nodes=lists(ids, 2),
    delete_edges=lists(keys, 3),
    watermark=st.none() | st.sampled_from(["t1", "t2"]),
)


def plain(value: Any) -> Any:
    return [plain(part) for part in value] if isinstance(value, tuple) else (type(value).__name__, repr(value))


def bare(thing: Node | Edge) -> list[Any]:
    head = [thing.id, thing.label] if isinstance(thing, Node) else [thing.source, thing.type, thing.target, thing.key]
    return [*head, sorted((name, plain(value)) for name, value in thing.properties.items())]


class Model:
    """Scopes as [nodes, edges, watermark], nodes and edges as lists of what ``bare`` gives."""

    def __init__(self) -> None:
        self.scopes: dict[str, list[Any]] = {}

    def apply(self, scope: str, mutation: Mutation) -> bool:
        """Whether the mutation is valid."""
        old = self.scopes.get(scope, [[], [], None])
        gone = [[key.source, key.type, key.target, key.key] for key in mutation.delete_edges]
        kept_nodes = [node for node in old[0] if node[0] not in mutation.delete_nodes]
        kept_edges = [
            edge
            for edge in old[1]
            if edge[:4] not in gone and edge[0] not in mutation.delete_nodes and edge[2] not in mutation.delete_nodes
        ]
        for node in mutation.put_nodes:
            kept_nodes = [other for other in kept_nodes if other[0] != node.id] + [bare(node)]
        for edge in mutation.put_edges:
            kept_edges = [other for other in kept_edges if other[:4] != bare(edge)[:4]] + [bare(edge)]
        here = [node[0] for node in kept_nodes]
        if any(edge.source not in here or edge.target not in here for edge in mutation.put_edges):
            return False
        something = any(
            (mutation.put_nodes, mutation.put_edges, mutation.delete_nodes, mutation.delete_edges, mutation.watermark)
        )
        if something:
            self.scopes[scope] = [kept_nodes, kept_edges, mutation.watermark or old[2]]
        return True

    def nodes(self, scope: str) -> list[Any]:
        return sorted(self.scopes.get(scope, [[]])[0])

    def neighbors(self, scope: str, near: list[str], kinds: list[str] | None, direction: str) -> list[Any]:
        return sorted(
            edge
            for edge in self.scopes.get(scope, [[], []])[1]
            if (kinds is None or edge[1] in kinds)
            and (
                (direction in ("out", "both") and edge[0] in near) or (direction in ("in", "both") and edge[2] in near)
            )
        )

    def distances(self, scope: str, near: list[str], hops: int, kinds: list[str] | None) -> dict[str, int]:
        """By relaxing every edge again and again."""
        found = {node[0]: 0 for node in self.nodes(scope) if node[0] in near}
        for _ in range(hops):
            for edge in self.neighbors(scope, list(found), kinds, "both"):
                for one, other in ((edge[0], edge[2]), (edge[2], edge[0])):
                    if one in found:
                        found[other] = min(found.get(other, 9), found[one] + 1)
        return {node_id: distance for node_id, distance in found.items() if distance <= hops}


class GraphMachine(RuleBasedStateMachine):
    opener: Opener

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name)
        self.model = Model()
        self.store: Any = self.run(self.opener.open(self.path))

    def run(self, call: Coroutine[Any, Any, Any]) -> Any:
        return self.runner.run(call)

    def teardown(self) -> None:
        self.run(self.store.aclose())
        self.runner.close()
        self.folder.cleanup()

    @rule(scope=scopes, mutation=mutations, twice=st.booleans())
    def apply(self, scope: str, mutation: Mutation, twice: bool) -> None:
        for _ in range(1 + twice):
            if self.model.apply(scope, mutation):
                self.run(self.store.apply(scope, mutation))
            else:
                with pytest.raises(BadInput, match="no node"):
                    self.run(self.store.apply(scope, mutation))

    @rule(scope=scopes, mutation=mutations)
    def grow(self, scope: str, mutation: Mutation) -> None:
        """A mutation that brings the nodes its edges need."""
        ends = {end for edge in mutation.put_edges for end in (edge.source, edge.target)}
        whole = Mutation(
            mutation.put_nodes + tuple(Node(end, "Item") for end in sorted(ends)),
            mutation.put_edges,
            watermark=mutation.watermark,
        )
        assert self.model.apply(scope, whole)
        self.run(self.store.apply(scope, whole))

    @rule(scope=scopes)
    def drop(self, scope: str) -> None:
        self.model.scopes.pop(scope, None)
        self.run(self.store.drop(scope))

    @rule(scope=scopes, wanted=lists(ids, 4))
    def get(self, scope: str, wanted: tuple[str, ...]) -> None:
        found = self.run(self.store.get(scope, wanted))
        assert sorted(bare(node) for node in found.values()) == [n for n in self.model.nodes(scope) if n[0] in wanted]
        assert all(node_id == node.id for node_id, node in found.items())

    @rule(
        scope=scopes,
        near=st.lists(ids, max_size=4),
        kinds=st.none() | st.lists(types, max_size=2),
        direction=st.sampled_from(["in", "out", "both"]),
        limit=st.none() | st.integers(1, 6),
    )
    def neighbors(
        self, scope: str, near: list[str], kinds: list[str] | None, direction: str, limit: int | None
    ) -> None:
        found = self.run(self.store.neighbors(scope, near, types=kinds, direction=direction, limit=limit))
        assert [bare(edge) for edge in found] == self.model.neighbors(scope, near, kinds, direction)[:limit]

    @rule(
        scope=scopes,
        label=st.none() | st.sampled_from(["Character", "Item"]),
        after=st.none() | ids | st.text("a크", min_size=1, max_size=2),
        limit=st.integers(1, 9),
    )
    def scan(self, scope: str, label: str | None, after: str | None, limit: int) -> None:
        found = self.run(self.store.scan(scope, label=label, after=after, limit=limit))
        expected = [n for n in self.model.nodes(scope) if label in (None, n[1]) and (after is None or n[0] > after)]
        assert [bare(node) for node in found] == expected[:limit]

    @rule(scope=scopes, near=st.lists(ids, max_size=3), hops=st.integers(0, 4), kinds=st.none() | st.lists(types))
    def expand(self, scope: str, near: list[str], hops: int, kinds: list[str] | None) -> None:
        if Capability.NATIVE_EXPAND in self.store.info.capabilities:
            found = self.run(self.store.expand(scope, near, hops=hops, types=kinds))
            assert found == self.model.distances(scope, near, hops, kinds)

    @rule(scope=scopes)
    def watermark(self, scope: str) -> None:
        assert self.run(self.store.watermark(scope)) == self.model.scopes.get(scope, [[], [], None])[2]

    @precondition(lambda self: self.opener.reopen is not None)
    @rule()
    def reopen(self) -> None:
        self.store = self.run(self.opener.reopen(self.store, self.path))

    @precondition(lambda self: hasattr(self.store, "forget"))
    @rule(scope=st.none() | scopes)
    def forget(self, scope: str | None) -> None:
        self.store.forget(scope)

    @invariant()
    def scopes_are_known(self) -> None:
        assert self.run(self.store.scopes()) == sorted(self.model.scopes)


@pytest.mark.parametrize("opener", each(LIVING_GRAPHS), ids=str)
def test_random_lives(opener: Opener) -> None:
    machine = type("Machine", (GraphMachine,), {"opener": opener})
    examples = max(opener.lives, settings().max_examples * opener.lives // 75)
    run_state_machine_as_test(machine, settings=settings(max_examples=examples, stateful_step_count=30))
