"""A turn that is opened far down a long story comes into view, on a desktop and on a phone."""

from __future__ import annotations

import pytest

from tests.web.chromium import MISSING

pytest.importorskip("playwright", reason=MISSING)

from saga_core.config import load_config
from saga_server.server import Server
from tests.core.frontend import Frontend
from tests.web.browsing import Browser, visiting
from tests.web.conftest import SETTINGS

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.mark.parametrize("size", ["phone", pytest.param("desktop", marks=pytest.mark.deep)])
async def test_a_turn_far_down_opens_in_view(browser: Browser, size: str) -> None:
    async with Server(load_config(SETTINGS, environ={}), {}) as server, visiting(browser, server, size) as visit:
        chat, page = Frontend(server.saga, session="one"), visit.page
        for number in range(24):
            begun = await chat.say(f"I climb step {number}.", f"The stair goes on, {number}.")
        await visit.open("story", session=begun.session.id)
        await page.click("[data-action=show]")
        links = page.locator("[data-item=run] .turns [data-action=open]")
        await links.nth(19).scroll_into_view_if_needed()
        await page.evaluate("scrollTo(0, document.body.scrollHeight)")
        await links.last.click()
        await page.wait_for_selector("[data-item=reply]")
        await page.wait_for_function(
            """() => { const at = document.querySelector('[data-item=reply]').getBoundingClientRect();
                return at.top >= 0 && at.top < innerHeight; }"""
        )
