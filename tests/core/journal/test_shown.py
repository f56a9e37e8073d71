"""Which turns a history shows: in order, from the end, gaps on either side allowed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from saga_core.journal.matching import _shown
from saga_core.journal.transcript import Utterance, identity_key
from saga_core.journal.tree import Node, Tree
from saga_core.model.turn import TurnKind

texts = st.sampled_from(["바람이 분다.", "The lamp gutters.", "응.", "Yes.", "A door bangs."])


def grown(replies: list[str]) -> Tree:
    tree = Tree("s")
    tree.add(Node("t000", None, 0, 0.0, TurnKind.ROOT))
    for depth, reply in enumerate(replies, 1):
        parent = f"t{depth - 1:03}"
        jump = tree.jump_for(parent)
        tree.add(Node(f"t{depth:03}", parent, depth, 0.0, TurnKind.NARRATION, reply_key=identity_key(reply), jump=jump))
    return tree


def naive(replies: list[str], told: list[str]) -> set[str]:
    """From the last turn upwards, each reply at its last place before the one found below it."""
    found, before = set(), len(told)
    for depth in range(len(replies), 0, -1):
        places = [at for at in range(before) if identity_key(told[at]) == identity_key(replies[depth - 1])]
        if places:
            before = places[-1]
            found.add(f"t{depth:03}")
    return found


@given(st.lists(texts, min_size=1, max_size=12), st.data())
def test_it_is_what_a_patient_reader_finds(replies: list[str], data: st.DataObject) -> None:
    hidden = data.draw(st.sets(st.integers(0, len(replies) - 1)))
    told = [f"*{reply}*" for at, reply in enumerate(replies) if at not in hidden]
    told = [*data.draw(st.lists(texts, max_size=3)), *told]
    past = [
        each
        for at, reply in enumerate(told)
        for each in (Utterance("user", f"{at}", 2 * at), Utterance("assistant", reply, 2 * at + 1))
    ]
    tree = grown(replies)
    node = tree.get(f"t{len(replies):03}")
    assert _shown(tree, node, past, len(past) - 1) == naive(replies, told)
