"""The player's pace: how likely the next request comes after one lifetime and within the other."""

from __future__ import annotations

import pytest

from saga_core.prompt.caching import chance_between

SHORT, LONG = 300.0, 3_600.0


def every(seconds: float, count: int) -> list[float]:
    return [seconds * at for at in range(count)]


def test_nothing_is_known_of_a_new_player_but_that_few_are_late() -> None:
    assert chance_between([], SHORT, LONG) == chance_between([5.0], SHORT, LONG) == pytest.approx(0.1)


def test_a_steady_player_is_hardly_ever_late_and_never_never() -> None:
    few, many = (chance_between(every(60, count), SHORT, LONG) for count in (3, 40))
    assert many < few < 0.1
    assert chance_between(every(60, 48), SHORT, LONG) >= 0.005


def test_a_player_who_always_pauses_is_nearly_always_late() -> None:
    assert chance_between(every(600, 20), SHORT, LONG) > 0.9


def test_the_latest_gaps_weigh_most() -> None:
    quick, slow = every(60, 10), every(600, 4)
    then_slow = [*quick, *(quick[-1] + 600 + at for at in slow)]
    then_quick = [*slow, *(slow[-1] + 60 + at for at in quick)]
    assert chance_between(then_slow, SHORT, LONG) > 0.3 > chance_between(then_quick, SHORT, LONG)


def test_nearly_the_whole_lifetime_counts_as_late() -> None:
    assert chance_between(every(284, 20), SHORT, LONG) < 0.1 < 0.9 < chance_between(every(286, 20), SHORT, LONG)


def test_what_no_lifetime_helps_against_and_what_is_one_event_say_nothing() -> None:
    moments = every(60, 6)
    base = chance_between(moments, SHORT, LONG)
    assert chance_between([at - 90_000 for at in moments[:1]] + moments, SHORT, LONG) == base
    assert chance_between([*moments, moments[-1] + 0.5], SHORT, LONG) == base


def test_only_the_latest_moments_are_looked_at() -> None:
    late = every(600, 50)
    moments = [*late, *(late[-1] + 60 * (at + 1) for at in range(48))]
    assert chance_between(moments, SHORT, LONG) == chance_between(moments[-48:], SHORT, LONG)
