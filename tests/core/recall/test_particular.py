"""Particular sentences: those with a word that few turns have."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from attrs import field, frozen

from saga_core.recall.excerpts import ParticularSentences, SentenceTerms


@frozen
class Turns:
    """Among so many turns, words that stand in so many of them; any other word stands in all. ``others``: words of
    turns on other paths."""

    turns: int
    counts: Mapping[str, int]
    others: frozenset[str] = frozenset()
    aside: bool = False
    asked: list[str] = field(factory=list)

    def common(self, most: int) -> frozenset[str]:
        known = {"day", "after", "park", "dog", "walk", "lake", "with", "the", "hi", "a", "kiln", "we", "got", "and"}
        return frozenset(word for word in known if self.counts.get(word, self.turns) > most) | self.others

    def spread(self, term: str, most: int) -> int:
        self.asked.append(term)
        return self.counts.get(term, self.turns)


def of(turns: int, **counts: int) -> Callable[[str], bool]:
    """Whether sentences are particular among ``Turns``."""
    particular = ParticularSentences(Turns(turns, counts), turns)
    return lambda sentence: bool(particular(SentenceTerms.of([sentence])))


def test_a_rare_word_or_three_seldom_ones_tell_something_particular() -> None:
    particular = of(256, kiln=4, dog=5, walk=12, lake=12, park=13)
    assert particular("we got the kiln")
    assert not particular("we got the dog") and not particular("with the dog and a walk")
    assert particular("with the dog, a walk, the lake")
    assert not particular("with the dog, a walk, the park")
    assert not particular("the dog and the dog, a dog")
    assert not particular("") and not particular("…")


def test_syllables_and_letters_tell_nothing() -> None:
    particular = of(100, 가=1, q=1, 가마=1)
    assert not particular("q") and not particular("가")
    assert particular("가마")
    assert SentenceTerms.of(["q 7 qq", "7 y"]).places == {"qq": 0b01, "7": 0b11}


def test_of_two_turns_each_is_particular() -> None:
    assert of(2, hi=1)("hi") and of(1)("kin")
    assert not of(2)("hi")


def test_words_of_other_paths_are_counted_on_this_one_and_each_once() -> None:
    turns = Turns(256, {"kiln": 4, "dog": 5}, frozenset({"kiln", "dog"}), aside=True)
    particular = ParticularSentences(turns, 256)
    sentences = ("we got the kiln", "day after day", "a day with the dog")
    assert particular(SentenceTerms.of(sentences)) == 0b001
    assert turns.asked.count("day") == 1
