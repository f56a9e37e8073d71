"""A session is named and renamed in the page, wherever its name is shown, and two who rename do not undo each other."""

from __future__ import annotations

import pytest

from saga_core.config import load_config
from saga_core.state_block import BlockFields
from saga_server.server import Server
from tests.web.chromium import MISSING

pytest.importorskip("playwright", reason=MISSING)

from tests.web.browsing import Browser, visiting
from tests.web.conftest import SETTINGS
from tests.web.test_live import turn

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_session_is_renamed_and_what_another_did_meanwhile_is_not_undone(browser: Browser) -> None:
    async with Server(load_config(SETTINGS, environ={}), {}) as server:
        session = await turn(server, "I go to Rope Quay.", BlockFields(location="Rope Quay"))
        async with visiting(browser, server, "phone") as one, visiting(browser, server) as two:
            two.allowed.add("412")
            for each in (one, two):
                await each.open("now", session=session)
                await each.page.wait_for_selector("[data-item=connection][data-state=live]", state="attached")
                await each.page.click("[data-action=rename-session]")
            await one.page.fill("input[name=label]", "The salt <b>road</b>")
            await one.page.click("[data-item=rename-session] [data-action=save]")
            for each in (one, two):
                await each.page.wait_for_selector("[data-item=session-name] :text('The salt <b>road</b>')")
                await each.page.wait_for_selector("[data-action=session] option:has-text('The salt')", state="attached")
            assert (await server.saga.sessions.get(session)).label == "The salt <b>road</b>"
            await two.page.fill("input[name=label]", "Something else")
            await two.page.click("[data-item=rename-session] [data-action=save]")
            await two.page.wait_for_selector("[data-item=rename-session] [data-item=error]")
            assert "It is called “The salt <b>road</b>” now." in (await two.texts("[data-item=error]"))[0]
            assert (await server.saga.sessions.get(session)).label == "The salt <b>road</b>"
            await two.page.click("[data-item=rename-session] [data-action=cancel]")
            await two.page.click("[data-action=rename-session]")
            await two.page.fill("input[name=label]", "Something else")
            await two.page.click("[data-item=rename-session] [data-action=save]")
            await one.page.wait_for_selector("[data-item=session-name] :text('Something else')")
            assert await one.too_wide() == 0 and await one.findings() == []
