"""Which turns a history shows: in order, from the end, gaps on either side allowed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from saga_core.model.tree import Tree, TurnKind, TurnNode
from saga_core.transcript.dialogue import Utterance
from saga_core.transcript.evidence import History, align
from saga_core.transcript.identities import identity_key
from saga_core.transcript.matching import _shown

texts = st.sampled_from(["바람이 분다.", "The lamp gutters.", "응.", "Yes.", "A door bangs."])


def grown(replies: list[str]) -> Tree:
    tree = Tree("s")
    tree.add(TurnNode("t000", None, 0, 0.0, TurnKind.ROOT))
    for depth, reply in enumerate(replies, 1):
        parent = f"t{depth - 1:03}"
        jump = tree.jump_for(parent)
        tree.add(
            TurnNode(f"t{depth:03}", parent, depth, 0.0, TurnKind.NARRATION, reply_key=identity_key(reply), jump=jump)
        )
    return tree


def most(replies: list[str], told: list[str]) -> int:
    """The length of the longest common subsequence, written out."""
    row = [0] * (len(told) + 1)
    for reply in replies:
        before, row = row, [0]
        for at, text in enumerate(told):
            same = identity_key(reply) == identity_key(text)
            row.append(before[at] + 1 if same else max(before[at + 1], row[-1]))
    return row[-1]


def history(told: list[str]) -> History:
    said = (
        (Utterance("user", f"{at}", 2 * at), Utterance("assistant", reply, 2 * at + 1)) for at, reply in enumerate(told)
    )
    return History(tuple(each for pair in said for each in pair))


def aligned(replies: list[str], told: list[str]) -> list[int]:
    places: dict[str, list[int]] = {}
    for at, text in enumerate(told):
        places.setdefault(identity_key(text), []).append(at)
    tree = grown(replies)
    return sorted(int(node.id[1:]) for node, _ in align(tree.upwards(f"t{len(replies):03}"), places, len(told)))


def shown(replies: list[str], told: list[str]) -> list[int]:
    tree, seen = grown(replies), history(told)
    found, _ = _shown(tree, tree.get(f"t{len(replies):03}"), seen, len(seen.past) - 1)
    return sorted(int(turn[1:]) for turn in found)


@given(st.lists(texts, min_size=1, max_size=6), st.data())
def test_it_is_the_most_that_can_be_read_in_order(replies: list[str], data: st.DataObject) -> None:
    hidden = data.draw(st.sets(st.integers(0, len(replies) - 1)))
    told = [f"*{reply}*" for at, reply in enumerate(replies) if at not in hidden]
    for text in data.draw(st.lists(texts, max_size=2)):
        told.insert(data.draw(st.integers(0, len(told))), text)
    found = aligned(replies, told)
    assert len(found) == most(replies, told)
    assert most([replies[depth - 1] for depth in found], told) == len(found)
    assert set(found) <= set(shown(replies, told)) and len(shown(replies, told)) <= min(len(replies), len(told))


def test_a_reply_that_was_edited_is_not_taken_for_its_twin_far_above() -> None:
    replies = ["종이 울린다.", "응.", "문이 열린다.", "The rain stops.", "종이 울린다."]
    told = ["종이 울린다.", "응.", "문이 열린다.", "The rain stops.", "종이 다르게 운다."]
    assert aligned(replies, told) == [1, 2, 3, 4] and shown(replies, told) == [1, 2, 3, 4, 5]
    assert aligned([*replies, "응."], [*told, "응."]) == [1, 2, 3, 4, 6]


def test_an_edited_reply_is_told_by_its_place_or_by_the_words_before_it() -> None:
    replies = ["종이 울린다.", "문이 열린다.", "The rain stops.", "A door bangs."]
    assert shown(replies, ["종이 울린다.", "다른 말.", "The rain stops.", "A door bangs."]) == [1, 2, 3, 4]
    # One is hidden, and one edited: which of the two, nobody can say from the replies alone.
    assert shown(replies, ["종이 울린다.", "다른 말.", "A door bangs."]) == [1, 4]


def test_of_one_answer_to_everything_the_last_eight_are_looked_at() -> None:
    assert len(shown(["응."] * 400, [*["응."] * 399, "아니."])) == 8
