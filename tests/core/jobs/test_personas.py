"""Who was the player all along is made one with her, along the path; the change can be seen, undone, and stays so."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from saga_core import Saga
from saga_core.jobs import PersonasJob
from saga_core.model import Kind
from tests.core.frontend import Frontend

CONFIG = {"storage": {"profile": "memory"}}
TOLD = {
    "en": ("Alex", "Ysolde", "silver ring", "lamp", "My name is Alex."),
    "ko": ("하진", "이솔데", "은반지", "등불", "내 이름은 하진이야."),
    "ja": ("ハル", "オデット", "銀の指輪", "ランプ", "俺の名前はハルだ。"),
    "zh": ("林渡", "苏晚晴", "银戒指", "灯笼", "我叫林渡。"),
}


def reply(text: str, body: str) -> str:
    return f"{text}\n\n```state\n{body}\n```"


async def played(saga: Saga, language: str, *, named: str | None) -> tuple[Frontend, Any]:
    """Four turns whose blocks name the player's character; the client names her at the third."""
    name, other, ring, lamp, _ = TOLD[language]
    chat = Frontend(saga, system="", greeting="", note="")
    await chat.say("…", reply("Rain.", f"location: Toll House\npresent: [{other}, {name}]\nitems_gained: [{lamp}]"))
    await chat.say("…", reply("She nods.", f"items_transferred: [{{item: {ring}, from: {other}, to: {name}}}]"))
    options = {"player": named} if named else {}
    for text, body in (
        ("He thanks her.", f"items_transferred: [{{item: {lamp}, from: {name}, to: {other}}}]"),
        ("Evening.", "mood: calm"),
    ):
        turn = await chat.begin("…", **options)
        choice = turn.replies[0]
        shown = choice.feed(reply(text, body)) + choice.finish()
        await turn.commit()
        chat.history += [{"role": "user", "content": "…"}, {"role": "assistant", "content": shown}]
        await saga.background.drain(20)
    return chat, await saga.views.state(turn.session.id)


@pytest.mark.parametrize("language", TOLD)
async def test_what_the_second_had_is_the_players_from_the_turn_on_that_introduced_them(language: str) -> None:
    name, other, ring, lamp, _ = TOLD[language]
    async with Saga.open(CONFIG) as saga:
        chat, state = await played(saga, language, named=name)
        assert [each.name for each in state.of_kind(Kind.CHARACTER)] == [name, other]
        assert [state.name(item) for item in state.belongings[state.player]] == [ring], "the lamp was given away"
        assert [state.name(item) for item in state.belongings[state.present[0]]] == [lamp]
        assert chat.last is not None
        live = await saga.parts.live.get(chat.last.session.id)
        early = await live.state(live.tree.ancestor_at(live.head, 2).id)
        assert {early.name(item) for item in early.belongings[early.player]} == {ring, lamp}


async def test_the_change_is_listed_and_who_undoes_it_is_heard() -> None:
    async with Saga.open(CONFIG) as saga:
        chat, _ = await played(saga, "en", named="Alex")
        assert chat.last is not None
        session = chat.last.session.id
        (change,) = await saga.memory.changes(session)
        await saga.memory.undo(session, change["id"])
        await chat.say("We go on.", "Night falls.", mood="tired")
        await saga.background.drain(20)
        state = await saga.views.state(session)
        assert len([each for each in state.of_kind(Kind.CHARACTER) if each.name == "Alex"]) == 2
        assert (await saga.status())["counters"]["personas.reunited"] == 1


@pytest.mark.parametrize("language", TOLD)
async def test_who_claims_the_name_of_another_stays_another(language: str) -> None:
    name, other, _, _, claim = TOLD[language]
    async with Saga.open(CONFIG) as saga:
        chat, _ = await played(saga, language, named=None)
        assert chat.last is not None
        await chat.say(claim, reply("She looks up.", f"present: [{other}, {name}]"))
        await saga.background.drain(20)
        state = await saga.views.state(chat.last.session.id)
        assert sorted(each.name for each in state.of_kind(Kind.CHARACTER) if each.id != state.player) == sorted(
            [name, other]
        )


async def test_somebody_whom_the_world_knows_is_not_the_player() -> None:
    async with Saga.open({**CONFIG, "session": {"default_world": "ersia"}}) as saga:
        chat = Frontend(saga)
        await chat.say("간다.", reply("비가 온다.", "present: [에르겐]"))
        turn = await chat.begin("나다.", player="에르겐")
        turn.replies[0].feed("그래.")
        await turn.commit()
        await saga.background.drain(20)
        assert not await saga.memory.changes(turn.session.id)


async def test_of_a_session_that_is_deleted_nothing_is_looked_for() -> None:
    async with Saga.open(CONFIG) as saga:
        chat, _ = await played(saga, "en", named=None)
        assert chat.last is not None
        session = chat.last.session.id
        (job,) = [job for job in saga.parts.supervisor.jobs if isinstance(job, PersonasJob)]
        job.wake(session, after=0.05)
        await saga.sessions.delete(session)
        await asyncio.sleep(0.1)
        await saga.drain(10)
        assert saga.parts.supervisor.failures(job) == {}
        assert "personas" not in saga.parts.counters.degraded
