"""What recording and beginning a turn ask of the jobs."""

from __future__ import annotations

from tests.core.jobs.unreported import SQUARE, playing, settled


async def test_what_is_recorded_or_adopted_is_rendered() -> None:
    async with playing() as (chat, _):
        turn = await chat.say("둘러본다.", SQUARE, mood="calm")
        await settled(chat)
        work, views = chat.saga.play.work, chat.saga.background.views
        work.render(turn.session.id, [turn.id])
        assert list(views.queued(turn.session.id)) == [turn.id]
        await settled(chat)
        live = await chat.saga.parts.live.get(turn.session.id)
        assert await work.known(live, turn.id, 0.01) is None, "nothing of it is being read"
