"""Thoughts under marks that no list names: what is in them does not count, and is not kept."""

from __future__ import annotations

from typing import Any

import pytest

from saga_core.state_block import BlockFilter, hide, prose_of, read_reply, without_thoughts
from tests.wild.strangers import strangers


@strangers("thoughts")
@pytest.mark.parametrize("size", [1, 7, 5_000])
def test_only_the_story_is_kept_and_only_its_block_counts(row: dict[str, Any], size: int) -> None:
    reply, blocks = row["reply"], BlockFilter()
    visible = "".join(blocks.feed(reply[at : at + size]) for at in range(0, len(reply), size)) + blocks.finish()
    assert visible == hide(reply).visible
    assert prose_of(without_thoughts(visible)).strip() == row["story"]
    assert 100 + (read_reply(reply).fields.hp_change or 0) == row["hp"]
