"""The lorebook's rules, one by one, and what must never change a score."""

from __future__ import annotations

import random
import unicodedata
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from saga_core.config.model import LorebookConfig
from saga_core.ids import entity_id
from saga_core.recall.lorebook import LAYERS, LoreIndex, LoreSituation, ScoredLore, rank_lore
from saga_core.world.model import LoreEntry

CONFIG = LorebookConfig()


def entry(name: str, layer: str = "A1", **extra: Any) -> LoreEntry:
    return LoreEntry(name, "concept", layer, **extra)


def rank(lore: list[LoreEntry], config: LorebookConfig = CONFIG, **situation: Any) -> list[ScoredLore]:
    return rank_lore(LoreIndex(lore), LoreSituation(**situation), config)


def why(lore: list[LoreEntry], name: str, **situation: Any) -> dict[str, float] | None:
    found = {scored.entry.name: dict(scored.why) for scored in rank(lore, **situation)}
    return found.get(name)


FOREST = entry("어둠의 숲", tags=("숲", "위험"), aliases=("검은 숲",))


def test_the_place_itself_is_worth_5() -> None:
    (scored,) = rank([FOREST], place=["어둠의 숲"])
    assert scored.score == 5.0
    assert scored.why == {"location": 3.0, "layer": 2.0}


@pytest.mark.parametrize("place", ["어둠의숲", "검은 숲", "위험", unicodedata.normalize("NFD", "어둠의 숲")])
def test_name_alias_or_tag_equal_to_the_place_count_once(place: str) -> None:
    assert why([FOREST], "어둠의 숲", place=[place]) == {"location": 3.0, "layer": 2.0}


@pytest.mark.parametrize(
    ("tag", "place", "opens"),
    [
        ("성", "여성 기숙사", False),
        ("성", "성문 앞", False),
        ("성", "은빛 성", True),
        ("성", "성의 뜰", True),
        ("숲", "어둠의 숲 입구", True),
        ("어둠", "어둠의 숲", True),
        ("어둠의 숲", "어둠의 숲 입구", True),
        ("art", "Hartfield Mill", False),
        ("mill", "The Old Mill", True),
        ("old mill", "The Old Mill", True),
    ],
)
def test_a_tag_must_be_a_whole_word_of_the_place(tag: str, place: str, opens: bool) -> None:
    found = why([entry("x", tags=(tag,))], "x", place=[place])
    assert found == ({"location": 1.5, "layer": 2.0} if opens else None)


def test_somebody_near_counts_once_however_often_he_matches() -> None:
    lore = [entry("에르겐의 가게", tags=("에르겐", "약초상")), entry("에르겐"), entry("에르겐네 개")]
    near = {scored.entry.name: scored.why for scored in rank(lore, nearby=["에르겐", "약초상"])}
    assert near == {"에르겐의 가게": {"nearby": 2.0, "layer": 2.0}, "에르겐": {"nearby": 2.0, "layer": 2.0}}


@pytest.mark.parametrize(("hops", "worth"), [(0, None), (1, 1.0), (2, 0.5), (3, None)])
def test_graph_distance(hops: int, worth: float | None) -> None:
    found = why([entry("x", constant=True)], "x", distance={"x": hops})
    assert found is not None and found.get("graph") == worth


def test_propagation_depth_limits_the_distance_that_counts() -> None:
    (scored,) = rank([entry("x", constant=True)], LorebookConfig(propagation_depth=1), distance={"x": 2})
    assert "graph" not in scored.why


def test_similarity_counts_above_the_baseline_only() -> None:
    lore = [entry("x"), entry("y")]
    found = {s.entry.name: s.why for s in rank(lore, similar={"x": 0.85, "y": 0.7, "gone": 0.9}, baseline=0.75)}
    assert found["x"]["similar"] == pytest.approx(0.2)
    assert "similar" not in found["y"]


@pytest.mark.parametrize(("layer", "worth"), [("A1", 2.0), ("A2", 1.5), ("A3", 0.5), ("A4", 0.0)])
def test_layers(layer: str, worth: float) -> None:
    (scored,) = rank([entry("x", layer)], mentioned=["x"])
    assert scored.score == 2.5 + worth


@pytest.mark.parametrize(
    ("layer", "last", "depth", "enters"),
    [
        ("A1", None, 999, True),
        ("A2", None, 999, True),
        ("A3", None, 7, True),
        ("A3", None, 8, False),
        ("A3", 10, 17, True),
        ("A3", 10, 18, False),
        ("A4", None, 0, False),
        ("A4", 10, 13, True),
        ("A4", 10, 14, False),
    ],
)
def test_decay_counts_from_the_last_mention(layer: str, last: int | None, depth: int, enters: bool) -> None:
    mention = {} if last is None else {"x": last}
    found = rank([entry("x", layer)], similar={"x": 0.9}, depth=depth, last_mention=mention)
    assert bool(found) is enters


@pytest.mark.parametrize(
    "opened",
    [{"place": ["x"]}, {"place": ["old t"]}, {"nearby": ["x"]}, {"mentioned": ["x"]}],
)
def test_a_gate_or_a_mention_beats_decay(opened: dict[str, Any]) -> None:
    lore = [entry("x", "A4", tags=("t",))]
    assert rank(lore, similar={"x": 0.9}, depth=50) == []
    assert len(rank(lore, similar={"x": 0.9}, depth=50, **opened)) == 1


def test_constant_beats_decay_and_is_always_a_candidate() -> None:
    assert [s.entry.name for s in rank([entry("x", "A4", constant=True)], depth=99)] == ["x"]
    assert rank([entry("x", "A1")]) == []


