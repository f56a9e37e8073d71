"""What a continuation repeats of the text before it, in other signs and behind thoughts."""

from __future__ import annotations

import pytest

from saga_core.language import Unrepeated
from saga_core.state_block import BehindThoughts


@pytest.mark.parametrize(
    ("cut", "more", "rest"),
    [
        ("She waits —", "She waits -- and", " and"),
        ("She waits -- ", "She waits – and", " and"),
        ("She waits...", "She waits… And", " And"),
        ("**The storm and the rain", "**and the rain falls** on", " falls** on"),
        ("_She nods and the water", "_and the water falls_", " falls_"),
        ("*Ruda leans.*", "*Ruda leans.* She waits.", " She waits."),
        ("*Ruda leans.* She is a very", "She is a *very good* girl", " *good* girl"),
        ("* one\n* two and the water in", "* two and the water in three", " three"),
        ("the old half-", "half-drowned rat", "drowned rat"),
        ('"Wh-', "wh-what?", "wh-what?"),
        ("The pump and the water in", "<think>a</think>\n\nand the water in it", "<think>a</think> it"),
        ("The pump and the water in", "[THINK]a[/THINK]and the water in it", "[THINK]a[/THINK] it"),
        ("The pump and the water in", "<think>and the water in", "<think>and the water in"),
        ("The pump and the water in", "[Day 3] and the water in", "[Day 3] and the water in"),
    ],
)
def test_what_is_left_of_it(cut: str, more: str, rest: str) -> None:
    for size in (1, 2, 3, 7, 500):
        reply = BehindThoughts(Unrepeated(cut))
        passed = "".join(reply.feed(more[at : at + size]) for at in range(0, len(more), size))
        assert passed + reply.finish() == rest
