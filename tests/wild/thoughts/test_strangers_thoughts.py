"""Thoughts under marks that no list names: what is in them does not count, and is not kept."""

from __future__ import annotations

from typing import Any

import pytest

from saga_core import Saga
from saga_core.state_block import BlockFilter, hide, prose_of, read_reply, without_thoughts
from tests.core.frontend import Frontend, memory_config
from tests.wild.strangers import strangers


@strangers("thoughts")
@pytest.mark.parametrize("size", [1, 7, 5_000])
async def test_only_the_story_is_kept_and_only_its_block_counts(row: dict[str, Any], size: int) -> None:
    reply, blocks = row["reply"], BlockFilter()
    visible = "".join(blocks.feed(reply[at : at + size]) for at in range(0, len(reply), size)) + blocks.finish()
    assert visible == hide(reply).visible
    if "end" in row:
        async with Saga.open(memory_config()) as saga:
            turn = await Frontend(saga).begin("I hold out my hand.")
            for at in range(0, len(reply), size):
                turn.replies[0].feed(reply[at : at + size])
            assert [each.reply for each in await turn.commit(finish=row["end"])] == list(filter(None, [row["story"]]))
        return
    assert prose_of(without_thoughts(visible)).strip() == row["story"]
    assert 100 + (read_reply(reply).fields.hp_change or 0) == row["hp"]
