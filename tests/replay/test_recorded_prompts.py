"""Long plays give the prompts that they gave when they were recorded, byte for byte."""

from __future__ import annotations

import pytest

from tests.replay.recorded_prompts import PLAYS, Play, differences, record, recorded


@pytest.mark.parametrize("play", PLAYS, ids=lambda play: play.name)
async def test_prompts_are_those_that_were_recorded(play: Play) -> None:
    before, now = recorded(play), await record(play)
    assert next(differences(before, now), "") == ""
    assert len(before["prompts"]) > play.turns and len(before["questions"]) > 5
