"""The corpus of malformed blocks: each reads as is written down beside it, and nothing is guessed."""

from __future__ import annotations

from pathlib import Path
from time import process_time
from typing import Any

import pytest
import yaml
from attrs import evolve
from attrs import fields as attributes

from saga_core.state_block import (
    BlockFields,
    BlockStatus,
    Hidden,
    StateReading,
    hide,
    parse_block,
    read_hidden,
    read_reply,
)
from saga_core.state_block.fields import ItemAmount, ItemTransfer, RelationChange, StatusChange


def _load(name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = yaml.load(
        Path(__file__).with_name(name).read_text(encoding="utf-8"), yaml.CSafeLoader
    )
    return found


CORPUS, LOOSE = _load("malformed.yaml"), _load("loose.yaml")
RECORDS: dict[str, Any] = {
    "items_gained": ItemAmount,
    "items_lost": ItemAmount,
    "items_transferred": ItemTransfer,
    "relationship_changes": RelationChange,
    "status_changes": StatusChange,
}


def expected(reads: dict[str, Any]) -> BlockFields:
    found = {}
    for name, value in reads.items():
        if name in RECORDS:
            found[name] = tuple(RECORDS[name](*each) for each in value)
        else:
            found[name] = tuple(value) if isinstance(value, list) else value
    return BlockFields(**found)


def test_the_corpus_is_large_and_argued() -> None:
    assert len(CORPUS) >= 200
    every = CORPUS + LOOSE
    assert len({case["name"] for case in every}) == len(every)
    assert all(case["why"] and set(case) <= {"name", "why", "text", "reads", "status", "invalid"} for case in every)
    assert sum(any("가" <= char <= "힣" for char in case["text"]) for case in CORPUS) > 40


@pytest.mark.parametrize("case", CORPUS, ids=lambda case: str(case["name"]))
def test_a_malformed_block_reads_as_written_down(case: dict[str, Any]) -> None:
    reading = _reads(case)
    assert "state" not in reading.visible.replace("</state>", "") or "think" in case["text"].casefold()


@pytest.mark.parametrize("case", LOOSE, ids=lambda case: str(case["name"]))
def test_what_has_no_fence_of_its_own_is_hidden_where_it_is_read_and_nowhere_else(case: dict[str, Any]) -> None:
    reading = _reads(case)
    if case["reads"]:
        assert reading.visible == case["text"].partition("\n")[0]
    else:
        assert reading.visible.rstrip() == case["text"].rstrip()


def test_of_a_reply_that_ended_by_itself_the_last_line_counts_too() -> None:
    text = "그는 걷는다.\n\nlocation: 숲\nnpc_met: [크룩]\nhp_change: -15"
    hidden = hide(text)
    assert read_hidden(hidden).fields.hp_change is None
    whole = Hidden(hidden.visible, tuple(evolve(block, closed=True) for block in hidden.blocks))
    assert read_hidden(whole).fields == BlockFields("숲", hp_change=-15, npc_met=("크룩",))


def _reads(case: dict[str, Any]) -> StateReading:
    reading = read_reply(case["text"])
    wanted = expected(case["reads"])
    for attribute in attributes(BlockFields):
        assert getattr(reading.fields, attribute.name) == getattr(wanted, attribute.name), attribute.name
    assert reading.status is BlockStatus(case.get("status", "ok")), reading.problems
    assert reading.invalid == tuple(case.get("invalid", ()))
    return reading


@pytest.mark.parametrize("piece", [" ", "<!--", "/*", "<state>", "\n```x", "| a ", "\t", "# ", "~~", "🌲", "없음 "])
def test_a_reply_that_repeats_itself_without_end_is_read_in_no_time(piece: str) -> None:
    began = process_time()
    read_reply(piece * 20_000 + "\nlocation: 숲\nhp_change: -1")
    assert process_time() - began < 2.0


@pytest.mark.parametrize("piece", ['"a": "b" "c": ', '"a": "b": ', '{"a" ', "{{", "a\\\n", '"a, "b": ', "'a: 'b', "])
def test_a_block_that_repeats_itself_without_end_is_read_in_no_time(piece: str) -> None:
    began = process_time()
    parse_block("{" + piece * (60_000 // len(piece)))
    assert process_time() - began < 2.0
