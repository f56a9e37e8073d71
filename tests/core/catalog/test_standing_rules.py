"""Standing rules: what a person decided once for all proposals of one kind by one proposer, in one session."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from saga_core import Saga
from saga_core.config import Config
from saga_core.errors import BadInput, NotFound
from saga_core.maintenance.transfer import read_file
from saga_core.model import Session
from tests.core.extraction.scripted import Scripted
from tests.core.frontend import Frontend
from tests.core.jobs.test_held_readings import adopted, opened, waiting
from tests.core.strategies.stage import SetClock, answer, config, fact, model, play, texts

LEARNER = "memory.facts"


def asking(path: Path | None = None, review: str = "ask") -> Config:
    return config(path, facts={"review": review})


def facts(*told: str) -> Scripted:
    """A model that learns one of these at each run of three turns."""
    return model(*(answer(fact(text, 3 * at)) for at, text in enumerate(told, 1)))


@asynccontextmanager
async def learning(*told: str) -> AsyncIterator[tuple[Saga, Frontend, str]]:
    """A session with the first of these learned and waiting."""
    async with Saga.open(asking(), extractor=facts(*told)) as saga:
        chat = Frontend(saga)
        yield saga, chat, await play(chat)


async def test_what_a_strategy_learns_waits_where_that_is_set() -> None:
    async with learning("Maren is left-handed") as (saga, _, session):
        (held,) = await waiting(saga, session)
        assert (held["by"], held["kind"]) == (LEARNER, "remember") and await texts(saga, session) == []
        await saga.memory.decide(session, held["id"], accept=True)
        assert await texts(saga, session) == ["Maren is left-handed"]


@pytest.mark.parametrize("accept", [True, False])
async def test_what_is_proposed_from_then_on_is_decided_as_she_said(accept: bool) -> None:
    async with learning("Maren is left-handed", "The mill is shut") as (saga, chat, session):
        (held,) = await waiting(saga, session)
        rule = await saga.memory.always(session, held["id"], accept=accept)
        assert (rule["by"], rule["kind"], rule["verdict"]) == (LEARNER, "remember", "accept" if accept else "refuse")
        assert await waiting(saga, session) == [held], "what waits already is hers to decide"
        await play(chat, 3, 3)
        assert [each["id"] for each in await waiting(saga, session)] == [held["id"]]
        assert await texts(saga, session) == (["The mill is shut"] if accept else [])
        later = (await saga.memory.changes(session))[-1]
        assert later["kind"] == "remember" and bool(later["undone"]) == (not accept)
        await saga.memory.undo(session, later["id"] if accept else later["undone"])
        assert await texts(saga, session) == ([] if accept else ["The mill is shut"]), "either can be turned round"
        assert await saga.maintenance.differences(session) == []


async def undo_as_tools_do(saga: Saga, session: str, change: str) -> None:
    """Try to make a proposal count, as a tool could: it is refused, and the refusal names no other change."""
    for each in {change, *(row["undone"] for row in await saga.memory.changes(session) if row["undone"])}:
        with pytest.raises(BadInput, match=f"^change: '{each}' is one that only a person undoes$"):
            await saga.memory.undo(session, each, of_story=True)


@pytest.mark.parametrize("accept", [None, False, True])
async def test_no_tool_accepts_what_waits_or_was_refused(accept: bool | None) -> None:
    async with learning("Maren is left-handed", "The mill is shut") as (saga, chat, session):
        (held,) = await waiting(saga, session)
        await undo_as_tools_do(saga, session, held["id"])
        if accept is False:
            await saga.memory.decide(session, held["id"], accept=False)
            await saga.memory.always(session, held["id"], accept=False)
            await play(chat, 3, 3)
            await undo_as_tools_do(saga, session, (await saga.memory.changes(session))[-1]["id"])
        if accept:
            await saga.memory.decide(session, held["id"], accept=True)
            await saga.memory.undo(session, held["id"], of_story=True)
            await undo_as_tools_do(saga, session, held["id"])
        assert await texts(saga, session) == []


async def test_no_tool_accepts_what_was_read_of_a_history() -> None:
    async with opened() as (saga, _):
        _, session = await adopted(saga)
        before = await saga.describe(session)
        for each in await waiting(saga, session):
            await undo_as_tools_do(saga, session, each["id"])
        assert await saga.describe(session) == before


async def test_a_rule_is_ended_and_what_it_decided_stays() -> None:
    async with learning("One", "Two", "Three") as (saga, chat, session):
        (held,) = await waiting(saga, session)
        rule = await saga.memory.always(session, held["id"], accept=True)
        await play(chat, 3, 3)
        assert await saga.memory.ask_again(session, rule["id"]) == rule and await saga.memory.standing(session) == []
        await play(chat, 3, 6)
        assert [each["turn"] for each in await waiting(saga, session)] == [3, 9]
        assert await texts(saga, session) == ["Two"]
        with pytest.raises(NotFound, match="has no standing rule"):
            await saga.memory.ask_again(session, rule["id"])


async def test_the_same_rule_again_is_the_same_and_the_other_verdict_takes_its_place() -> None:
    async with learning("One", "Two") as (saga, chat, session):
        (held,) = await waiting(saga, session)
        first = await saga.memory.always(session, held["id"], accept=True)
        assert await saga.memory.always(session, held["id"], accept=True) == first
        second = await saga.memory.always(session, held["id"], accept=False)
        assert await saga.memory.standing(session) == [second] and second["id"] != first["id"]
        await play(chat, 3, 3)
        assert await texts(saga, session) == []


async def test_only_what_waited_makes_a_rule() -> None:
    async with learning("One") as (saga, _, session):
        by_hand = await saga.memory.correct(session, "note", {"text": "It rains."})
        with pytest.raises(BadInput, match="never waited for anybody"):
            await saga.memory.always(session, by_hand, accept=True)
        with pytest.raises(NotFound, match="has no change 'a9'"):
            await saga.memory.always(session, "a9", accept=True)
        assert await saga.memory.standing(session) == []


async def test_it_is_of_one_session_and_one_proposer() -> None:
    small = model(answer(fact("One", 3)), answer(fact("Two", 3)))
    async with Saga.open(asking(), extractor=small) as saga:
        session = await play(Frontend(saga))
        (held,) = await waiting(saga, session)
        await saga.memory.always(session, held["id"], accept=True)
        other = await play(Frontend(saga, session="another"), words="숲")
        assert other != session and await saga.memory.standing(other) == []
        assert len(await waiting(saga, other)) == 1


async def test_it_outlives_the_process_a_renaming_a_reset_and_an_export(tmp_path: Path) -> None:
    async with Saga.open(asking(tmp_path), extractor=facts("One")) as saga:
        session = await play(Frontend(saga))
        (held,) = await waiting(saga, session)
        rule = await saga.memory.always(session, held["id"], accept=False)
    async with Saga.open(asking(tmp_path), extractor=facts("Two")) as saga:
        assert await saga.memory.standing(session) == [rule]
        await saga.sessions.rename(session, "elsewhere")
        lines = [line async for line in saga.maintenance.export_session(session)]
        copy = await saga.maintenance.import_session(read_file(b"".join(lines)))
        assert await saga.memory.standing(copy.id) == [rule]
        await saga.sessions.reset(session)
        assert await saga.memory.standing(session) == [rule]
        await play(Frontend(saga, session="elsewhere"))
        assert await waiting(saga, session) == [] and await texts(saga, session) == []


async def test_a_file_with_rules_that_are_none_is_refused() -> None:
    rule = {"id": "r1", "by": "x", "kind": "lore", "verdict": "accept", "at": 1.0}
    wrong = {"verdict": "perhaps", "id": "r 1", "by": "\x07", "kind": "k" * 201, "at": -1.0}
    async with learning("One") as (saga, _, session):
        raw = b"".join([line async for line in saga.maintenance.export_session(session)])
    lines = [json.loads(line) for line in raw.splitlines()]

    def read(*rules: dict[str, Any]) -> Session:
        lines[1]["session"]["standing"] = rules
        return read_file("\n".join(map(json.dumps, lines)).encode(), edited=True).session

    assert [each.by for each in read(rule).standing] == ["x"]
    for name, value in wrong.items():
        with pytest.raises(BadInput, match="line 2"):
            read({**rule, name: value})
    with pytest.raises(BadInput, match="two standing rules decide the same"):
        read(rule, {**rule, "id": "r2"})


@pytest.mark.parametrize("accept", [True, False])
async def test_what_is_read_of_a_history_is_decided_as_well(accept: bool) -> None:
    async with opened() as (saga, _):
        chat, session = await adopted(saga)
        held = await waiting(saga, session)
        rule = await saga.memory.always(session, held[0]["id"], accept=accept)
        assert (rule["by"], rule["kind"]) == ("extraction", "reading")
        for each in held:
            await saga.memory.decide(session, each["id"], accept=accept)
        chat.history += [
            {"role": "user", "content": "I go on, to the Gate I hope."},
            {"role": "assistant", "content": "You walk to the Gate, and the wind is cold."},
        ]
        await chat.say("I rest again for a while.", "You rest.", hp_change=-1)
        await saga.drain(30)
        assert await waiting(saga, session) == []
        read = [each for each in await saga.memory.changes(session) if each["kind"] == "reading"]
        assert len(read) == 4 and {bool(each["undone"]) for each in read} == {not accept}
        found = (await saga.describe(session))["location"]
        assert (found == "Gate") == accept
        assert await saga.maintenance.differences(session) == []


async def test_where_nothing_waits_no_rule_is_asked(tmp_path: Path) -> None:
    async with Saga.open(asking(tmp_path), extractor=facts("One")) as saga:
        before = Frontend(saga)
        session = await play(before)
        (held,) = await waiting(saga, session)
        await saga.memory.always(session, held["id"], accept=False)
    async with Saga.open(asking(tmp_path, "auto"), extractor=model(answer(fact("Two", 6)))) as saga:
        chat = Frontend(saga)
        chat.history = before.history
        assert await play(chat, 3, 3) == session and await texts(saga, session) == ["Two"]


async def test_a_session_with_a_rule_is_one_that_somebody_came_back_to() -> None:
    clock = SetClock()
    small = model(answer(fact("One", 1)))
    async with Saga.open(config(every=1, facts={"review": "ask"}), extractor=small, clock=clock) as saga:
        session = await play(Frontend(saga), 1)
        (held,) = await waiting(saga, session)
        clock.time += 400 * 86_400
        assert (await saga.sessions.summary(session)).fleeting
        await saga.memory.always(session, held["id"], accept=False)
        assert not (await saga.sessions.summary(session)).fleeting
