"""How the heads of named timelines follow play, on trees of any shape."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from saga_core.model.tree import Timeline, Tree, TurnKind, TurnNode, follow

Step = tuple[int, int, bool]
"""Which turn is continued, by which words, and whether it is a side turn."""

steps = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 2), st.booleans()), max_size=30)


def grown(tree: Tree, step: Step) -> TurnNode:
    """A new turn below one of the tree's."""
    at, words, side = step
    above = list(tree.nodes.values())[at % len(tree)]
    kind = TurnKind.SIDE if side else TurnKind.NARRATION
    return TurnNode(f"t{len(tree)}", above.id, above.depth + 1, 0.0, kind, str(words), "", tree.jump_for(above.id))


def rooted() -> Tree:
    tree = Tree("s")
    tree.add(TurnNode("t0", None, 0, 0.0, TurnKind.ROOT))
    return tree


@given(before=steps, fork=st.integers(0, 30), after=steps, named=st.booleans())
def test_a_timeline_stays_on_the_path_of_its_fork(
    before: list[Step], fork: int, after: list[Step], named: bool
) -> None:
    tree = rooted()
    for step in before:
        tree.add(grown(tree, step))
    at = list(tree.nodes)[fork % len(tree)]
    one, other = Timeline("빛", at, at), Timeline("어둠", at, at)
    for step in after:
        node = grown(tree, step)
        moved = follow(tree, [one, other], node, "빛" if named else "")
        tree.add(node)
        assert {each.head for each in moved} <= {node.id}
        for each in moved:
            assert tree.is_ancestor(each.fork, node.id)
        if named:
            below = node.id != at and tree.is_ancestor(at, node.id)
            assert [each.name for each in moved] == (["빛"] if below else [])
            one = moved[0] if moved else one
        else:
            assert len(moved) in (0, 2), "two that stand together go together"
            if moved:
                old = tree.get(one.head)
                above = tree.get(node.parent or "")
                while above.kind is TurnKind.SIDE and above.id != old.id:
                    above = tree.get(above.parent or "")
                swiped = {(each.parent, each.user_key) for each in tree.path(node.id)}
                assert above.id == old.id or (old.id != at and (old.parent, old.user_key) in swiped)
            one, other = (moved[0], moved[1]) if moved else (one, other)


def test_no_head_moves_for_a_turn_elsewhere_or_for_a_name_that_is_gone() -> None:
    tree = rooted()
    for number, above in ((1, "t0"), (2, "t0"), (3, "t1")):
        depth = tree.get(above).depth + 1
        tree.add(TurnNode(f"t{number}", above, depth, 0.0, TurnKind.NARRATION, str(number), "", tree.jump_for(above)))
    timeline = Timeline("끝", "t1", "t3")
    elsewhere = TurnNode("t4", "t2", 2, 0.0, TurnKind.NARRATION, "4", "", tree.jump_for("t2"))
    behind = TurnNode("t5", "t3", 3, 0.0, TurnKind.NARRATION, "5", "", tree.jump_for("t3"))
    assert follow(tree, [timeline], elsewhere) == []
    assert follow(tree, [timeline], elsewhere, "끝") == []
    assert follow(tree, [timeline], behind, "시작") == []
    assert follow(tree, [timeline], behind) == [Timeline("끝", "t1", "t5")]
