"""Names of things: which may be one, and which tell one thing from others of its kind."""

from __future__ import annotations

import pytest

from saga_core.naming.names import is_particular, may_be, words_of_thing


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("half tally", "half a brass tally"),
        ("business card", "Brandt's business card"),
        ("silver coins", "silver coin"),
        ("열쇠", "놋쇠 열쇠"),
        ("銀杏書籤", "包好的銀杏書籤"),
    ],
)
def test_they_may_be_one(one: str, other: str) -> None:
    assert may_be(one, other) and may_be(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("silver ring", "gold ring"),
        ("key 1", "key 2"),
        ("door A", "door B"),
        ("밧줄", "횃불"),
        ("", "ring"),
        ("검", "검집"),
    ],
)
def test_they_are_two(one: str, other: str) -> None:
    assert not may_be(one, other)


def test_numbers_and_letters_tell_things_apart() -> None:
    assert words_of_thing("thing 1") != words_of_thing("thing 2")
    assert words_of_thing("the Silver Coins") == words_of_thing("silver coin")


def test_a_particular_thing() -> None:
    assert is_particular("pocket watch") and is_particular("青冥剑谱")
    assert not is_particular("dagger") and not is_particular("밧줄") and not is_particular("短刀")
