"""What a real model of 1.5 billion parameters wrote behind SAGA: nothing of SAGA's own shows, and no junk is a fact.

``replies.jsonl`` holds each different reply of Qwen2.5-Coder 1.5B to a narration or to a question, as it was recorded.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from saga_core.extraction.answer import read_answer, without_inventions
from saga_core.model import WorldState
from saga_core.state_block import BlockFilter, hide
from tests.bench.narrators.score import imitates

ROWS = [json.loads(line) for line in Path(__file__).with_name("replies.jsonl").read_text("utf-8").splitlines()]
NARRATIONS = [row["reply"] for row in ROWS if row["kind"] == "narration"]
ANSWERS = [row["reply"] for row in ROWS if row["kind"] == "extraction"]


def test_there_are_enough_of_them() -> None:
    assert len(NARRATIONS) > 150 and len(ANSWERS) > 100
    assert sum(imitates(reply) for reply in NARRATIONS) > 50, "as they came from the model"


def test_nothing_of_saga_shows() -> None:
    shown = [hide(reply).visible for reply in NARRATIONS]
    assert [text for text in shown if text.strip() and imitates(text)] == []


@pytest.mark.parametrize("size", [1, 3, 17])
def test_nor_in_a_stream(size: int) -> None:
    for reply in NARRATIONS:
        filter_ = BlockFilter()
        pieces = [filter_.feed(reply[at : at + size]) for at in range(0, len(reply), size)]
        assert "".join(pieces) + filter_.finish() == hide(reply).visible


def test_no_hit_points_are_made_of_junk() -> None:
    for answer in ANSWERS:
        reading = read_answer(answer)
        kept = without_inventions(reading, "I go on.", "Rain falls.", WorldState(player="p"), strict=True).fields
        assert not kept.hp_change, "nobody said a number"
        assert kept.hp is None or 0 <= kept.hp.now <= (kept.hp.top or kept.hp.now), answer
