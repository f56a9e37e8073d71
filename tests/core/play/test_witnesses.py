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


async def test_who_was_there_under_a_name_that_was_merged_was_there() -> None:
    async with Saga.open(memory_config()) as saga:
        chat = Frontend(saga)
        await chat.say("비석을 읽는다.", "비석에는 '달의 문'이라는 글이 있다.", present=("노인",))
        for number in range(8):
            await chat.say(f"{number}번째 언덕을 넘는다.", "안개가 짙다.")
        turn = await chat.say("에르겐을 찾는다.", "에르겐이 반긴다.", npc_met=("에르겐",))
        await saga.memory.correct(turn.session.id, "merge", {"one": "노인", "into": "에르겐"})
        del chat.history[:-2]
        asked = await chat.begin("에르겐, 비석에 뭐라고 쓰여 있었지?")
        (line,) = [piece.text for piece in asked.context.pieces if "달의 문" in piece.text]
        assert "없었음" not in line


async def test_who_was_left_in_a_turn_without_a_report_is_no_witness_of_the_next() -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        chat = Frontend(saga, "The fair begins.", "Tell a story.", "Be brief.")
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
        chat = Frontend(saga, "The fair begins.", "Tell a story.", "Be brief.")
        await chat.say("I go to Anselm.", "Anselm coughs.", present=("Anselm",), npc_met=("Anselm", "Marek"))
        await chat.say("I run to Marek.", "Marek carries a pole.", present=("Marek",), npc_separated=("Anselm",))
        await chat.say("I slip away to Anselm.", "Anselm holds out a silver watch in the dark stable.")
        await chat.say("Both?", "Anselm and Marek wait.", present=("Anselm", "Marek"))
        del chat.history[:-2]
        asked = await chat.begin("Anselm, what did you hold out in the dark stable?")
        (line,) = [piece.text for piece in asked.context.pieces if "silver watch in the dark" in piece.text]
        assert "not there" not in line


async def test_a_death_is_told_before_trifles_and_nothing_to_whoever_came_with_the_doer() -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        chat = Frontend(saga, "The fair begins.", "Tell a story.", "Be brief.")
        await chat.say("I hang it up.", "It drips.", present=("Dorota",), notes="The green coat hangs on a nail")
        await chat.say("I sit down.", "Anselm coughs.", present=("Dorota", "Anselm", "Teo"))
        fetches = "Teo rode Perła into Medyka to fetch Dr. Weiss"
        away = ("Dorota", "Anselm")
        await chat.say("Ride!", "Teo rides off.", present=away, npc_separated=("Teo",), notes=fetches)
        death = "Anselm died on the road below Medyka in the evening rain"
        await chat.say("I hold his hand.", "He does not breathe in.", present=("Dorota",), event_trigger=death)
        here = ("Dorota", "Teo", "Dr. Weiss")
        came = "Two on Perła: Teo, and in the coat of green and nails a Dr. Weiss. Where is Anselm?"
        await chat.say("I jump up.", came, present=here, npc_met=("Dr. Weiss",))
        asked = await chat.begin("I go to Teo, who rode to fetch Dr. Weiss.")
        unknown = [line for line in asked.context.text.splitlines() if line.startswith("Not known")]
        assert len(unknown) == 2 and death in unknown[0] and "coat hangs" in unknown[1], asked.context.text


async def test_what_the_messages_share_only_small_words_with_is_not_told_as_unknown() -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        chat = Frontend(saga, "The fair begins.", "Tell a story.", "Be brief.")
        paid = "Pay the farrier 5 krone: paid"
        await chat.say("I pay him.", "The farrier nods.", present=("Marek",), event_trigger=paid)
        await chat.say("I go.", "Dorota is there.", present=("Dorota",), npc_separated=("Marek",))
        songs = await chat.begin("Play me a song about the girl and the river.")
        assert "Not known" not in songs.context.text
        farrier = await chat.begin("What does the farrier want?")
        assert f"Not known to Dorota: {paid}" in farrier.context.text
