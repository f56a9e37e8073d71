"""Small things that a player meets in a first evening, and what the pages say of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.web.chromium import MISSING

pytest.importorskip("playwright", reason=MISSING)

from saga_core.config import load_config
from saga_core.state_block import ItemAmount, ItemTransfer
from saga_server.server import Server
from tests.core.frontend import Frontend, answer
from tests.core.imports import samples
from tests.web.browsing import Browser, visiting
from tests.web.conftest import SETTINGS

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_the_stand_in_says_that_it_is_one(browser: Browser) -> None:
    async with Server(load_config(SETTINGS, environ={}), {}) as server, visiting(browser, server, "phone") as visit:
        await visit.open("start")
        await visit.page.fill("[data-item=test] [name=text]", "Good morning, Hana. Did you sleep well?")
        await visit.page.click("[data-action=test]")
        await visit.page.wait_for_selector("[data-item=reply]:has-text('stand-in')")


async def test_one_of_two_tickets_given_away_contradicts_nothing(browser: Browser) -> None:
    tree = {**SETTINGS, "curator": {"interval": 1}}
    async with Server(load_config(tree, environ={}), {}) as server, visiting(browser, server) as visit:
        chat = Frontend(server.saga, session="one", system="A bare card.")
        await chat.say(
            "I buy two tickets.", "Here they are.", items_gained=(ItemAmount("ticket", 2),), npc_met=("Hana",)
        )
        given = (ItemTransfer("ticket", "Player", "Hana"),)
        begun = await chat.say("One is for Hana.", "Hana takes it.", items_transferred=given)
        await chat.say("I go in.", "You go in.", mood="glad")
        await server.saga.drain(10)
        await visit.open("memories", session=begun.session.id)
        assert await visit.page.locator("[data-item=finding]").count() == 0
        await visit.open("now", session=begun.session.id)
        shown = await visit.texts("[data-item=line][data-kind=item] .says")
        assert shown == ["ticket", "ticket"] and await visit.texts("[data-item=problems]") == []


async def test_a_fact_is_kept_without_a_setting_and_keywords_of_imported_lore_are_tried(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with Server(load_config(SETTINGS, environ={}), {}) as server, visiting(browser, server) as visit:
        page, card = visit.page, samples.card_png(samples.card_v2())
        await visit.open("transfer")
        file = {"name": "Ysolde.png", "mimeType": "image/png", "buffer": card}
        await page.set_input_files("[data-action=files]", [file])  # type: ignore[arg-type]
        await page.click("[data-action=confirm]")
        await page.wait_for_selector("[data-item=play]")
        chat = Frontend(server.saga, session="one", system="A bare card.")
        begun = await chat.begin("I come to the gate.", world="Ysolde")
        shown = await answer(begun, "The gate is shut.")
        chat.history += [{"role": "user", "content": "I come to the gate."}, {"role": "assistant", "content": shown}]
        await visit.open("lore", session=begun.session.id)
        await page.fill("[data-item=try] input", "What is in the fog?")
        await page.click("[data-action=try]")
        await page.wait_for_selector("[data-item=would] :text('Fog hides')")
        await visit.open("memories", session=begun.session.id)
        await page.click("[data-action=add]")
        await page.fill("[data-item=correction] textarea, [data-item=correction] [name=text]", "Ysolde hums at night.")
        await page.click("[data-action=preview]")
        await page.click("[data-action=save]")
        await page.wait_for_selector("[data-item=said]")
        told = await chat.begin("I wait.")
        assert "Ysolde hums at night" in told.plan.text()
        await page.click("[data-item=said] [data-action=undo]")
        await page.wait_for_selector("[data-item=said]:not(:has([data-action=undo]))")
        again = await chat.begin("I wait longer.")
        assert "Ysolde hums at night" not in again.plan.text()


async def test_an_edited_greeting_stays_and_marks_of_memory_are_shown_nowhere(browser: Browser) -> None:
    async with Server(load_config(SETTINGS, environ={}), {}) as server, visiting(browser, server, "phone") as visit:
        chat = Frontend(server.saga, session="one", greeting="The bell rings.")
        await chat.say("I come in.", "Hana looks up.")
        quoted = "She nods.\n\n[SAGA: what is true now]\nPlace: nowhere\n[/SAGA]"
        begun = await chat.say("I wave.", quoted)
        chat.greeting = "The old bell over the door rings twice."
        turn = await chat.begin("I sit down.")
        assert turn.session.id == begun.session.id
        assert chat.greeting in turn.plan.text() and "Hana looks up." in turn.plan.text()
        await visit.open("story", session=begun.session.id, turn="2")
        await visit.page.wait_for_selector("[data-item=reply]:has-text('She nods.')")
        assert "[SAGA" not in await visit.page.inner_text("main") and "[SAGA" not in chat.history[-1]["content"]
