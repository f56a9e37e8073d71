"""A correction on the pages: where it holds, said before it is made, and what a swipe leaves of it."""

from __future__ import annotations

import pytest

from tests.web.chromium import MISSING

pytest.importorskip("playwright", reason=MISSING)

from saga_core.config import load_config
from saga_core.state_block import StatusChange
from saga_server.server import Server
from tests.core.frontend import Frontend
from tests.web.browsing import Browser, visiting
from tests.web.conftest import SETTINGS

pytestmark = pytest.mark.asyncio(loop_scope="session")

FORM = "[data-item=correction]"


@pytest.mark.parametrize("holds", ["kept", "reply", "turn"])
async def test_a_correction_outlives_a_swipe_unless_it_is_for_this_reply(browser: Browser, holds: str) -> None:
    async with Server(load_config(SETTINGS, environ={}), {}) as server, visiting(browser, server, "phone") as visit:
        chat, page = Frontend(server.saga, session="one"), visit.page
        await chat.say("I go in.", "The mill is dark.", mood="tired")
        begun = await chat.say("I look around.", "A rope hangs there.")
        await visit.open("now", session=begun.session.id)
        await page.click("[data-item=line][data-kind=mood] [data-action=edit]")
        await page.fill(f"{FORM} [name=mood]", "glad")
        await page.select_option(f"{FORM} [name=holds]", holds)
        if holds == "turn":
            await page.fill(f"{FORM} [name=holds-from]", "1")
        await page.click("[data-action=preview]")
        await page.wait_for_selector("[data-item=effect] ins")
        said = await page.inner_text("[data-item=effect] p")
        begins = {"kept": "From now on, also", "reply": "With this reply of turn 2 alone", "turn": "From turn 1 on"}
        assert said.startswith(begins[holds])
        assert await visit.too_wide() == 0 and await visit.findings() == []
        await page.click("[data-action=save]")
        await page.wait_for_selector("[data-item=line][data-kind=mood]:has-text('glad')")
        await chat.swipe("The rope is gone.")
        await server.saga.drain(10)
        await page.reload()
        await page.wait_for_selector("[data-item=line][data-kind=mood]")
        shown = await page.inner_text("[data-item=line][data-kind=mood] .says")
        assert ("glad" in shown) is (holds != "reply")


async def test_two_names_are_made_one_after_one_saw_what_comes_of_it(browser: Browser) -> None:
    async with Server(load_config(SETTINGS, environ={}), {}) as server, visiting(browser, server, "phone") as visit:
        chat, page = Frontend(server.saga, session="one", system="A ship's tale.", greeting="Rain."), visit.page
        await chat.say("I go in.", "Mrs. Pike, the cook, bangs a pot.", location="galley", present=("Mrs. Pike",))
        await chat.say("I look around.", "Rain.", location="deck", present=())
        dead = (StatusChange("Margery Pike", "dead"),)
        begun = await chat.say("I wait.", "Margery Pike is dead.", present=(), status_changes=dead)
        await chat.say("I mourn.", "The crew mourns Margery Pike.")
        await server.saga.drain(10)
        await visit.open("memories", session=begun.session.id)
        await page.click("[data-action=settle-one]")
        await page.wait_for_selector("[data-item=effect] li")
        assert await page.inner_text("[data-item=says]") == "“Mrs. Pike” becomes another name of “Margery Pike”."
        assert await visit.too_wide() == 0 and await visit.findings() == []
        before = await server.saga.memory.entities("one")
        assert {"Mrs. Pike", "Margery Pike"} <= {each["name"] for each in before}, "nothing is done yet"
        await page.click("[data-action=save]")
        await page.wait_for_selector("[data-item=finding]", state="detached")
        after = [each for each in await server.saga.memory.entities("one") if "Pike" in each["name"]]
        assert [(each["name"], each["aliases"], each["status"]) for each in after] == [
            ("Margery Pike", ["Mrs. Pike"], "dead")
        ]
