"""Scores by numpy are those of ``cosine``, and prepared filters are the oracle's."""

from __future__ import annotations

import math
import random
from array import array
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from conformance.oracles import passes
from saga_backends.resident.matrix import Matrix
from saga_backends.scoring import QueryVector, are_tame, inverse_norms, squared_norms
from saga_core.errors import BadInput
from saga_core.stores.filters import And, Compare, Filter, Not, Or, Within, check_filter, predicate
from saga_core.stores.vector import VectorItem, cosine
from tests.backends.test_vector_machine import filters, names, scalars

components = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.5, 2.0]),
    st.floats(width=32, allow_nan=False, allow_infinity=False),
    st.floats(-1, 1, width=32),
)
matrices = st.integers(1, 6).flatmap(
    lambda width: st.lists(st.lists(components, min_size=width, max_size=width), min_size=2, max_size=8)
)


@given(matrices)
@example([[3.4e38, -3.4e38], [1e-45, 1e-45], [1.0, 1.0]])
@example([[1.0] + [2.0] * 4_091 + [3.0, 3.0, 1.0, 0.0], [1.0] + [0.0] * 4_095])
def test_exact_scores_are_cosines(vectors: list[list[float]]) -> None:
    asked, *others = (array("f", vector) for vector in vectors)
    rows = np.array([list(vector) for vector in others], dtype=np.float32)
    scores = QueryVector(asked).exact(rows, squared_norms(rows)).tolist()
    assert [repr(score) for score in scores] == [repr(cosine(asked, vector)) for vector in others]


def test_scores_in_the_middle_of_two_steps_are_cosines() -> None:
    """The cosines are 1/128 and 3/128, whose seventh digit is a 5: the last bit of a 64-bit sum decides the sixth."""
    source = random.Random(17)
    rows = []
    for n in (1, 3):
        rest = 16_384 - n * n
        parts = [4] * (rest // 16) + [2] * (rest % 16 // 4) + [1] * (rest % 4)
        for _ in range(100):
            source.shuffle(parts)
            scale = source.randrange(2**21, 2**22) * 2.0**-20
            rows.append([scale * part for part in [n, *parts, *[0] * (1_100 - len(parts))]])
    asked = array("f", [0.7] + [0.0] * 1_100)
    matrix = np.array(rows, dtype=np.float32)
    scores = QueryVector(asked).exact(matrix, squared_norms(matrix)).tolist()
    assert scores == [cosine(asked, row) for row in rows]
    assert set(scores) <= {0.007812, 0.007813, 0.023437, 0.023438}


@given(matrices)
def test_rough_scores_are_within_the_margin(vectors: list[list[float]]) -> None:
    asked, *others = (array("f", vector) for vector in vectors)
    rows = np.array([list(vector) for vector in others], dtype=np.float32)
    squares = squared_norms(rows)
    if are_tame(squares):
        question = QueryVector(asked)
        distance = np.abs(question.rough(rows, inverse_norms(squares)) - question.exact(rows, squares))
        assert np.all(distance <= question.margin / 2)


def test_rough_scores_of_long_random_vectors_are_within_the_margin() -> None:
    source = np.random.default_rng(5)
    for scale in (1e-12, 1.0, 1e12):
        rows = (source.normal(size=(500, 4_096)) * scale).astype(np.float32)
        question = QueryVector(array("f", source.normal(size=4_096).tolist()))
        distance = np.abs(
            question.rough(rows, inverse_norms(squared_norms(rows))) - question.exact(rows, squared_norms(rows))
        )
        assert np.max(distance) <= question.margin / 2


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=5), st.data())
def test_cosine_is_the_exact_value_rounded(left: list[int], data: st.DataObject) -> None:
    right = data.draw(st.lists(st.integers(-50, 50), min_size=len(left), max_size=len(left)))
    found = cosine(left, right)
    dot, squares = sum(map(int.__mul__, left, right)), sum(a * a for a in left) * sum(b * b for b in right)
    if not squares:
        assert found == 0.0
        return
    # |found - dot / sqrt(squares)| <= half a step, compared without a root.
    step = Fraction(1, 2_000_000)
    low, high = Fraction(str(found)) - step, Fraction(str(found)) + step
    signed = Fraction(dot * abs(dot), squares)
    assert low * abs(low) <= signed <= high * abs(high)
    assert cosine(right, left) == found
    assert cosine([8 * part for part in left], right) == found


def test_cosine_takes_any_sequence_and_never_gives_minus_zero() -> None:
    for kind in (list, tuple, lambda v: array("f", v), lambda v: array("d", v), np.array):
        assert cosine(kind([1.0, 1.0]), kind([1.0, 0.0])) == 0.707107
    assert math.copysign(1.0, cosine([1.0, -1e-20], [0.0, 1.0])) == 1.0
    assert cosine([0.1, 0.2, 0.3], [0.1, 0.2, 0.3]) == 1.0


def test_the_order_of_equal_vectors_does_not_depend_on_their_rows() -> None:
    source = random.Random(11)
    vector = array("f", [source.gauss(0, 1) for _ in range(301)])
    asked = array("f", [source.gauss(0, 1) for _ in range(301)])
    matrix = Matrix(301)
    order = [f"i{index:04}" for index in range(997)]
    source.shuffle(order)
    matrix.put([(VectorItem(name, ()), vector) for name in order])
    for k in (1, 10, 996, 997):
        found = matrix.best(QueryVector(asked), k, None)
        assert [row.id for _, row in found] == sorted(order)[:k]
        assert {score for score, _ in found} == {cosine(asked, vector)}
        assert matrix.best(QueryVector(asked), k, lambda metadata: True) == found


@given(filters, st.dictionaries(names, scalars, max_size=3))
def test_a_predicate_is_matches(where: Filter, metadata: dict[str, object]) -> None:
    assert predicate(where)(metadata) is passes(where, metadata)  # type: ignore[arg-type]


def test_large_integers_and_floats_are_compared_exactly() -> None:
    beyond = 2**53 + 1
    assert not predicate(Compare("v", "eq", float(2**53)))({"v": beyond})
    assert predicate(Compare("v", "gt", float(2**53)))({"v": beyond})
    assert not predicate(Within("v", (float(2**53),)))({"v": beyond})


@pytest.mark.parametrize("value", [True, None])
def test_order_with_booleans_and_null_is_refused_wherever_it_stands(value: bool | None) -> None:
    wrong = Compare("v", "lt", value)
    for where in (wrong, Not(wrong), And((wrong,)), Or((Compare("v", "eq", 1), wrong))):
        for call in (check_filter, predicate):
            with pytest.raises(BadInput, match="lt"):
                call(where)
