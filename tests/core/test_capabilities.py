"""Capabilities are declared by these words in stored reports and by third parties."""

from __future__ import annotations

from saga_core.capabilities import Capability


def test_the_words_stay() -> None:
    words = {"durable", "resident", "shared", "native_expand", "raw_query", "approximate", "remembers", "compacts"}
    assert {each.value for each in Capability} == words
