"""The pages with a player's key: her own sessions, and nothing that only administrators may ask."""

from __future__ import annotations

import pytest

from tests.web.chromium import MISSING

pytest.importorskip("playwright", reason=MISSING)

from saga_core.config import load_config
from saga_server.server import Server
from tests.core.frontend import Frontend
from tests.web.browsing import Browser, visiting
from tests.web.conftest import SETTINGS
from tests.web.test_pages import PAGES

pytestmark = pytest.mark.asyncio(loop_scope="session")

SECRET = "Quillfeather"


async def test_a_player_sees_her_own_on_every_page(browser: Browser) -> None:
    tree = {**SETTINGS, "server": {"port": 0, "drain_timeout": 5, "api_keys": ["key-of-this-test"]}}
    async with Server(load_config(tree, environ={}), {}) as server, visiting(browser, server) as visit:
        saga, page = server.saga, visit.page
        hers, key = await saga.parts.admission.access.keys.create("one")
        others, _ = await saga.parts.admission.access.keys.create("other")
        await Frontend(saga, session="hers", owner=hers.owner).say("I go in.", "The mill is dark. A rope hangs there.")
        await Frontend(saga, session="theirs", owner=others.owner).say(f"I greet {SECRET}.", f"{SECRET} smiles at you.")
        await saga.drain(10)
        (mine,) = await saga.sessions.list(owner=hers.owner)
        visit.allowed.add("401")
        await page.goto(f"{server.url}/ui/")
        await page.wait_for_selector("[data-item=lock][open]")
        await page.fill("[data-item=lock] input", key)
        await page.click("[data-action=unlock]")
        await page.wait_for_selector("[data-action=page][data-name=health]", state="detached")
        visit.allowed.discard("401")
        visit.wrong.clear()
        for name in PAGES:
            if name in ("health", "settings"):
                continue
            await visit.open(name, session=mine.session.id)
            await page.wait_for_selector(".patience", state="detached")
            assert SECRET not in await page.inner_text("body"), name
        assert len(await visit.texts("[data-action=session] option")) == 1, "the list has hers alone"
