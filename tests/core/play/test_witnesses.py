"""Who was with the player: noted with each turn, kept in the journal, corrected with it, and told where it matters."""

from __future__ import annotations

from pathlib import Path

from saga_core import Saga
from saga_core.config import load_config
from tests.core.frontend import Frontend, memory_config


async def test_a_turn_notes_who_was_there(tmp_path: Path) -> None:
    config = load_config({"storage": {"path": str(tmp_path)}, "session": {"default_world": "ersia"}})
    async with Saga.open(config) as saga:
        chat = Frontend(saga, session="모험")
        await chat.say("에르겐을 찾는다.", "에르겐이 반긴다.", npc_met=("에르겐",))
        await chat.say("에르겐과 걷는다.", "비석에 이름이 있다.")
        await chat.say("헤어진다.", "에르겐이 떠난다.", npc_separated=("에르겐",))
        last = await chat.say("혼자 걷는다.", "안개뿐이다.")
        await saga.drain(10)
    async with Saga.open(config) as saga:
        live = await saga.parts.live.get(last.session.id)
        there = [live.tree.get(turn).present for turn in live.tree.followed(live.head)]
        (ergen,) = there[1] or ()
        assert there == [None, (ergen,), (ergen,), (ergen,), ()]
        assert (await live.state(live.head)).name(ergen) == "에르겐"


async def test_the_narrator_is_told_who_was_not_there() -> None:
    async with Saga.open(memory_config()) as saga:
        chat = Frontend(saga)
        await chat.say("비석을 읽는다.", "비석에는 '달의 문'이라는 글이 있다.")
        for number in range(8):
            await chat.say(f"{number}번째 언덕을 넘는다.", "안개가 짙다.")
        await chat.say("에르겐을 찾는다.", "에르겐이 반긴다.", npc_met=("에르겐",))
        del chat.history[:-2]  # the frontend shows the last turn only
        asked = await chat.begin("에르겐, 비석에 뭐라고 쓰여 있었지?")
        (line,) = [piece.text for piece in asked.context.pieces if "달의 문" in piece.text]
        assert line.endswith("(에르겐 없었음)")
