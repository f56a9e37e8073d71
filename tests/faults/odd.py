"""Odd values for structure-aware fuzzing, and the places of a JSON value where they can stand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**22), 10**22),
    st.floats(),
    st.text(max_size=20),
    st.sampled_from(["", "\0", "nan", "t0", "root", "../x", "x" * 300, [], {}, [[]], {"t": "moved"}, [{"t": "died"}]]),
)
RAW = (b"", b"{", b"[]", b"null", b'"x"', b"{}", b"7", b"NaN", b"1e999", b"\xff\xfe", b"[" * 100_000)
"""Bytes that are no record of any kind."""


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every (container, key or index) in a JSON value."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield value, key
            yield from places(each)
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield value, index
            yield from places(each)
