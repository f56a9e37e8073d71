"""The filter grammar: what each comparison means, and the same meaning prepared for many items."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.oracles import passes
from saga_core.errors import BadInput
from saga_core.stores.filters import And, Compare, Exists, Filter, Not, Or, Within, check_filter, predicate

ITEM = {"n": 5, "f": 5.0, "b": True, "t": "숲", "z": None}


@pytest.mark.parametrize(
    ("filter_", "expected"),
    [
        (Compare("n", "eq", 5.0), True),
        (Compare("b", "eq", 1), False),
        (Compare("b", "ne", 1), True),
        (Compare("b", "eq", True), True),
        (Compare("t", "ne", 5), True),
        (Compare("z", "ne", 5), False),
        (Compare("n", "ne", None), False),
        (Compare("z", "eq", None), True),
        (Compare("x", "eq", None), False),
        (Compare("x", "ne", 5), False),
        (Not(Compare("x", "eq", 5)), True),
        (Compare("n", "lt", 6), True),
        (Compare("n", "lt", 5), False),
        (Compare("n", "le", 5), True),
        (Compare("n", "gt", 5), False),
        (Compare("n", "ge", 5), True),
        (Compare("t", "gt", "가"), True),
        (Compare("t", "lt", 9), False),
        (Within("n", (1, 5)), True),
        (Within("n", ("5", True)), False),
        (Within("n", (1,), negate=True), True),
        (Within("x", (1,), negate=True), False),
        (Within("z", (None,)), True),
        (Within("z", (1,), negate=True), True),
        (Within("n", ()), False),
        (Exists("z"), True),
        (Exists("x"), False),
        (And(()), True),
        (Or(()), False),
        (And((Exists("n"), Exists("x"))), False),
        (Or((Exists("n"), Exists("x"))), True),
    ],
    ids=str,
)
def test_what_passes(filter_: Filter, expected: bool) -> None:
    assert passes(filter_, ITEM) is expected
    assert predicate(filter_)(ITEM) is expected


@pytest.mark.parametrize("op", ["lt", "le", "gt", "ge"])
@pytest.mark.parametrize("value", [True, None])
def test_truth_and_null_have_no_order_whatever_the_data_and_however_deep(op: Any, value: Any) -> None:
    bad = Compare("x", op, value)
    for filter_ in (bad, Not(bad), And((Exists("n"), bad)), Or((Not(And((bad,))),))):
        for check in (check_filter, predicate):
            with pytest.raises(BadInput, match="use eq or ne"):
                check(filter_)


def test_an_unknown_comparison_is_refused() -> None:
    with pytest.raises(ValueError, match="like"):
        Compare("n", "like", 5)  # type: ignore[arg-type]


scalars = st.sampled_from([None, True, False, 0, 1, 5, 5.0, -1.5, "", "5", "숲", "a"])
fields = st.sampled_from(["n", "f", "b", "t", "z", "x"])
leaves = (
    st.builds(Compare, fields, st.sampled_from(["eq", "ne"]), scalars)
    | st.builds(Compare, fields, st.sampled_from(["lt", "le", "gt", "ge"]), st.sampled_from([0, 5.0, "a", "숲"]))
    | st.builds(Within, fields, st.lists(scalars, max_size=3).map(tuple), st.booleans())
    | st.builds(Exists, fields)
)
filters = st.recursive(
    leaves,
    lambda parts: (
        st.builds(Not, parts)
        | st.builds(And, st.lists(parts, max_size=3).map(tuple))
        | st.builds(Or, st.lists(parts, max_size=3).map(tuple))
    ),
    max_leaves=6,
)


@given(filters, st.dictionaries(fields, scalars))
def test_a_prepared_filter_means_the_same(filter_: Filter, item: dict[str, Any]) -> None:
    assert predicate(filter_)(item) is passes(filter_, item)
