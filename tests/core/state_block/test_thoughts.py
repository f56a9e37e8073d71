"""What a model thought, told from what it said."""

from __future__ import annotations

import time

import pytest

from saga_core.state_block import without_thoughts


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("The door opens.", "The door opens."),
        ("<think>He is hurt.</think>\n\nThe door opens.", "The door opens."),
        ("<Thinking>\n다쳤다.\n</THINKING>문이 열린다.", "문이 열린다."),
        ("He is hurt.\n</think>\n\nThe door opens.", "The door opens."),
        ("The door <think>which?</think>opens. <think>And now?</think>It rains.", "The door opens. It rains."),
        ("<think>one <think>two</think>The door opens.", "The door opens."),
        ("<think>He is hurt.</think>", ""),
        ("<think>He is hurt.", "<think>He is hurt."),
        ("<think>a</think>The door opens.</think> It rains.", "The door opens.</think> It rains."),
        ("<b>The door</b> opens.", "<b>The door</b> opens."),
    ],
)
def test_what_was_closed_is_taken_out(text: str, told: str) -> None:
    assert without_thoughts(text) == told


@pytest.mark.parametrize(
    "unit",
    [
        "<think>",
        "</think>",
        "\n</think>",
        "<think></think>",
        "</",
        "<thinkin",
        "<|im_start|>",
        "<|end|> \n",
        "</thinking>",
        "[/THINK]",
    ],
)
def test_a_long_text_is_read_once(unit: str) -> None:
    begun = time.process_time()
    without_thoughts(unit * 100_000)
    assert time.process_time() - begun < 0.5
