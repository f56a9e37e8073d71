"""What happens is seen at once, a lost connection comes back, two who look agree, and keys are asked for."""

from __future__ import annotations

import asyncio

import pytest
from attrs import evolve

from saga_core.config import load_config
from saga_core.state_block import BlockFields
from saga_server.server import Server
from tests.blocks import render_block
from tests.web.chromium import MISSING

pytest.importorskip("playwright", reason=MISSING)

from tests.web.browsing import Browser, visiting
from tests.web.conftest import SETTINGS

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def turn(server: Server, words: str, block: BlockFields) -> str:
    """Play a turn in the session ``s``; the session's id."""
    begun = await server.saga.begin([{"role": "user", "content": words}], session="s", world="harrow")
    begun.replies[0].feed(f"Something happens when they say: {words}\n{render_block(block)}")
    begun.replies[0].finish()
    await begun.commit()
    return (await server.saga.sessions.list())[0].session.id


async def test_the_page_follows_the_story_and_two_who_look_agree(browser: Browser) -> None:
    async with Server(load_config(SETTINGS, environ={}), {}) as server:
        session = await turn(server, "I go to Rope Quay.", BlockFields(location="Rope Quay"))
        async with visiting(browser, server) as one, visiting(browser, server, "phone") as two:
            for each in (one, two):
                await each.open("now", session=session)
                await each.page.wait_for_selector("[data-item=connection][data-state=live]", state="attached")
            await turn(server, "And now I go on to The Slakes, slowly.", BlockFields(location="The Slakes"))
            for each in (one, two):
                await each.page.wait_for_selector("[data-kind=place] :text('The Slakes')")
            await one.page.click("[data-kind=hp] [data-action=edit]")
            await one.page.fill("input[name=hp]", "41")
            await one.page.click("[data-action=preview]")
            await one.page.click("[data-action=save]")
            await two.page.wait_for_selector("[data-kind=hp] :text('41 /')")


async def test_an_edit_that_another_overtook_is_refused_with_a_sentence(browser: Browser) -> None:
    async with Server(load_config(SETTINGS, environ={}), {}) as server:
        session = await turn(server, "I go to Rope Quay.", BlockFields(location="Rope Quay"))
        async with visiting(browser, server) as visit:
            visit.allowed.add("412")
            await visit.open("now", session=session)
            await visit.page.click("[data-kind=hp] [data-action=edit]")
            await visit.page.fill("input[name=hp]", "41")
            await visit.page.click("[data-action=preview]")
            await visit.page.wait_for_selector("[data-item=effect]")
            await server.saga.memory.correct(session, "hp", {"hp": "7"})
            await visit.page.click("[data-action=save]")
            await visit.page.wait_for_selector("[data-item=error]")
            assert (await server.saga.describe(session))["hp"] == 7
            assert "has changed since it was read" in (await visit.texts("[data-item=error]"))[0]


async def test_a_lost_connection_says_so_and_comes_back(browser: Browser) -> None:
    config = load_config(SETTINGS, environ={})
    async with Server(config, {}) as server, visiting(browser, server) as visit:
        visit.allowed.update(("ERR_CONNECTION", "ERR_INCOMPLETE", "ERR_EMPTY", "503"))
        await visit.open("health")
        await visit.page.wait_for_selector("[data-item=connection][data-state=live]")
        port = server.port
        await server.stop()
        await visit.page.wait_for_selector("[data-item=lost]")
        async with Server(evolve(config, server=evolve(config.server, port=port)), {}):
            await visit.page.wait_for_selector("[data-item=connection][data-state=live]", timeout=30_000)
            await visit.page.wait_for_selector("[data-item=lost]", state="detached")
            await asyncio.sleep(0)


async def test_a_key_is_asked_for_kept_in_this_tab_and_never_shown(browser: Browser) -> None:
    tree = {**SETTINGS, "server": {"port": 0, "drain_timeout": 5, "api_keys": ["key-of-this-test"]}}
    async with Server(load_config(tree, environ={}), {}) as server, visiting(browser, server) as visit:
        visit.allowed.add("401")
        page = visit.page
        asked: list[str] = []
        page.on("request", lambda each: asked.append(f"{each.url} {each.headers.get('referer', '')}"))
        await page.goto(f"{server.url}/ui/")
        await page.wait_for_selector("[data-item=lock][open]")
        await page.fill("[data-item=lock] input", "wrong")
        await page.click("[data-action=unlock]")
        await page.wait_for_selector("[data-item=lock] [role=alert]")
        await page.fill("[data-item=lock] input", "key-of-this-test")
        await page.click("[data-action=unlock]")
        await page.wait_for_selector("[data-item=connection][data-state=live]", state="attached")
        await page.wait_for_selector("main [data-item=provider]")
        assert "key-of-this-test" not in page.url
        assert asked and not any("key-of-this-test" in each for each in asked), "a log of addresses never has the key"
        kept = await page.evaluate("[JSON.stringify(localStorage), document.cookie, sessionStorage['saga.key']]")
        assert "key-of-this-test" not in kept[0] and kept[1:] == ["", "key-of-this-test"]
