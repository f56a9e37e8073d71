"""The sort of story is chosen on the page Now, and decides what is shown; who died is chosen from a list."""

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
async def test_a_romance_shows_no_hit_points(browser: Browser, size: str) -> None:
    async with Server(load_config(SETTINGS, environ={}), {}) as server, visiting(browser, server, size) as visit:
        page, chat = visit.page, Frontend(server.saga, session="one", system="A bare card.")
        begun = await chat.say("I come in.", "Hana looks up from the oven.", npc_met=("Hana",))
        await visit.open("now", session=begun.session.id)
        await page.wait_for_selector("[data-item=line][data-kind=hp]")
        await page.click("[data-action=profile]")
        await page.select_option("[data-item=correction] [name=profile]", "romance")
        await page.click("[data-action=preview]")
        await page.wait_for_selector("[data-action=save]")
        assert await visit.too_wide() == 0 and await visit.findings() == []
        await page.click("[data-action=save]")
        await page.wait_for_selector("[data-item=profile] strong:text('a romance')")
        await page.wait_for_selector("[data-item=line][data-kind=hp]", state="detached")
        assert (await server.saga.describe(begun.session.id))["profile"] == "romance"
        await page.click("[data-item=said] [data-action=undo]")
        await page.wait_for_selector("[data-item=profile] strong:text('an adventure')")
        await page.click("[data-item=dead] [data-action=add]")
        offered = "all => all.map(each => each.value)"
        assert await page.eval_on_selector_all("[data-item=correction] datalist option", offered) == ["Hana"]
        await page.fill("[data-item=correction] [name=who]", "Hana")
        await page.click("[data-action=preview]")
        await page.wait_for_selector("[data-item=effect] ins")
        await page.click("[data-action=save]")
        await page.wait_for_selector("[data-item=line][data-kind=status]:has-text('Hana')")


async def test_a_feeling_below_zero_is_edited_as_it_is_shown(browser: Browser) -> None:
    tree = {**SETTINGS, "profile": "romance"}
    async with Server(load_config(tree, environ={}), {}) as server, visiting(browser, server, "phone") as visit:
        page, chat = visit.page, Frontend(server.saga, "The bell rings.", "A bare card.", "", session="one")
        block = "```state\npresent: [Hana]\ntrust: {Hana -> Player: -5}\ntime: 14:30\n```"
        begun = await chat.say("Hello.", f"She frowns.\n\n{block}")
        await visit.open("now", session=begun.session.id)
        trust = "[data-item=counted] [data-kind='tracker:trust']"
        await page.click(f"{trust} [data-action=edit]")
        assert await page.input_value("[data-item=correction] [name=value]") == "=-5"
        for typed, then in (("=-12", "-12"), ("-3", "-15"), ("+5", "-10")):
            await page.fill("[data-item=correction] [name=value]", typed)
            await page.click("[data-action=preview]")
            await page.wait_for_selector(f"[data-item=effect] ins:has-text('{then}')")
            await page.click("[data-action=save]")
            await page.wait_for_selector(f"{trust}:has-text('{then}')")
            await page.click(f"{trust} [data-action=edit]")
        await page.click("[data-action=cancel]")
        await page.click("[data-kind='tracker:time'] [data-action=edit]")
        assert (await page.input_value("[data-item=correction] [name=value]")).endswith("14:30")
        await page.click("[data-action=preview]")
        await page.wait_for_selector("[data-item=effect]")
        assert await page.locator("[data-item=relations]").count() == 0, "feelings are counted here"
        hana = await page.get_attribute("[data-kind=present]", "data-subject")
        await visit.open("people", session=begun.session.id, who=hana or "")
        await page.click("[data-action=die]")
        await page.click("[data-action=save]")
        await page.wait_for_selector("[data-item=one] .tag.bad")
        await visit.open("now", session=begun.session.id)
        await page.wait_for_selector("[data-item=dead] [data-kind=status]:has-text('Hana')")


async def test_money_is_shown_and_edited_in_its_coins(browser: Browser) -> None:
    tree = {**SETTINGS, "trackers": {"gold": {"kind": "money", "steps": "copper, 10 silver, 100 gold"}}}
    async with Server(load_config(tree, environ={}), {}) as server, visiting(browser, server) as visit:
        page, chat = visit.page, Frontend(server.saga, "The bell rings.", "A bare card.", "", session="one")
        await chat.say("Hello.", "Ten silver.\n\n```state\npresent: [Hana]\ngold: 12 silver\n```")
        begun = await chat.say("So?", "She pays.\n\n```state\npresent: [Hana]\ngold: +5\n```")
        await visit.open("now", session=begun.session.id)
        gold = "[data-item=counted] [data-kind='tracker:gold']"
        await page.wait_for_selector(f"{gold}:has-text('6 gold 2 silver')")
        assert "← 1 gold 2 silver" in await page.inner_text(gold)
        await page.click(f"{gold} [data-action=edit]")
        assert await page.input_value("[data-item=correction] [name=value]") == "6 gold 2 silver"
        await page.fill("[data-item=correction] [name=value]", "-1 silver")
        await page.click("[data-action=preview]")
        await page.wait_for_selector("[data-item=effect]")
        await page.click("[data-action=save]")
        await page.wait_for_selector(f"{gold}:has-text('6 gold 1 silver')")
        (change,) = await server.saga.memory.changes(begun.session.id)
        assert [each["shown"] for each in change["events"]] == ["-1 silver"]
