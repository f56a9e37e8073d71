"""Turns that nobody reported: what reading them costs is said first; it is begun, stopped and gone on with; what was
read waits for a person where that is set."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web

from saga_core.config import load_config
from saga_core.maintenance import ImportOptions
from saga_core.state_block import BlockFields
from saga_server.server import Server
from tests.core.jobs.test_backfill import FACTS, PLACES, Reader, chat_of
from tests.server.upstream import Received, Step, Upstream, fails, says
from tests.web.chromium import MISSING
from tests.web.test_live import turn

pytest.importorskip("playwright", reason=MISSING)

from tests.web.browsing import Browser, visiting
from tests.web.conftest import SETTINGS

pytestmark = pytest.mark.asyncio(loop_scope="session")

TURNS = 60


async def answered(request: web.Request, received: Received) -> web.StreamResponse:
    """What happened in the turns that the model is asked about."""
    text = "\n".join(str(message["content"]) for message in received.messages)
    return await says(Reader().answer(text))(request, received)


def paced(gate: asyncio.Event) -> Step:
    """Answers twice, and then when it is let, so that a test can look on."""
    begun = 0

    async def step(request: web.Request, received: Received) -> web.StreamResponse:
        nonlocal begun
        begun += 1
        if begun > 2:
            await gate.wait()
        return await answered(request, received)

    return step


@asynccontextmanager
async def imported(small: Upstream | None, **extraction: str) -> AsyncIterator[tuple[Server, str]]:
    """A server with an imported chat, whose turns a model at ``small`` may read."""
    tree: dict[str, Any] = {**SETTINGS, "session": {"default_world": "harrow"}}
    tree["extraction"] = {**SETTINGS["extraction"], **extraction}
    if small is not None:
        tree["models"] = {"extraction": "cheap/small", "facts": FACTS}
        tree["providers"] = {"cheap": {"base_url": small.url, "api_key": "sk-small", "max_retries": 0}}
    async with Server(load_config(tree, environ={}), {}) as server:
        taken = await server.saga.maintenance.import_files([("one.jsonl", chat_of(TURNS))], ImportOptions())
        session = taken.things[0].session
        assert session is not None
        await server.saga.drain(60)
        yield server, session


async def test_it_is_estimated_begun_stopped_and_gone_on_with(browser: Browser) -> None:
    gate = asyncio.Event()
    async with (
        Upstream(otherwise=paced(gate)) as small,
        imported(small) as (server, session),
        visiting(browser, server, "phone") as visit,
    ):
        page = visit.page
        await visit.open("now", session=session)
        await page.click("[data-item=backfill] [data-action=estimate]")
        await page.wait_for_selector("[data-item=estimate] [data-item=price]")
        told = await visit.api(f"/api/sessions/{session}/backfill")
        assert (await visit.texts("[data-item=estimate] [data-item=turns]")) == [str(TURNS)] and told["left"] == TURNS
        assert f"{told['dollars']:.4f}".rstrip("0") in (await visit.texts("[data-item=estimate] [data-item=price]"))[0]
        assert small.requests == [], "nothing is spent before one says so"
        assert await visit.too_wide() == 0 and await visit.findings() == []

        await page.click("[data-action=backfill]")
        await page.wait_for_selector("[data-item=backfill] progress")
        await page.click("[data-action=stop-backfill]")
        gate.set()
        await page.wait_for_selector("[data-item=over][data-state=stopped]")
        left = (await visit.api(f"/api/sessions/{session}/backfill"))["left"]
        assert 0 < left < TURNS and f"{TURNS - left} of {TURNS}" in (await visit.texts("[data-item=over]"))[0]
        await page.fill("[data-item=backfill] input[name=budget]", "0.000001")
        await page.click("[data-action=backfill]")
        await page.wait_for_selector("[data-item=over][data-state=budget]")
        assert (await visit.api(f"/api/sessions/{session}/backfill"))["left"] == left, "a step would cost more"
        await page.fill("[data-item=backfill] input[name=budget]", "")
        await page.click("[data-action=backfill]")
        await page.wait_for_selector("[data-item=over][data-state=done]")
        assert (await visit.api(f"/api/sessions/{session}/backfill"))["left"] == 0
        await page.wait_for_selector(f"[data-kind=place] :text('{PLACES[TURNS % 7]}')")
        await visit.open("memories", session=session)
        await visit.open("now", session=session)
        await page.wait_for_selector("[data-kind=place]")
        assert await page.locator("[data-item=backfill]").count() == 0, "nothing is left to read"


@pytest.mark.deep
async def test_what_was_read_waits_and_is_accepted_together(browser: Browser) -> None:
    async with (
        Upstream(otherwise=answered) as small,
        imported(small, review="ask") as (server, session),
        visiting(browser, server) as visit,
    ):
        page = visit.page
        while (await server.saga.background.backfill.step(session, 64)).left:
            pass
        await visit.open("memories", session=session)
        await page.wait_for_selector("[data-item=proposal]")
        assert (await visit.texts("[data-item=waiting] header .tag")) == [str(TURNS)]
        assert "read from the reply" in (await visit.texts("[data-item=proposal]"))[0]
        await page.click("[data-item=proposal]:first-child [data-action=refuse]")
        await page.wait_for_selector(f"[data-item=waiting] header .tag:text-is('{TURNS - 1}')")
        await page.click("[data-item=proposal]:first-child [data-action=accept-edit]")
        await page.wait_for_selector("main[data-page=now] [data-kind=place] [data-action=edit]")
        second = (await server.saga.views.turns(session))[2].id
        assert f"turn={second}" in page.url and PLACES[2] in (await visit.texts("[data-kind=place]"))[0]
        await visit.open("memories", session=session)
        await page.click("[data-action=accept-all]")
        await page.wait_for_selector("[data-item=waiting]", state="detached", timeout=60_000)
        changes = await server.saga.memory.changes(session)
        assert not any(each["waiting"] for each in changes) and sum(bool(each["undone"]) for each in changes) == 1
        assert (await server.saga.describe(session))["location"] == PLACES[TURNS % 7]


@pytest.mark.deep
async def test_without_a_model_it_is_said_what_is_missing(browser: Browser) -> None:
    async with imported(None) as (server, session), visiting(browser, server, language="ko-KR") as visit:
        await visit.open("now", session=session)
        await visit.page.wait_for_selector("[data-item=backfill] [data-item=no-reader]")
        assert await visit.page.locator("[data-action=estimate]").count() == 0


@pytest.mark.deep
async def test_what_cannot_be_read_is_said_without_the_names_of_errors(browser: Browser) -> None:
    async with (
        Upstream(otherwise=fails(401, "the key is wrong")) as small,
        imported(small) as (server, session),
        visiting(browser, server) as visit,
    ):
        await turn(server, "I go to Rope Quay.", BlockFields(location="Rope Quay"))
        await visit.open("now", session=session)
        await visit.page.click("[data-action=estimate]")
        await visit.page.click("[data-action=backfill]")
        await visit.page.wait_for_selector("[data-item=over][data-state=failed]", timeout=60_000)
        await visit.open("health")
        await visit.page.wait_for_selector("[data-item=job]")
        told = " ".join(await visit.texts("main"))
        assert "the key is wrong" in told
        assert "UpstreamError" not in told and "ModelCallFailed" not in told
