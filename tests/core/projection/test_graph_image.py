"""An image that takes over what a near one drew is the one that is drawn from nothing, and so is their difference."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from saga_backends.memory import GRAPH
from saga_core.model import Delta
from saga_core.model.deltas import AttributeSet
from saga_core.model.folding import fold
from saga_core.model.world_state import WorldState
from saga_core.projection.graph_image import GraphImage, LoreGraph, difference, render_graph
from saga_core.registry import OpenOptions
from saga_core.stores.graph import Edge, Node
from saga_core.world.model import CharacterSheet, ItemStack, LoreEntry, World
from saga_core.world.opening import opening_state
from tests.core.model.generated import delta_values

WORLD = World(
    "ersia",
    "에르시아",
    characters=(
        CharacterSheet("아리아", player=True, location="마을 광장", items=(ItemStack("불꽃 검"),)),
        CharacterSheet("Mara", location="the old mill"),
    ),
    lore=(
        LoreEntry("마을 광장", "location", "A1", neighbours=("어둠의 숲",), related=("대붕괴", "없는 것")),
        LoreEntry("불꽃 검", "item", "A2", places=("어둠의 숲",), known_by=("Mara",), secret=True),
        LoreEntry("대붕괴", "event", "A1", places=("마을광장",), items=("rope",), known_by=("크룩",)),
    ),
)
LORE = LoreGraph.of(WORLD)


def _states(deltas: list[Any]) -> list[WorldState]:
    states = [opening_state(WORLD, "t0")]
    for number, delta in enumerate(deltas, 1):
        states.append(fold(states[-1], delta, turn=f"t{number}", depth=number))
    return states


def test_no_attribute_replaces_a_property_of_a_node() -> None:
    (who,) = (each for each in opening_state(WORLD, "t0").entities.values() if each.name == "Mara")
    own = {"name": "Eve", "aliases": "Eve", "location": "the moon", "occupation": "miller"}
    delta = Delta(tuple(AttributeSet(who.id, name, value) for name, value in own.items()))
    node = render_graph(fold(opening_state(WORLD, "t0"), delta, turn="t1", depth=1), WORLD).nodes[who.id]
    shown = {name: node.properties.get(name) for name in own}
    assert shown == {"name": "Mara", "aliases": None, "location": "the old mill", "occupation": "miller"}


@given(st.lists(delta_values, min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_what_is_taken_over_from_any_other_state_changes_nothing(deltas: list[Any], dice: Any) -> None:
    states = _states(deltas)
    dice.shuffle(states)
    near: GraphImage | None = None
    for state in states:
        near = render_graph(state, WORLD, lore=LORE, near=near)
        plain = render_graph(state, WORLD)
        assert (near.nodes, near.edges) == (plain.nodes, plain.edges)


@given(st.lists(delta_values, min_size=1, max_size=6), st.data())
def test_the_difference_of_two_images_makes_the_one_into_the_other(deltas: list[Any], data: st.DataObject) -> None:
    states = _states(deltas)
    one, other = data.draw(st.sampled_from(states)), data.draw(st.sampled_from(states))
    old = render_graph(one, WORLD, lore=LORE)
    new = render_graph(other, WORLD, lore=LORE, near=old)
    old.rest()  # what it lets go of is made again
    plain = difference(GraphImage(old.nodes, old.edges), GraphImage(new.nodes, new.edges), "t")
    found = difference(old, new, "t")
    assert {node.id: node for node in found.put_nodes} == {node.id: node for node in plain.put_nodes}
    assert {edge.identity: edge for edge in found.put_edges} == {edge.identity: edge for edge in plain.put_edges}
    assert (found.delete_nodes, found.delete_edges) == (plain.delete_nodes, plain.delete_edges)
    nodes = {id_: node for id_, node in old.nodes.items() if id_ not in found.delete_nodes}
    edges = {
        key: edge
        for key, edge in old.edges.items()
        if key not in found.delete_edges and key.source in nodes and key.target in nodes
    }
    nodes.update((node.id, node) for node in found.put_nodes)
    edges.update((edge.identity, edge) for edge in found.put_edges)
    assert (nodes, edges) == (new.nodes, new.edges)


async def test_neighbors_of_an_image_are_those_of_a_store() -> None:
    state = opening_state(WORLD, "t0")
    image = render_graph(state, WORLD)
    by_hand = GraphImage(image.nodes, image.edges)
    store = await GRAPH.open(OpenOptions())
    await store.apply("s", difference(GraphImage(), image, "t0"))
    ids = sorted(image.nodes)
    for asked in (ids, ids[:2], ids[-2:], ["nobody"]):
        for options in ({}, {"direction": "in"}, {"direction": "out"}, {"types": ["OWNS", "RELATED"]}, {"limit": 2}):
            wanted = await store.neighbors("s", asked, **options)
            assert await image.neighbors("s", asked, **options) == wanted
            assert await by_hand.neighbors("s", asked, **options) == wanted
    assert len(await image.neighbors("s", ids)) == len(image.edges)
    await store.aclose()


async def test_lore_is_tied_to_the_entities_it_names() -> None:
    image = render_graph(opening_state(WORLD, "t0"), WORLD)
    names = {id_: node.properties["name"] for id_, node in image.nodes.items()}
    told = {(names[e.source], e.type, names[e.target]) for e in image.edges.values()}
    assert ("마을 광장", "HAS_LORE", "마을 광장") in told
    assert ("마을 광장", "HAS_LORE", "대붕괴") in told, "spacing does not matter"
    assert ("불꽃 검", "ITEM_LORE", "불꽃 검") in told
    assert ("Mara", "KNOWS", "불꽃 검") in told
    assert ("마을 광장", "RELATED", "대붕괴") in told
    assert not any("없는 것" in each or "크룩" in each for each in told), "what nobody has met has no ties"


async def test_an_edge_from_a_node_to_itself_is_met_once() -> None:
    edge = Edge("a", "RELATED", "a")
    image = GraphImage({"a": Node("a", "Lore")}, {edge.identity: edge})
    assert await image.neighbors("s", ["a"]) == [edge]
