"""Fusion: deterministic, blind to the order of its input."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saga_core.recall.episodes import Fused, boost_speakers, smooth_dialogue, smooth_neighbors, z_scores
from saga_core.recall.episodes import fuse as fusing

LAST = 11
ids = st.integers(0, LAST)
maps = st.dictionaries(ids, st.floats(-5, 20, allow_nan=False).map(lambda x: round(x, 6)), max_size=12)


def fuse(*args: Any, **kwargs: Any) -> list[Fused[Any]]:
    """The whole ranking."""
    return list(fusing(*args, **kwargs))


def shuffled(scores: dict[int, float], rng: random.Random) -> dict[int, float]:
    items = list(scores.items())
    rng.shuffle(items)
    return dict(items)


@given(maps, maps, st.randoms(use_true_random=False))
def test_no_order_of_input_matters(lexical: dict[int, float], dense: dict[int, float], rng: random.Random) -> None:
    expected = fuse({"lexical": smooth_neighbors(lexical, LAST), "dense": smooth_neighbors(dense, LAST)})
    again = fuse(
        {
            "dense": smooth_neighbors(shuffled(dense, rng), LAST),
            "lexical": smooth_neighbors(shuffled(lexical, rng), LAST),
        }
    )
    assert [entry.document for entry in again] == [entry.document for entry in expected]
    assert again == expected


@given(maps)
def test_smoothing_adds_what_the_neighbours_have(scores: dict[int, float]) -> None:
    smoothed = smooth_neighbors(scores, LAST)
    for turn in range(LAST + 1):
        parts = [score * 0.4 ** abs(turn - other) for other, score in scores.items() if abs(turn - other) <= 2]
        assert (turn in smoothed) == bool(parts)
        assert smoothed.get(turn, 0.0) == pytest.approx(sum(parts))
    assert set(smoothed) <= set(range(LAST + 1))


@given(maps, st.sets(ids), st.randoms(use_true_random=False))
def test_a_turn_that_asks_and_its_answer_lend_each_other_twice_as_much(
    scores: dict[int, float], asking: set[int], rng: random.Random
) -> None:
    lent = smooth_dialogue(scores, LAST, asking.__contains__)
    for turn in range(LAST + 1):
        parts = [scores[turn]] if turn in scores else []
        if turn - 1 in scores:
            parts.append(scores[turn - 1] * (0.6 if turn - 1 in asking else 0.3))
        if turn + 1 in scores:
            parts.append(scores[turn + 1] * (0.4 if turn in asking else 0.2))
        assert (turn in lent) == bool(parts)
        assert lent.get(turn, 0.0) == pytest.approx(sum(parts))
    assert set(lent) <= set(range(LAST + 1))
    assert smooth_dialogue(shuffled(scores, rng), LAST, asking.__contains__) == lent


@given(maps)
def test_one_kind_alone_keeps_its_own_ranking(scores: dict[int, float]) -> None:
    ranked = [entry.document for entry in fuse({"lexical": scores, "dense": {}})]
    assert sorted(ranked) == sorted(scores)
    values = [scores[document] for document in ranked]
    assert all(left >= right - 1e-6 for left, right in itertools.pairwise(values))


@given(maps.filter(bool))
def test_z_scores_have_mean_0_and_deviation_1(scores: dict[int, float]) -> None:
    scaled, _ = z_scores(scores)
    assert sum(scaled.values()) == pytest.approx(0, abs=1e-6)
    spread = sum(value**2 for value in scaled.values()) / len(scaled)
    assert spread == pytest.approx(1) or spread == 0


@given(maps.filter(bool), st.integers(0, 6), st.floats(-5, 5, allow_nan=False))
def test_absent_documents_count_as_the_floor(scores: dict[int, float], absent: int, floor: float) -> None:
    scaled, rest = z_scores(scores, absent=absent, floor=floor)
    written_out, _ = z_scores({**scores, **{100 + number: floor for number in range(absent)}})
    for document, value in scaled.items():
        assert value == pytest.approx(written_out[document], abs=1e-6)
    if absent:
        assert rest == pytest.approx(written_out[100], abs=1e-6)


def test_a_neighbour_of_two_hits_rises_above_a_lone_weak_hit() -> None:
    smoothed = smooth_neighbors({3: 5.0, 5: 5.0, 10: 3.0}, LAST)
    assert smoothed[4] == pytest.approx(4.0)
    assert smoothed[4] > smoothed[10] > smoothed[11] > 0
    assert smoothed[3] == pytest.approx(5 + 5 * 0.16)


def test_lifting_names() -> None:
    assert boost_speakers({"d1": 1.0, "d2": 1.0}, lambda document: document == "d2") == {"d1": 1.0, "d2": 1.3}


def test_what_both_find_stands_above_what_one_finds() -> None:
    fused = fuse({"lexical": {"d1": 4.0, "d2": 4.0, "d3": 1.0}, "dense": {"d2": 0.8, "d4": 0.8, "d3": 0.1}})
    assert fused[0].document == "d2"
    assert fused[0].parts == {"lexical": 4.0, "dense": 0.8}
    assert next(entry.parts for entry in fused if entry.document == "d4") == {"dense": 0.8}


def test_nothing_in_nothing_out() -> None:
    assert fuse({}) == [] == fuse({"lexical": {}})
    assert smooth_neighbors({}, LAST) == {} and z_scores({})[0] == {}
    assert [entry.document for entry in fuse({"a": {"d2": 1.0, "d1": 1.0}}, accept="d1".__eq__)] == ["d1"]
