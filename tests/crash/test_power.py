"""Power that goes: of what was being written any beginning may be on the disk, of what was acknowledged all of it."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

from saga_core import Saga
from tests.core.frontend import Frontend
from tests.crash.test_damage import config

TURNS = 5
CUTS = 7


async def test_any_beginning_of_the_log_is_a_story_without_a_gap(tmp_path: Path) -> None:
    """Views may be ahead of a journal that lost its end, which they never are of one that was synced: mended too."""
    written, acknowledged = tmp_path / "written", []
    async with Saga.open(config(written)) as saga:
        chat = Frontend(saga)
        for number in range(TURNS):
            session = (await chat.say(f"{number}. 간다.", f"{number}번째 길이 열린다.", hp_change=-1)).session.id
            acknowledged.append((written / "state.db-wal").stat().st_size)
            await saga.drain(20)
        torn = tmp_path / "torn"
        shutil.copytree(written, torn, ignore=shutil.ignore_patterns("*-shm", "*.lock"))
    whole = (torn / "state.db-wal").stat().st_size
    chance = random.Random(3)
    cuts = {*acknowledged, *(chance.randrange(acknowledged[0], whole) for _ in range(CUTS - TURNS))}
    seen = set()
    for cut in sorted(cuts):
        data = tmp_path / f"cut-{cut}"
        shutil.copytree(torn, data)
        with (data / "state.db-wal").open("r+b") as log:
            log.truncate(cut)
        async with Saga.open(config(data), tolerant=True) as saga:
            turns = (await saga.views.turns(session))[1:]
            safe = sum(size <= cut for size in acknowledged)
            assert len(turns) >= safe, "no turn is lost whose reply ended"
            assert [turn.user for turn in turns] == [f"{number}. 간다." for number in range(len(turns))]
            seen.add(len(turns))
            chat = Frontend(saga, history=[
                {"role": role, "content": text}
                for turn in turns for role, text in (("user", turn.user), ("assistant", turn.reply))
            ])  # fmt: skip
            assert (await chat.say("돌아왔다.", "반갑다.", hp_change=-1)).session.id == session
            await saga.drain(20)
            assert (await saga.describe(session))["turn"] == len(turns) + 1
            assert [str(each) for each in (await saga.maintenance.verify()).findings] == []
    assert len(seen) == TURNS, "every length was seen"
