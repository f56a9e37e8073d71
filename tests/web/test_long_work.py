"""Long work says how far it is and is stopped: imports, verifying, making views anew."""

from __future__ import annotations

import asyncio

import pytest

from saga_core.config import load_config
from saga_core.state_block import BlockFields
from saga_server.server import Server
from tests.core.jobs.test_backfill import chat_of
from tests.web.chromium import MISSING
from tests.web.test_live import turn

pytest.importorskip("playwright", reason=MISSING)

from playwright.async_api import Route

from tests.web.browsing import Browser, visiting
from tests.web.conftest import SETTINGS

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.mark.deep
async def test_an_import_says_how_far_it_is_and_is_stopped(browser: Browser) -> None:
    async with Server(load_config(SETTINGS, environ={}), {}) as server, visiting(browser, server, "phone") as visit:
        page = visit.page
        await visit.open("transfer")
        await page.wait_for_selector("[data-item=connection][data-state=live]", state="attached")
        files = [
            {
                "name": f"chat {number}.jsonl",
                "mimeType": "application/jsonl",
                "buffer": chat_of(3).replace(b"On with me", f"On with me to road {number}".encode()),
            }
            for number in range(3)
        ]
        await page.set_input_files("[data-action=files]", files)  # type: ignore[arg-type]
        await page.wait_for_selector("[data-item=thing]")
        async with server.saga.maintenance.tools.importing:  # another import holds this one up
            await page.click("[data-action=confirm]")
            await page.wait_for_selector("[data-item=progress]")
            while not server.saga.maintenance.tools.running_imports:  # noqa: ASYNC110 - nothing tells when it has begun
                await asyncio.sleep(0)
            server.saga.counters.emit("importing", done=1, total=3)
            await page.wait_for_selector("[data-item=progress]:has-text('1 of 3')")
            assert await page.locator("[data-item=import] progress").get_attribute("max") == "3"
            async with page.expect_response(lambda got: got.request.method == "DELETE") as stopped:
                await page.click("[data-action=stop]")
            assert (await stopped.value).status == 200
        await page.wait_for_selector("[data-item=refused]")
        told = await visit.texts("[data-item=refused]")
        assert len(told) == 3 and all("was stopped before it" in each for each in told)
        assert await server.saga.sessions.list() == []
        assert await visit.too_wide() == 0 and await visit.findings() == []


@pytest.mark.deep
async def test_all_views_are_made_anew_one_session_after_the_other(browser: Browser) -> None:
    async with Server(load_config(SETTINGS, environ={}), {}) as server, visiting(browser, server) as visit:
        await turn(server, "I go to Rope Quay.", BlockFields(location="Rope Quay"))
        await server.saga.sessions.create(label="other", world="harrow")
        await server.saga.drain(30)
        page = visit.page
        await visit.open("health")
        asked: list[str] = []
        page.on("request", lambda each: each.method == "POST" and asked.append(each.url.rpartition("/")[2]))
        await page.click("[data-action=rebuild]")
        await page.wait_for_selector("[data-item=equal]")
        assert len(asked) == 2 and all(each.startswith("rebuild?session=") for each in asked)
        assert "made anew" in (await visit.texts("[data-item=equal]"))[0]


@pytest.mark.deep
async def test_what_goes_on_session_by_session_is_stopped_between_two(browser: Browser) -> None:
    async with Server(load_config(SETTINGS, environ={}), {}) as server, visiting(browser, server) as visit:
        for number in range(3):
            await server.saga.sessions.create(label=f"story {number}", world="harrow")
        await server.saga.drain(30)
        page = visit.page
        await visit.open("health")
        gate = asyncio.Event()
        held = 0

        async def hold(route: Route) -> None:
            nonlocal held
            held += 1
            await gate.wait()
            await route.continue_()

        await page.route("**/api/verify*", hold)
        await page.click("[data-action=verify]")
        await page.wait_for_selector("[data-item=check] progress")
        await page.click("[data-item=check] [data-action=stop]")
        gate.set()
        await page.wait_for_selector("[data-item=check] .notice.warn:has-text('1 of 3')")
        assert held == 1
