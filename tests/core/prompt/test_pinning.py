"""Pins: which pages stand in the prefix on which path, and when others pay."""

from __future__ import annotations

import pytest

from saga_core.model import Tree, TurnKind, TurnNode
from saga_core.prompt import Pin, rewrite_pays
from saga_core.prompt.prefix import AccruedCost, PagePins
from saga_core.upstream import ModelFacts


def tree() -> Tree:
    """r - a - b - c, and x behind a."""
    found = Tree("s")
    for id_, parent in (("r", None), ("a", "r"), ("b", "a"), ("c", "b"), ("x", "a")):
        depth = found.get(parent).depth + 1 if parent else 0
        found.add(
            TurnNode(id_, parent, depth, 0.0, TurnKind.NARRATION, jump=found.jump_for(parent) if parent else None)
        )
    return found


def pin(turn: str, reason: str = "first") -> Pin:
    return Pin(turn, turn, reason, "ko")


def test_a_path_goes_on_with_the_pin_of_its_nearest_turn() -> None:
    pins = PagePins()
    assert pins.inherited(tree(), "c") is None
    pins.decide("r", pin("r"))
    pins.decide("b", pin("b", "cost"))
    assert [pins.inherited(tree(), turn) for turn in "abcx"] == [pin("r"), pin("b", "cost"), pin("b", "cost"), pin("r")]


def test_a_pin_whose_pages_are_of_a_turn_that_is_gone_counts_no_more() -> None:
    pins = PagePins()
    pins.decide("r", pin("r"))
    pins.decide("b", pin("pruned"))
    assert pins.inherited(tree(), "c") == pin("r")


def test_the_latest_decision_on_a_turn_counts() -> None:
    pins = PagePins()
    pins.decide("r", pin("r"))
    pins.decide("b", pin("a"))
    pins.decide("r", pin("r", "expired"))
    assert pins.latest(1)[-1] == ("r", pin("r", "expired"))
    assert pins.latest(9)[-2:] == [("b", pin("a")), ("r", pin("r", "expired"))]
    assert pins.inherited(tree(), "x") == pin("r", "expired")


def test_where_a_pin_came_into_force_is_kept_beyond_many_decisions() -> None:
    pins = PagePins()
    for number in range(5_000):
        pins.decide(f"t{number}", pin("t0") if number < 100 else pin("t100", "cost"))
    latest = dict(pins.latest(10))
    assert latest["t0"] == pin("t0") and latest["t100"] == latest["t4999"] == pin("t100", "cost")
    assert len(pins.latest(9_999)) < 4_200


def test_the_cost_of_changes_is_added_up_for_each_pin() -> None:
    pins = PagePins()
    pins.note_changes(pin("r"), 40, full=False)
    pins.note_changes(pin("r"), 10, full=True)
    pins.note_changes(pin("r"), 1, full=False)
    assert pins.accrued(pin("r")) == AccruedCost(51, full=True), "once they did not fit they did not"
    assert pins.accrued(pin("b")) == AccruedCost()
    pins.restore(pin("b"), AccruedCost(7))
    assert pins.accrued(pin("b", "cost")) == AccruedCost(7), "the pages are the same whatever the reason"


@pytest.mark.parametrize(("stored", "reason"), [("cold", "expired"), ("dear", "cost"), ("full", "full")])
def test_reasons_of_older_data_are_read_by_their_present_names(stored: str, reason: str) -> None:
    assert pin("r", stored).reason == reason


@pytest.mark.parametrize(
    ("tokens", "behind", "pays"), [(1_277, 1_000, False), (1_278, 1_000, True), (0, 0, False), (999_999, 0, False)]
)
def test_a_rewrite_pays_when_telling_has_cost_as_much(tokens: int, behind: int, pays: bool) -> None:
    facts = ModelFacts("p", writes={"1h": 2.0, "5m": 1.25}, read=0.1)
    assert rewrite_pays(AccruedCost(tokens), behind, facts) is pays  # 0.9 a token against 1.15


def test_without_a_price_for_writing_a_token_written_costs_one() -> None:
    facts = ModelFacts("p", read=0.5)
    assert rewrite_pays(AccruedCost(100), 100, facts) and not rewrite_pays(AccruedCost(99), 100, facts)
