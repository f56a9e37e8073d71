"""Blocks in which a model copies the form."""

from __future__ import annotations

from typing import Any

from saga_core.state_block import BlockStatus, parse_block
from tests.wild.strangers import strangers


@strangers("placeholders")
def test_a_copy_is_no_report(row: dict[str, Any]) -> None:
    parsed = parse_block(row["block"])
    assert (parsed.status is not BlockStatus.FALLBACK) is row["report"]
