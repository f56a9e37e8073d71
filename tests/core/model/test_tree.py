"""The tree: ancestry by jump pointers equals ancestry by walking."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saga_core import codec
from saga_core.errors import NotFound, StoreCorrupt
from saga_core.model.tree import ReportStatus, Tree, TurnKind, TurnNode, read_nodes


def grow(parents: list[int]) -> Tree:
    """A tree in which the n-th turn is a child of the turn ``parents[n] % n`` back from the newest."""
    tree = Tree("s")
    tree.add(TurnNode("r", None, 0, 0.0, TurnKind.ROOT))
    order = ["r"]
    for number, back in enumerate(parents):
        parent = order[-1 - back % len(order)]
        tree.add(
            TurnNode(
                f"t{number:04}", parent, tree.get(parent).depth + 1, 0.0, TurnKind.NARRATION, jump=tree.jump_for(parent)
            )
        )
        order.append(f"t{number:04}")
    return tree


@given(st.lists(st.sampled_from([0, 0, 0, 1, 2, 9]), max_size=60), st.data())
def test_ancestry_equals_the_walk(parents: list[int], data: st.DataObject) -> None:
    tree = grow(parents)
    turn = st.sampled_from(sorted(tree.nodes))
    one, other = data.draw(turn), data.draw(turn)
    above_one = [node.id for node in tree.upwards(one)]
    above_other = [node.id for node in tree.upwards(other)]
    assert tree.is_ancestor(one, other) == (one in above_other)
    meet = next(id_ for id_ in above_one if id_ in above_other)
    assert tree.common_ancestor(one, other).id == meet
    assert tree.distance(one, other) == above_one.index(meet) + above_other.index(meet)
    assert [node.id for node in tree.path(one)] == above_one[::-1]
    for depth, id_ in enumerate(above_one[::-1]):
        assert tree.ancestor_at(one, depth).id == id_


@given(st.lists(st.sampled_from([0, 0, 0, 1, 2, 9]), max_size=40), st.data())
def test_following_a_path_changes_no_answer(parents: list[int], data: st.DataObject) -> None:
    tree = grow(parents)
    turn = st.sampled_from(sorted(tree.nodes))
    for followed in data.draw(st.lists(turn, max_size=4)):
        assert tree.followed(followed) == [node.id for node in tree.upwards(followed)][::-1]
        asked = data.draw(turn)
        above = [node.id for node in tree.upwards(asked)][::-1]
        assert [tree.ancestor_at(asked, depth).id for depth in range(len(above))] == above
        tree.add(
            TurnNode(
                f"x{len(tree)}",
                followed,
                tree.get(followed).depth + 1,
                0.0,
                TurnKind.SIDE,
                jump=tree.jump_for(followed),
            )
        )


def test_on_a_followed_path_ancestry_takes_one_step() -> None:
    tree = grow([0] * 5_000)
    path = tree.followed("t4999")
    assert tree.followed("t0100") == path[:102]
    assert tree.followed("t4999") == path
    steps = 0

    class Counting(dict[str, TurnNode]):
        def __getitem__(self, key: str) -> TurnNode:
            nonlocal steps
            steps += 1
            return super().__getitem__(key)

    tree.nodes = Counting(tree.nodes)
    assert tree.ancestor_at("t4999", 17).depth == 17
    assert tree.ancestor_at("t0900", 17).depth == 17
    assert steps == 2


def test_a_long_line_is_climbed_in_few_steps() -> None:
    tree = grow([0] * 5_000)
    steps = 0

    class Counting(dict[str, TurnNode]):
        def __getitem__(self, key: str) -> TurnNode:
            nonlocal steps
            steps += 1
            return super().__getitem__(key)

        def get(self, key: str, default: TurnNode | None = None) -> TurnNode | None:  # type: ignore[override]
            nonlocal steps
            steps += 1
            return super().get(key, default)

    tree.nodes = Counting(tree.nodes)
    assert tree.ancestor_at("t4999", 17).depth == 17
    assert steps < 100


texts = st.text(max_size=8)
nodes = st.builds(
    TurnNode,
    texts,
    st.none() | texts,
    st.integers(0, 10**6),
    st.floats(0, 1e12),
    st.sampled_from(list(TurnKind)),
    texts,
    texts,
    st.none() | texts,
    texts,
    st.sampled_from(list(ReportStatus)),
)


@given(st.lists(nodes, max_size=4))
def test_nodes_read_by_hand_are_those_that_were_written(written: list[TurnNode]) -> None:
    records = [codec.encode(node) for node in written]
    assert read_nodes(records) == written == [codec.decode(raw, TurnNode) for raw in records]


@pytest.mark.parametrize(
    "record",
    [
        b"",
        b"{}",
        b"[]",
        b"null",
        b"\xff",
        b'{"id":"t1","parent":null,"depth":"x","at":1,"kind":"root"}',
        b'{"id":"t1","parent":null,"depth":0,"at":1,"kind":"unheard"}',
        b'{"id":"t1","parent":null,"depth":0,"at":1,"kind":"root"},{"id":"t2","parent":"t1"}',
    ],
)
def test_a_damaged_node_is_said_to_be_so(record: bytes) -> None:
    whole = codec.encode(TurnNode("t0", None, 0, 0.0, TurnKind.ROOT))
    with pytest.raises(StoreCorrupt, match="node"):
        read_nodes([whole, record])


def test_unknown_turns_and_leaves() -> None:
    tree = grow([0, 0, 1])
    with pytest.raises(NotFound, match="no turn 'x'"):
        tree.get("x")
    assert not tree.is_ancestor("x", "r")
    assert [node.id for node in tree.leaves()] == ["t0002", "t0001"]
    tree.add(tree.get("t0001"))
    assert len(tree) == 4
