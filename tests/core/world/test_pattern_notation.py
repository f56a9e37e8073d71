"""Which keys are patterns: those that JavaScript would take, and no words that only look so."""

from __future__ import annotations

import pytest

from saga_core.world import as_pattern, is_pattern

PATTERNS = (
    "/a/",
    "/a/i",
    "/a\\/b/",
    "/(a|b)+?/gimsuy",
    "/[ab]/",
    "/(?<=ab*)c/",
    "/(?<!a|bc)d/",
    "/(?<n>a)\\k<n>/",
    r"/\p{L}+/u",
    r"/\u{1F600}/u",
    r"/[^]/",
    r"/[\uAC00-\uD7A3]/",
    "/검[은는]?/",
    r"/\\/",
    "/a{2,}/",
)
WORDS = (
    "a",
    "/",
    "//",
    "/a",
    "a/",
    "/usr/bin",
    "/usr/bin/",
    "/a/b/i",
    "/a/x",
    "/a/ii",
    "/a(/",
    "/[a/",
    "/*/",
    "/a)/",
    "/(?<n/",
    "/a**/",
    "/a\\/",
)


@pytest.mark.parametrize("key", PATTERNS)
def test_a_pattern(key: str) -> None:
    assert is_pattern(key)


@pytest.mark.parametrize("key", WORDS)
def test_words(key: str) -> None:
    assert not is_pattern(key)


@pytest.mark.parametrize("source", ["a", "a/b", r"a\/b", r"a\\/b", "/", "a//b"])
def test_a_pattern_without_slashes_gets_them(source: str) -> None:
    assert is_pattern(as_pattern(source))


def test_a_long_key_is_looked_at_once() -> None:
    assert not is_pattern("/" + "\\\\/" * 200_000 + "/")
    assert is_pattern("/" + "[" * 5_000 + "/"), "too long to be matched, and told so"
    assert not is_pattern("/" + "[" * 900 + "/")
