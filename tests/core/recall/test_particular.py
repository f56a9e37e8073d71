"""Particular sentences: those with a word that few turns have."""

from __future__ import annotations

from collections.abc import Callable

from saga_core.recall.particular import Particular, telling_terms


def of(turns: int, **counts: int) -> Callable[[str], bool]:
    """Among so many turns, words that stand in so many of them; any other word stands in all."""
    particular = Particular(lambda term, most: counts.get(term, turns), turns)
    return lambda sentence: particular(telling_terms(sentence))


def test_a_rare_word_or_three_seldom_ones_tell_something_particular() -> None:
    particular = of(256, kiln=4, dog=5, walk=12, lake=12, park=13)
    assert particular("we got the kiln")
    assert not particular("we got the dog") and not particular("with the dog for a walk")
    assert particular("with the dog, a walk, the lake")
    assert not particular("with the dog, a walk, the park")
    assert not particular("the dog and the dog, a dog")
    assert not particular("") and not particular("…")


def test_syllables_and_letters_tell_nothing() -> None:
    particular = of(100, 가=1, q=1, 가마=1)
    assert not particular("q") and not particular("가")
    assert particular("가마")
    assert telling_terms("q 7 qq") == ("qq", "7")


def test_of_two_turns_each_is_particular() -> None:
    assert of(2, hi=1)("hi") and of(1)("hi")
    assert not of(2)("hi")


def test_a_word_is_looked_up_once() -> None:
    asked: list[str] = []

    def spread(term: str, most: int) -> int:
        asked.append(term)
        return 90

    particular = Particular(spread, 100)
    assert not particular(telling_terms("day after day")) and not particular(telling_terms("a day"))
    assert asked.count("day") == 1
