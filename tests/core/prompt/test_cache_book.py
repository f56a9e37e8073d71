"""The cache book decides as a provider does which prefix is found, and which is written."""

from __future__ import annotations

import pytest
from attrs import evolve

from saga_core.prompt.caching import CacheBook, CacheEntry, Measured, Outlook
from saga_core.upstream import ModelFacts

FACTS = ModelFacts("p", cache="explicit", mark="cache_control", lookback=3, breakpoints=4)


def prompt(length: int, *, changed: int = 99) -> Measured:
    """Blocks of a hundred tokens; from ``changed`` on they are others."""
    chain = tuple(at if at < changed else 1_000 + at for at in range(length))
    return Measured(chain, tuple(100 * (at + 1) for at in range(length)), tuple(range(1, length + 1)))


def test_what_was_marked_is_found_by_the_next_prompt_and_the_rest_is_written() -> None:
    book = CacheBook()
    assert book.send(prompt(3), {2: "5m"}, FACTS, 0.0) == Outlook(0, 300)
    assert book.send(prompt(5), {4: "5m"}, FACTS, 10.0) == Outlook(300, 200)
    assert book.send(prompt(5), {4: "5m"}, FACTS, 20.0) == Outlook(500, 0)
    assert book.living(prompt(5).chain, 30.0) == [2, 4]


def test_a_prefix_that_changed_is_not_found() -> None:
    book = CacheBook()
    book.send(prompt(3), {2: "5m"}, FACTS, 0.0)
    assert book.send(prompt(3, changed=2), {2: "5m"}, FACTS, 10.0) == Outlook(0, 300)


@pytest.mark.parametrize(("length", "read"), [(5, 300), (6, 0)])
def test_an_entry_is_found_as_far_back_as_the_provider_looks(length: int, read: int) -> None:
    book = CacheBook()
    book.send(prompt(3), {2: "5m"}, FACTS, 0.0)
    assert book.send(prompt(length), {length - 1: "5m"}, FACTS, 10.0).read == read


def test_an_earlier_mark_finds_what_the_last_is_too_far_from() -> None:
    book = CacheBook()
    book.send(prompt(3), {2: "5m"}, FACTS, 0.0)
    assert book.send(prompt(9), {2: "5m", 8: "5m"}, FACTS, 10.0) == Outlook(300, 600)


def test_an_entry_dies_a_little_before_its_time_and_lives_on_when_it_is_used() -> None:
    book = CacheBook()
    book.send(prompt(3), {2: "5m"}, FACTS, 0.0)
    assert book.alive(2, 294.0) is not None and book.alive(2, 295.0) is None
    book.send(prompt(3), {2: "5m"}, FACTS, 290.0)
    assert book.alive(2, 580.0) is not None
    assert book.alive(7, 0.0) is None
    book.send(prompt(5), {4: "5m"}, FACTS, 580.0)
    assert book.alive(2, 870.0) is not None, "it was found from further behind"


def test_an_entry_keeps_the_lifetime_that_it_was_written_for() -> None:
    book = CacheBook()
    book.send(prompt(2), {1: "1h"}, FACTS, 0.0)
    book.send(prompt(2), {1: "5m"}, FACTS, 100.0)
    assert book.entries(100.0, 9) == [(1, CacheEntry("1h", 3_700.0))]


def test_without_marks_nothing_is_found_and_nothing_written() -> None:
    book = CacheBook()
    assert book.send(prompt(3), {}, FACTS, 0.0) == Outlook()
    assert book.entries(0.0, 9) == []


def test_the_living_are_listed_those_that_live_longest_last() -> None:
    book = CacheBook()
    for link, expires in ((1, 50.0), (2, 10.0), (3, 90.0), (4, 50.0)):
        book.restore(link, CacheEntry("5m", expires))
    assert [link for link, _ in book.entries(20.0, 9)] == [1, 4, 3]
    assert [link for link, _ in book.entries(20.0, 2)] == [4, 3]


def test_the_book_stays_within_bounds_and_forgets_those_that_die_first() -> None:
    book = CacheBook()
    for link in range(4_097):
        book.restore(10_000 + link, CacheEntry("5m", 1_000.0 + link))
    book.send(prompt(1), {0: "1h"}, evolve(FACTS, lookback=1), 0.0)
    left = [link for link, _ in book.entries(0.0, 9_999)]
    assert 2_000 < len(left) < 2_100
    assert 10_000 not in left and 14_096 in left and 0 in left
