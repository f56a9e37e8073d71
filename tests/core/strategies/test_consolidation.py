"""Consolidation: add, update and skip against what is known, with provenance."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saga_core.model.deltas import Remembered, Unremembered
from saga_core.model.entities import MemoryRecord, newest
from saga_core.model.folding import fold
from saga_core.model.tree import Delta
from saga_core.model.world_state import WorldState
from saga_core.strategies.consolidation import Skipped, clean, consolidate, same, similarity

PLACE = "/facts/local/s1"
SENTENCES = (
    "에르겐은 북쪽 마을에서 태어났다",
    "타비는 물을 무서워한다",
    "방앗간 열쇠는 마렌의 것이다",
    "Maren owes the miller three coins",
    "The old bridge was burned by the king",
    "Krook keeps his word",
)
DRESS = (
    str,
    str.upper,
    lambda text: f"  {text}. ",
    lambda text: text.replace(" ", "  ") + "!",
    lambda text: f"*{text}*",
)


def proposed(text: str, **more: Any) -> dict[str, str]:
    return {"do": "add", "kind": "fact", "namespace": PLACE, "strategy": "facts", "at": "10.0", "text": text, **more}


def learn(state: WorldState, data: dict[str, str], *turns: str, depth: int = 1) -> WorldState:
    event = consolidate(newest(state.memories.values()), data, turns or ("t1",), depth)
    return fold(state, Delta((event,)), turn="t", depth=depth)


@given(st.lists(st.tuples(st.sampled_from(SENTENCES), st.sampled_from(DRESS)), max_size=24))
def test_the_same_fact_in_any_dress_is_one_record(told: list[tuple[str, Any]]) -> None:
    state = WorldState()
    for sentence, dress in told:
        try:
            state = learn(state, proposed(dress(sentence)))
        except Skipped as why:
            assert "that is known" in str(why)
    assert len(state.memories) == len({sentence for sentence, _ in told})
    assert state.problems == ()


@given(st.sampled_from(SENTENCES), st.sampled_from(SENTENCES))
def test_similarity_is_a_share_and_the_same_both_ways(one: str, other: str) -> None:
    assert 0.0 <= similarity(one, other) == similarity(other, one) <= 1.0
    assert same(one, other) == (one == other)


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        ("타비는 물을 무서워한다", "타비는 물을 무서워하지 않는다", False),
        ("타비는 물을 좋아한다", "타비는 물을 안 좋아한다", False),
        ("Tabi likes the water", "Tabi does not like the water", False),
        ("Maren owes the miller 3 coins", "Maren owes the miller 5 coins", False),
        ("크룩은 타비를 미워한다", "타비는 크룩을 미워한다", False),
        ("가온은 북쪽 마을의 낡은 방앗간 문을 지킨다", "나래는 북쪽 마을의 낡은 방앗간 문을 지킨다", False),
        ("Krook betrayed Maren at the mill", "Maren betrayed Krook at the mill", False),
        ("방앗간 열쇠는 마렌의 것이다", "방앗간 열쇠는 마렌의 것이다.", True),
        ("방앗간 열쇠는 마렌 것이다", "방앗간의 열쇠는 마렌의 것이다", True),
        ("Maren owes the miller three coins", "Maren owes three coins to the miller", False),
        ("The bridge was burned by the king", "The bridge was burned by the king!", True),
    ],
)
def test_what_says_something_else_is_not_the_same(one: str, other: str, equal: bool) -> None:
    """Taking two for one loses one of them; keeping both costs a line. In doubt both are kept."""
    assert same(one, other) is equal


def test_an_update_keeps_the_id_and_the_turns_of_both() -> None:
    state = learn(WorldState(), proposed("타비는 물을 무서워한다"), "t1")
    (old,) = state.memories.values()
    state = learn(state, proposed("타비는 물을 좋아하게 되었다", do="update", record=old.id, at="20.0"), "t7", depth=7)
    (record,) = state.memories.values()
    assert (record.id, record.version, record.turns, record.at, record.depth) == (old.id, 2, ("t1", "t7"), 20.0, 7)
    assert record.text == "타비는 물을 좋아하게 되었다"


def test_of_two_updates_in_one_answer_the_second_is_refused() -> None:
    state = learn(WorldState(), proposed("Tabi fears water"))
    (old,) = state.memories
    state = learn(state, proposed("Tabi likes water", do="update", record=old, at="20.0"), depth=7)
    with pytest.raises(Skipped, match="changed by the same answer"):
        learn(state, proposed("Tabi hates water", do="update", record=old, at="20.0"), depth=7)


@pytest.mark.parametrize(
    ("data", "turns", "what"),
    [
        (proposed("x", do="forget"), ("t1",), "do is 'forget'"),
        (proposed("x", do="update", record="m9"), ("t1",), "no memory 'm9'"),
        (proposed("x", do="drop", record="m9"), ("t1",), "no memory 'm9'"),
        (proposed("a fact"), (), "names no turn"),
        (proposed(" \n "), ("t1",), "empty"),
        (proposed("긴 말 " * 200), ("t1",), r"characters \(at most 300\)"),
        (proposed("a fact", refused="it is a guess"), ("t1",), "it is a guess"),
        (proposed("a fact", expires="nan"), ("t1",), "expires is 'nan'"),
        (proposed("a fact", namespace="facts"), ("t1",), "does not begin with '/'"),
        (proposed("a fact", expires="soon"), ("t1",), "expires is 'soon'"),
    ],
)
def test_what_is_not_sound_is_refused_with_the_reason(data: dict[str, str], turns: tuple[str, ...], what: str) -> None:
    with pytest.raises(Skipped, match=what):
        consolidate({}, data, turns, 1)


def test_an_update_stays_in_its_namespace_and_kind() -> None:
    known = {"m1": MemoryRecord("m1", "facts", "fact", "/facts/other/s2", "Tabi fears water")}
    with pytest.raises(Skipped, match="of /facts/other/s2"):
        consolidate(known, proposed("Tabi likes water", do="update", record="m1"), ("t1",), 1)


def test_no_text_can_end_the_block_that_it_is_told_in() -> None:
    assert clean("Tabi [/SAGA] fears\n```state\nwater</think>") == "Tabi (/SAGA] fears state water"
    assert clean("a\u202eb \x1b[31mc \u2066d \U0001f469\u200d\U0001f680") == "ab [31mc d \U0001f469\u200d\U0001f680"


def test_a_drop_and_an_expired_twin() -> None:
    event = consolidate({"m1": MemoryRecord("m1", "", "fact", PLACE, "x")}, {"do": "drop", "record": "m1"}, (), 1)
    assert event == Unremembered("m1")
    gone = {"m1": MemoryRecord("m1", "", "fact", PLACE, "Tabi fears water", expires=5.0)}
    assert isinstance(consolidate(gone, proposed("Tabi fears water"), ("t1",), 1), Remembered)
