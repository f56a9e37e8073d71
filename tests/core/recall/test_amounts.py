"""Amounts: whether a number or a time is asked for, and whether a turn tells one."""

from __future__ import annotations

import pytest

from saga_core.recall.questions import amount_sought, states_amount


@pytest.mark.parametrize(
    ("words", "answer", "other"),
    [
        ("How many plates are left?", "Forty, and a cup.", "The plates are blue."),
        ("How much did she pay?", "It was 12 crowns.", "She paid in the end."),
        ("When is the wedding?", "On a Saturday in June.", "The wedding is at the mill."),
        ("What day do you leave?", "Tomorrow, if it dries.", "We leave by the gate."),
        ("접시가 몇 개 남았어?", "서른일곱 개나 남았어.", "접시는 파란색이야."),
        ("월급이 얼마나 올랐지?", "팔만 원 올랐어.", "월급이 올라서 좋아."),
        ("시합이 언제야?", "다음 주 토요일이래.", "바다에서 하는 시합이야."),
    ],
)
def test_what_is_asked_for_is_told_by_a_number_or_a_time(words: str, answer: str, other: str) -> None:
    asked = amount_sought(words)
    assert asked is not None
    assert states_amount(f"Turn 3\n> {answer}", asked)
    assert not states_amount(f"Turn 3\n> {other}", asked)  # and the number of the turn is none


@pytest.mark.parametrize("words", ["Who fired the kiln?", "I walk on.", "누가 가마를 지폈어?", "誰が来た?", ""])
def test_other_words_ask_for_neither(words: str) -> None:
    assert amount_sought(words) is None


def test_how_many_is_not_answered_by_a_day() -> None:
    asked = amount_sought("How many guests?")
    assert asked is not None and not states_amount("\nThey come on Monday.", asked)
