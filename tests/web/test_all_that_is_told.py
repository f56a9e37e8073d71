"""Now shows what the narrator is told of the company: wounds, and what they carry; each is corrected and undone."""

from __future__ import annotations

import pytest

from tests.web.chromium import MISSING

pytest.importorskip("playwright", reason=MISSING)

from saga_core.config import load_config
from saga_core.state_block import ItemAmount, StatusChange
from saga_server.server import Server
from tests.core.frontend import Frontend
from tests.web.browsing import Browser, visiting
from tests.web.conftest import SETTINGS

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.parametrize("size", ["desktop", "phone"])
async def test_wounds_and_the_things_of_others_are_shown_and_corrected(browser: Browser, size: str) -> None:
    async with Server(load_config(SETTINGS, environ={}), {}) as server, visiting(browser, server, size) as visit:
        chat, page = Frontend(server.saga, session="one"), visit.page
        await chat.say("I meet Mina.", "Mina comes.", npc_met=("Mina",), items_gained=(ItemAmount("rope", 1),))
        cut = (StatusChange("Mina", "small cut on the finger"),)
        begun = await chat.say("I look at her.", "She bleeds.", status_changes=cut)
        mina = next(each for each in await server.saga.memory.entities("one") if each["name"] == "Mina")
        await server.saga.memory.correct("one", "give", {"who": mina["id"], "item": "lantern"})
        await visit.open("now", session=begun.session.id)
        here = f"[data-subject={mina['id']}]"
        await page.wait_for_selector(f"{here}[data-kind=condition]:has-text('small cut on the finger')")
        await page.wait_for_selector(f"{here}[data-kind=item]:has-text('lantern')")
        assert await visit.too_wide() == 0 and await visit.findings() == []
        await page.click(f"{here}[data-kind=condition] [data-action=off]")
        await page.wait_for_selector("[data-item=effect] del")
        await page.click("[data-action=save]")
        await page.wait_for_selector(f"{here}[data-kind=condition]", state="detached")
        await page.click("[data-item=said] [data-action=undo]")
        await page.wait_for_selector(f"{here}[data-kind=condition]")
        await page.click(f"{here}[data-kind=item] [data-action=off]")
        await page.click("[data-action=save]")
        await page.wait_for_selector(f"{here}[data-kind=item]", state="detached")
