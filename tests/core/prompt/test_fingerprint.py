"""Fingerprints tell texts apart, in their order, and are the same in every process."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saga_core.prompt.caching import fingerprint, pack, unpack

KNOWN = 0xAE956CC18CCF2C72
TEXTS = st.lists(st.text(max_size=5), max_size=4)


@given(TEXTS, TEXTS)
def test_two_rows_of_texts_have_one_fingerprint_only_when_they_are_the_same(one: list[str], other: list[str]) -> None:
    assert (fingerprint(*one) == fingerprint(*other)) == (one == other)


@given(TEXTS, TEXTS)
def test_what_stands_before_counts(one: list[str], other: list[str]) -> None:
    assert fingerprint(*one, *other) == fingerprint(*other, after=fingerprint(*one))


def test_it_is_the_same_in_every_process() -> None:
    assert fingerprint("user", "나는 문을 연다. \ud800") == KNOWN
    assert fingerprint("user", "나는 문을 연다. \ud800", after=7) != KNOWN


@given(st.lists(st.integers(0, 2**64 - 1), max_size=9))
def test_they_are_packed_and_unpacked(prints: list[int]) -> None:
    assert list(unpack(pack(prints))) == prints


@pytest.mark.parametrize("text", ["!", "AAAA", "é"])
def test_what_is_no_row_of_them(text: str) -> None:
    with pytest.raises(ValueError):
        unpack(text)