def test_graph_distance_alone_opens_nothing() -> None:
    assert rank([entry("x", "A1")], distance={"x": 1}) == []
    assert rank([entry("x", "A4")], distance={"x": 1}, similar={"x": 0.9}) == []


def test_layers_that_are_not_configured_stay_out() -> None:
    lore = [entry("x", "A1"), entry("y", "A3")]
    found = rank(lore, LorebookConfig(character_layers=("A1", "A2")), mentioned=["x", "y"])
    assert [scored.entry.name for scored in found] == ["x"]


def test_order_is_score_then_layer_then_name() -> None:
    lore = [entry("b", "A4"), entry("a", "A4"), entry("c", "A2"), entry("d", "A3", tags=("t",))]
    found = rank(lore, mentioned=["a", "b", "c"], place=["t"])
    assert [s.entry.name for s in found] == ["c", "d", "a", "b"]
    tied = rank([entry("z", "A3"), entry("y", "A4")], mentioned=["y"], nearby=["z"])
    assert [s.score for s in tied] == [2.5, 2.5] and [s.entry.name for s in tied] == ["z", "y"]


NAMES = ("어둠의 숲", "크룩", "성", "에르겐", "은빛 성채", "old mill", "Mara", "여성 기숙사")
pool = st.sampled_from(NAMES)
entries = st.lists(
    st.builds(
        LoreEntry,
        pool,
        st.just("concept"),
        st.sampled_from(sorted(LAYERS)),
        tags=st.lists(pool | st.sampled_from(("숲", "mill", "성채")), max_size=2).map(tuple),
        aliases=st.lists(pool, max_size=1).map(tuple),
        constant=st.booleans(),
    ),
    max_size=6,
    unique_by=lambda each: each.name,
)
situations = st.builds(
    LoreSituation,
    depth=st.integers(0, 20),
    place=st.lists(pool, max_size=2),
    nearby=st.lists(pool, max_size=2),
    mentioned=st.sets(pool, max_size=3),
    last_mention=st.dictionaries(pool, st.integers(0, 10), max_size=4),
    distance=st.dictionaries(pool, st.integers(0, 3), max_size=4),
    similar=st.dictionaries(pool, st.floats(-1, 1), max_size=4),
    baseline=st.floats(0, 0.8),
)


def scores(lore: list[LoreEntry], situation: LoreSituation) -> dict[str, float]:
    return {s.entry.name: s.score for s in rank_lore(LoreIndex(lore), situation, CONFIG)}


@given(entries, situations)
def test_an_unrelated_entry_changes_no_score(lore: list[LoreEntry], situation: LoreSituation) -> None:
    assert scores([*lore, entry("관계없는 것", "A1", tags=("딴것",))], situation) == scores(lore, situation)


@given(entries, situations, pool)
def test_a_mention_never_lowers_a_rank(lore: list[LoreEntry], situation: LoreSituation, name: str) -> None:
    index = LoreIndex(lore)
    before = [s.entry.name for s in rank_lore(index, situation, CONFIG)]
    more = evolve(situation, mentioned={*situation.mentioned, name})
    after = [s.entry.name for s in rank_lore(index, more, CONFIG)]
    if name in index.entries:
        assert name in after
        assert name not in before or after.index(name) <= before.index(name)
    else:
        assert after == before


@given(entries, situations, st.randoms(use_true_random=False))
def test_the_order_of_the_entries_does_not_matter(
    lore: list[LoreEntry], situation: LoreSituation, rng: random.Random
) -> None:
    mixed = rng.sample(lore, len(lore))
    assert rank_lore(LoreIndex(mixed), situation, CONFIG) == rank_lore(LoreIndex(lore), situation, CONFIG)


@given(entries, situations)
def test_scores_are_the_sum_of_their_parts_and_never_below_0(lore: list[LoreEntry], situation: LoreSituation) -> None:
    for scored in rank_lore(LoreIndex(lore), situation, CONFIG):
        assert scored.score == pytest.approx(sum(scored.why.values()))
        assert all(worth > 0 for worth in scored.why.values())


@given(entries, situations)
def test_both_normal_forms_of_the_scene_agree(lore: list[LoreEntry], situation: LoreSituation) -> None:
    def nfd(names: Any) -> list[str]:
        return [unicodedata.normalize("NFD", name) for name in names]

    typed_elsewhere = evolve(situation, place=nfd(situation.place), nearby=nfd(situation.nearby))
    assert scores(lore, typed_elsewhere) == scores(lore, situation)


def test_mentions_are_by_name_and_alias_not_by_tag() -> None:
    index = LoreIndex([FOREST, entry("성"), entry("Old Mill", aliases=("the mill",))])
    assert index.mentioned_in("검은 숲에서 여성이 위험에 빠졌다") == ("어둠의 숲",)
    assert index.mentioned_in("성에 갔다가 THE MILL로") == ("Old Mill", "성")
    assert index.mentioned_in(unicodedata.normalize("NFD", "어둠의숲으로")) == ("어둠의 숲",)
    assert index.mentioned_in("") == ()


def test_of_two_entries_with_one_name_the_last_counts() -> None:
    index = LoreIndex([entry("어둠의 숲", text="옛"), entry("어둠의숲", text="새")])
    assert [each.text for each in index.entries.values()] == ["새"] and len(index) == 1


def test_entries_are_known_by_their_graph_node() -> None:
    index = LoreIndex([FOREST])
    assert index.nodes[entity_id("lore", "어둠의 숲")] == "어둠의 숲"
    assert "l0" not in index.nodes
    assert index.named(["어둠의숲", "아무것도"]) == {"어둠의 숲"}
