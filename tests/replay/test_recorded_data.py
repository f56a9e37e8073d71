"""A data directory of SAGA 0.1 is opened, is what it was, gives the same next prompt, and is played on."""

from __future__ import annotations

from pathlib import Path

from saga_core import Saga
from tests.replay.recorded_data import ask_next, configured, told, unpack
from tests.replay.recorded_prompts import Counting, Ticking


async def test_it_is_what_it_was_and_is_played_on(tmp_path: Path) -> None:
    before = unpack(tmp_path)
    clock = Ticking(before["at"])
    async with Saga.open(configured(tmp_path), clock=clock, entropy=Counting(10_000)) as saga:
        await saga.drain(60)
        assert saga.counters.degraded.keys() <= {"curation.direct", "curation.memory.facts"}, "no model is given here"
        now = await told(saga)
        # Since then the dead leave the company at once: it listed them until they were parted from.
        for session, about in before["known"].items():
            for turn_id, turn in about["turns"].items():
                dead = (await saga.describe(session, turn_id))["dead"]
                turn["npcs_present"] = [name for name in turn["npcs_present"] if name not in dead]
        # Since then proposals may wait for a person; none did.
        for change in now["changes"]:
            assert change.pop("waiting") is False
            change.pop("kind")  # since then a change says of which kind it is
        assert now == {name: before[name] for name in now}
        prompt = await ask_next(saga, clock, before["history"])
        # The narrator is asked for its block in other words now; what is true in the story is told as before.
        (session,) = before["known"]
        head = before["known"][session]["turns"][before["known"][session]["head"]]
        assert head["location"] in str(prompt) and f"HP: {head['hp']}" in str(prompt)
        # The pages of a dead man among the company are rendered anew when the session is played on.
        assert {finding.store for finding in (await saga.maintenance.verify()).findings} <= {"pages"}
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
