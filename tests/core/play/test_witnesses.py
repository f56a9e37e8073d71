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
        await chat.say("비석을 읽는다.", "비석에는 '달의 문'이라는 글이 있다.", present=())
        for number in range(8):
            await chat.say(f"{number}번째 언덕을 넘는다.", "안개가 짙다.")
        await chat.say("에르겐을 찾는다.", "에르겐이 반긴다.", npc_met=("에르겐",))
        del chat.history[:-2]  # the frontend shows the last turn only
        asked = await chat.begin("에르겐, 비석에 뭐라고 쓰여 있었지?")
        (line,) = [piece.text for piece in asked.context.pieces if "달의 문" in piece.text]
        assert line.endswith("(에르겐 없었음)")


async def test_who_was_left_in_a_turn_without_a_report_is_no_witness_of_the_next() -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        chat = Frontend(saga)
        await chat.say("I watch the show.", "Teo falls into the band.", present=("Teo",), npc_met=("Teo", "Anselm"))
        silent = await chat.say("I slip away to Anselm.", "Anselm has put out the lantern in the stable.")
        secret = "Secret: Anselm is Teo's father; Teo does not know"
        await chat.say("Well?", "Teo is my son, says Anselm.", present=("Anselm",), location="stable", notes=secret)
        await chat.say("I find Teo.", "Teo juggles onions.", present=("Teo",), location="camp", location_moved=True)
        asked = await chat.begin("Ask Anselm who your father is, Teo.")
        assert f"Not known to Teo: {secret} (turn 3)" in asked.context.text
        report = await saga.memory.knowledge(silent.session.id, about=2)
        assert all(each["knows"] for each in report["people"]), "nobody knows who was there"


async def test_of_a_turn_without_a_report_nobody_is_said_to_have_been_away() -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        chat = Frontend(saga)
        await chat.say("I go to Anselm.", "Anselm coughs.", present=("Anselm",), npc_met=("Anselm", "Marek"))
        await chat.say("I run to Marek.", "Marek carries a pole.", present=("Marek",), npc_separated=("Anselm",))
        await chat.say("I slip away to Anselm.", "Anselm holds out a silver watch in the dark stable.")
        await chat.say("Both?", "Anselm and Marek wait.", present=("Anselm", "Marek"))
        del chat.history[:-2]
        asked = await chat.begin("Anselm, what did you hold out in the dark stable?")
        (line,) = [piece.text for piece in asked.context.pieces if "silver watch in the dark" in piece.text]
        assert "not there" not in line and "없었음" not in line
