"""A curator at a server of its own: who stands in for it, its memory on each path, and what goes with a session."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from saga_core import Saga
from saga_core.capabilities import Capability
from saga_core.config import load_config
from saga_core.errors import BadInput, NotFound, StoreUnavailable
from saga_core.ports import ChatPart, ChatRequest, FinishPart, TextPart
from saga_core.stores import CurationView, Health, StoreInfo
from saga_core.values import Proposal
from saga_server.doctor.examination import DoctorReport, _curator
from tests.backends.letta import VERSION, Agent, LettaFake, Said, calls, text
from tests.core.frontend import MEMORY, Frontend
from tests.core.jobs.test_reviews import INTERVAL, walked

REMEMBER = ("memory_replace", {"block": "narrative_summary", "text": "그는 골목을 헤맨다."})
LORE = ("learn_lore", {"entry": "골목", "text": "끝이 없다.", "turns": [2]})


class Small:
    """A curator model that always proposes the same."""

    name = "small"

    async def stream(self, request: ChatRequest, *, streaming: bool = True) -> AsyncIterator[ChatPart]:
        given = {"calls": [{"tool": "learn_lore", "entry": "바람", "text": "분다.", "turns": [1]}, {"tool": "finish"}]}
        yield TextPart(json.dumps(given, ensure_ascii=False))
        yield FinishPart("stop")

    async def models(self) -> list[str]:
        return []

    async def aclose(self) -> None:
        """Nothing is held."""


@pytest.fixture
async def letta() -> AsyncIterator[LettaFake]:
    async with LettaFake() as server:
        yield server
    assert server.wrong == []


def config(letta: LettaFake, **more: Any) -> Any:
    options = {"base_url": letta.url, "model": "openai/gpt-5-mini", "timeout": 5.0}
    return load_config({**MEMORY, "curator": {"interval": INTERVAL, "backend": "letta", "options": options}, **more})


async def reviewed(saga: Saga, session: str) -> dict[str, Any]:
    await saga.drain(5)
    return await saga.memory.curated(session)


async def test_its_proposals_are_journaled_billed_and_undone(letta: LettaFake) -> None:
    async with Saga.open(config(letta)) as saga:
        letta.then(calls(REMEMBER, LORE), calls(("finish", {})))
        session = await walked(Frontend(saga), INTERVAL)
        found = await reviewed(saga, session)
        assert found["lore"] == {"골목": "끝이 없다."}
        assert found["blocks"]["narrative_summary"]["text"] == "그는 골목을 헤맨다."
        assert [(each["curator"], each["notice"]) for each in found["reviews"]] == [("rules", ""), ("letta", "")]
        assert "골목" in letta.thoughts[0].question and "메모리" not in letta.thoughts[0].question
        assert [bill.purpose for bill in await saga.sessions.cost(session)] == ["curation"] * 2
        for change in await saga.memory.changes(session):
            if change["by"] == "letta":
                await saga.memory.undo(session, change["id"])
        after = await saga.memory.curated(session)
        assert (after["lore"], after["blocks"]) == ({}, {})
        assert saga.counters.degraded == {}


async def test_the_memory_is_that_of_the_path_after_a_swipe_and_after_an_undo(letta: LettaFake) -> None:
    async with Saga.open(config(letta)) as saga:
        chat = Frontend(saga)
        letta.then(calls(REMEMBER, ("finish", {})))
        session = await walked(chat, INTERVAL)
        await saga.drain(5)
        await walked(chat, INTERVAL, INTERVAL)
        await saga.drain(5)
        assert letta.thoughts[-1].blocks["narrative_summary"] == "그는 골목을 헤맨다."
        kept = list(chat.history)
        del chat.history[-2 * (INTERVAL + 1) :]  # back before the first review
        for number in range(90, 90 + 1 + INTERVAL):
            await chat.say(f"{number}번째 길로 간다.", f"{number}번째 강가는 밝다. 물이 흐른다.", notes=f"강 {number}")
        await saga.drain(5)
        assert letta.thoughts[-1].blocks["narrative_summary"] == "", "of the other branch nothing is left"
        chat.history[:] = kept
        (change,) = [each for each in await saga.memory.changes(session) if "헤맨다" in each["summary"]] or [None]
        assert change is None, "the head is on the other branch"
        assert len(letta.agents) == 1


async def test_blocks_stands_in_when_the_server_is_away_and_gives_way_when_it_is_back(letta: LettaFake) -> None:
    settings = config(letta)
    async with Saga.open(settings, curator=Small()) as saga:
        letta.broken["GET", "/v1/agents/"] = {"status": 500, "body": {"detail": "down"}}
        chat = Frontend(saga)
        session = await walked(chat, INTERVAL)
        found = await reviewed(saga, session)
        assert found["lore"] == {"바람": "분다."}
        (review,) = [each for each in found["reviews"] if each["curator"] == "blocks"]
        assert review["notice"].startswith("letta: the Letta server at ")
        assert "blocks reviews instead" in review["notice"]
        status = await saga.status()
        assert status["curation"]["stand_ins"] == {"letta": "blocks"}
        assert "blocks reviews instead" in status["degraded"]["curation.letta"]
        assert status["counters"]["curation.stand_ins"] == 1
        assert "curation.letta" in (await chat.begin("본다.")).degraded
        letta.broken.clear()
        letta.then(text("…"), text("…"))  # it is back, and says nothing that can be used
        await walked(chat, INTERVAL, INTERVAL)
        found = await reviewed(saga, session)
        assert [each["curator"] for each in found["reviews"] if each["curator"] != "rules"] == ["blocks", "blocks"]
        await walked(chat, INTERVAL, 2 * INTERVAL)
        found = await reviewed(saga, session)
        assert [each["curator"] for each in found["reviews"] if each["curator"] != "rules"][-1] == "letta"
        assert saga.counters.degraded == {}


async def test_without_a_curator_model_the_rules_review_alone_and_it_is_said(letta: LettaFake) -> None:
    async with Saga.open(config(letta)) as saga:
        letta.broken["GET", "/v1/"] = {"status": 500, "body": {}}
        session = await walked(Frontend(saga), INTERVAL)
        found = await reviewed(saga, session)
        assert [each["curator"] for each in found["reviews"]] == ["rules"]
        assert saga.counters.degraded["curation.letta"].endswith("; the rules review alone")
        assert (await saga.status())["curation"]["failed"][0]["curator"] == "letta"


async def test_without_the_client_another_reviews(letta: LettaFake, monkeypatch: pytest.MonkeyPatch) -> None:
    from saga_backends.curator import letta as backend

    async def missing(*given: Any) -> Any:
        raise ImportError("No module named 'letta_client'")

    monkeypatch.setattr(backend, "connect", missing)
    for chat, names, told in ((None, ["rules"], "the rules review alone"), (Small(), ["rules", "blocks"], "blocks")):
        async with Saga.open(config(letta), curator=chat) as saga:
            assert [each.info.name for each in saga.background.reviews.curators] == names
            reason = saga.counters.degraded["curation.letta"]
            assert "pip install 'saga-rp[letta]'" in reason and told in reason


async def test_the_doctor_tells_of_the_server_and_its_version(letta: LettaFake) -> None:
    told: list[str] = []
    report = DoctorReport(told.append)
    await _curator(config(letta), report)
    assert report.good
    assert told[-1] == f"ok  curator: letta: Letta {VERSION} at {letta.url}, agents think with openai/gpt-5-mini"
    letta.broken["GET", "/v1/health/"] = {"status": 502, "body": "<html>"}
    await _curator(config(letta), report)
    assert not report.good
    assert told[-1].startswith("!!  curator: letta: the Letta server at") and "answered 502" in told[-1]
    await _curator(load_config(MEMORY), report)
    assert len(told) == 4


async def test_a_wrong_option_names_its_place(letta: LettaFake) -> None:
    wrong = load_config({**MEMORY, "curator": {"backend": "letta", "options": {"base_url": letta.url}}})
    with pytest.raises(BadInput, match=r"curator\.options\.model"):
        await Saga.open(wrong)


async def test_what_goes_goes_there_too(letta: LettaFake) -> None:
    async with Saga.open(config(letta)) as saga:
        letta.otherwise = calls(REMEMBER, ("finish", {}))
        chat = Frontend(saga)
        session = await walked(chat, INTERVAL + 1)
        await saga.drain(5)
        assert len(letta.agents) == 1
        await saga.maintenance.forget_name(session, "골목")
        assert (letta.agents, letta.blocks) == ({}, {}), "its memory is made anew without the name"
        await walked(chat, INTERVAL, INTERVAL + 1)
        await saga.drain(5)
        assert len(letta.agents) == 1
        await saga.sessions.reset(session)
        assert letta.agents == {}
        chat = Frontend(saga)
        other = await walked(chat, INTERVAL)
        await saga.drain(5)
        assert len(letta.agents) == 1
        await saga.sessions.delete(other)
        assert (letta.agents, letta.blocks) == ({}, {})
        assert await saga.background.jobs() == [] and saga.counters.degraded == {}


async def test_what_cannot_be_removed_there_is_a_job_until_it_is_gone(letta: LettaFake, tmp_path: Path) -> None:
    stored = {"storage": {"path": str(tmp_path)}, "md_cache": {"enabled": False}}
    async with Saga.open(config(letta, **stored)) as saga:
        session = await walked(Frontend(saga), INTERVAL)
        await saga.drain(5)
        letta.broken["DELETE", "/v1/agents/"] = {"status": 500, "body": {}}
        await saga.sessions.delete(session)
        (job,) = await saga.background.jobs()
        assert (job.session, job.kind, job.stuck, job.tries) == (session, "forget", True, 1)
        assert "answered 500" in job.reason
        assert "1 sessions are still to be forgotten" in saga.counters.degraded["curation.forget"]
        assert await saga.background.retry() == 1
        (job,) = await saga.background.jobs(session)
        assert job.tries == 2
        assert [each.kind for each in (await saga.drain(5)).waiting] == ["forget"]
    gone = load_config({**MEMORY, **stored, "curator": {"interval": INTERVAL}})
    async with Saga.open(gone) as saga:
        await saga.drain(5)
        (job,) = await saga.background.jobs()
        assert "curator.backend is not 'letta' any more" in job.reason
    letta.broken.clear()
    async with Saga.open(config(letta, **stored)) as saga:
        await saga.drain(5)
        assert await saga.background.jobs() == []
        assert (letta.agents, saga.counters.degraded) == ({}, {})


async def test_a_server_that_hangs_holds_no_deletion_up_for_long(
    letta: LettaFake, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Saga.open(config(letta)) as saga:
        session = await walked(Frontend(saga), INTERVAL)
        await saga.drain(5)
        saga.background.forgetting.request_patience = 0.05
        letta.broken["GET", "/v1/agents/"] = {"status": 0, "body": ""}
        await saga.sessions.delete(session)
        (job,) = await saga.background.jobs()
        assert "no answer within 0.05 s" in job.reason


async def test_a_review_under_way_ends_when_its_session_goes(letta: LettaFake) -> None:
    asked = asyncio.Event()

    def hangs(agent: Agent) -> Said:
        asked.set()
        return {"status": 0, "body": ""}

    async with Saga.open(config(letta)) as saga:
        letta.then(hangs)
        session = await walked(Frontend(saga), INTERVAL + 1)
        await asked.wait()
        await saga.sessions.delete(session)
        assert not saga.parts.supervisor.is_running(saga.background.reviews, session)
        assert letta.agents == {}


class Keeper:
    """A curator of another author that remembers sessions; ``broken`` is what its ``forget`` raises."""

    def __init__(self, broken: Exception | None = None) -> None:
        self.info = StoreInfo("curator", "keeper", "1", frozenset({Capability.REMEMBERS}))
        self.broken = broken
        self.kept: set[str] = set()

    async def review(self, view: CurationView) -> tuple[Proposal, ...]:
        self.kept.add(view.session)
        return ()

    async def forget(self, session: str) -> None:
        if self.broken is not None:
            raise self.broken
        self.kept.discard(session)

    async def check(self, *, thorough: bool = False) -> Health:
        return Health(True)

    async def aclose(self) -> None:
        """Nothing is held."""


FAILURES = [
    (StoreUnavailable("keeper: http://x does not answer"), "keeper: http://x does not answer"),
    (ConnectionError("server away"), "ConnectionError: server away"),
    (TimeoutError(), "no answer within 10 s"),
]


@pytest.mark.parametrize(("broken", "reason"), FAILURES)
@pytest.mark.parametrize("name", ["", "골목"])
async def test_what_a_curator_could_not_forget_is_said_until_the_same_again_finishes_it(
    broken: Exception, reason: str, name: str
) -> None:
    keeper = Keeper(broken)
    async with Saga.open(load_config({**MEMORY, "curator": {"interval": INTERVAL}}), curator=keeper) as saga:
        session = await walked(Frontend(saga), INTERVAL)
        await saga.drain(5)
        assert keeper.kept == {session}

        async def forgotten() -> tuple[str, ...] | None:
            if name:
                return (await saga.maintenance.forget_name(session, name)).remains
            try:
                return (await saga.maintenance.forget_sessions([session])).remains
            except NotFound:
                return await saga.maintenance.finish_forgetting()

        left = (
            f"keeper (curator.backend): it could not forget session {session} ({reason}); "
            "forget the same again once it can, or `saga jobs --retry`",
        )
        assert await forgotten() == left
        assert await forgotten() == left, "it is still away"
        keeper.broken = None
        assert await forgotten() == ()
        assert keeper.kept == set()
        assert await saga.maintenance.finish_forgetting() is None
        assert await saga.background.jobs() == [] and saga.counters.degraded == {}


async def test_another_process_knows_that_it_failed(tmp_path: Path) -> None:
    """``saga jobs`` without a server opens the engine anew, and tries nothing."""
    config = load_config({"storage": {"path": str(tmp_path)}, "curator": {"interval": INTERVAL}})
    keeper = Keeper(ConnectionError("server away"))
    async with Saga.open(config, curator=keeper) as saga:
        session = await walked(Frontend(saga), INTERVAL)
        await saga.drain(5)
        assert (await saga.maintenance.forget_sessions([session])).remains
        tries = (await saga.background.jobs())[0].tries
    for _ in range(2):
        async with Saga.open(config, curator=keeper, resume=False) as saga:
            (job,) = await saga.background.jobs()
            assert (job.session, job.kind, job.stuck) == (session, "forget", True)
            assert job.tries >= tries and "saga jobs --retry" in job.reason
            await saga.aclose(drain=0)
    keeper.broken = None
    async with Saga.open(config, curator=keeper, resume=False) as saga:
        await saga.background.retry()
        assert await saga.background.jobs() == [] and keeper.kept == set()
