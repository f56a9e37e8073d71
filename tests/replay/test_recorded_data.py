"""A data directory of SAGA 0.1 is opened, is what it was, gives the same next prompt, and is played on."""

from __future__ import annotations

from pathlib import Path

from saga_core import Saga
from tests.replay.recorded_data import ask_next, configured, told, unpack
from tests.replay.recorded_prompts import Counting, Ticking, differences


async def test_it_is_what_it_was_and_is_played_on(tmp_path: Path) -> None:
    before = unpack(tmp_path)
    clock = Ticking(before["at"])
    async with Saga.open(configured(tmp_path), clock=clock, entropy=Counting(10_000)) as saga:
        await saga.drain(60)
        assert saga.counters.degraded.keys() <= {"curation.direct", "curation.memory.facts"}, "no model is given here"
        now = await told(saga)
        assert now == {name: before[name] for name in now}
        prompt = await ask_next(saga, clock, before["history"])
        told_now, told_then = ({"prompts": [each], "questions": []} for each in (prompt, before["next"]))
        assert next(differences(told_then, told_now), "") == ""
        assert (await saga.maintenance.verify()).findings == ()
        (summary,) = await saga.sessions.list()
        turn = await saga.begin(
            [*before["history"], {"role": "user", "content": "계속 간다."}], owner="k1", model="claude-sonnet-5-5"
        )
        assert turn.parent.id == summary.session.head
        turn.replies[0].feed("길이 이어진다. 해가 진다.\n\n```state\nhp_change: -1\n```")
        await turn.commit()
        await saga.drain(60)
        hp = before["known"][summary.session.id]["turns"][summary.session.head]["hp"]
        assert (await saga.describe(summary.session.id))["hp"] == hp - 1
        assert (await saga.maintenance.verify()).findings == ()
