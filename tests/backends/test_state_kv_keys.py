"""Encoded keys sort and nest as the keys do, and come back as they were."""

from __future__ import annotations

import unicodedata

from hypothesis import example, given
from hypothesis import strategies as st

from saga_backends.key_bytes import decode, encode, range_end
from saga_core.stores.state_kv import Key

SEGMENTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5) | st.text(
    "\0\x01\x02\xffab가_%./:", min_size=1, max_size=4
)
KEYS = st.lists(SEGMENTS, min_size=1, max_size=4).map(tuple)
NFD = unicodedata.normalize("NFD", "어둠의 숲")


@given(KEYS)
@example(("\0",))
@example(("\0\x01", "\0\xff", "\xff"))
@example(("어둠의 숲", NFD))
def test_a_key_comes_back(key: Key) -> None:
    assert decode(encode(key)) == key


@given(KEYS, KEYS)
@example(("a", "z"), ("ab",))
@example(("a",), ("a", "\0"))
@example(("a", "b"), ("a\0",))
@example(("a\0",), ("a", "\U0010ffff"))
@example(("a\0b",), ("a\0", "b"))
@example(("\uffff",), ("\U00010000",))
@example(("어둠의 숲",), (NFD,))
def test_bytes_sort_as_keys(left: Key, right: Key) -> None:
    assert (encode(left) < encode(right)) == (left < right)
    assert (encode(left) == encode(right)) == (left == right)


@given(KEYS | st.just(()), KEYS, st.integers(0, 4))
@example(("a",), ("ab",), 0)
@example(("a",), ("a\0",), 0)
@example(("a",), ("a",), 0)
@example((), ("\U0010ffff",), 0)
def test_a_range_is_a_prefix(prefix: Key, key: Key, shared: int) -> None:
    for candidate in (key, prefix[:shared] + key):
        start = encode(prefix)
        assert (start <= encode(candidate) < range_end(start)) == (candidate[: len(prefix)] == prefix)
