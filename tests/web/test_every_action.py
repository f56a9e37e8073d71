"""What the pages offer besides correcting: each button does what it says, and says what came of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from saga_core.config import load_config
from saga_core.state_block import BlockFields
from saga_server.server import Server
from tests.server.admin.test_library import FAULTY, LORE
from tests.web.chromium import MISSING
from tests.web.stories import play_demo
from tests.web.test_live import turn

pytest.importorskip("playwright", reason=MISSING)

from tests.web.browsing import Browser, visiting
from tests.web.conftest import SETTINGS

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.mark.deep
async def test_a_wrong_fact_is_corrected_with_the_keyboard_alone(browser: Browser) -> None:
    async with Server(load_config(SETTINGS, environ={}), {}) as server, visiting(browser, server) as visit:
        session = await turn(server, "I go to Rope Quay.", BlockFields(location="Rope Quay"))
        page = visit.page
        await visit.open("now", session=session)
        await page.focus("[data-kind=hp] [data-action=edit]")
        await page.keyboard.press("Enter")
        await page.wait_for_selector("[data-item=correction] input[name=hp]:focus")
        await page.keyboard.press("Control+a")
        await page.keyboard.type("41")
        await page.keyboard.press("Enter")
        await page.wait_for_selector("[data-item=effect] ins")
        while await page.evaluate("document.activeElement.dataset.action") != "save":
            await page.keyboard.press("Tab")
        await page.keyboard.press("Enter")
        await page.wait_for_selector("[data-kind=hp] :text('41 /')")
        assert (await server.saga.describe(session))["hp"] == 41
        assert await page.evaluate("document.activeElement.dataset.action") == "edit", "one goes on from there"
        await page.focus("[data-kind=hp] [data-action=edit]")
        await page.keyboard.press("Enter")
        await page.wait_for_selector("[data-item=correction]")
        await page.keyboard.press("Escape")
        await page.wait_for_selector("[data-item=correction]", state="detached")
        assert await page.evaluate("document.activeElement.dataset.action") == "edit"


@pytest.mark.deep
async def test_a_world_is_edited_with_its_faults_line_by_line(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "worlds" / "mill" / "LOREBOOK.md"
    file.parent.mkdir(parents=True)
    file.write_text(LORE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    async with Server(load_config(SETTINGS, environ={}), {}) as server, visiting(browser, server, "phone") as visit:
        worlds = server.saga.worlds
        worlds.roots = (tmp_path / "worlds", *worlds.roots)
        page = visit.page
        session = await server.saga.sessions.create(world="mill", label="one")
        await visit.open("lore", session=session.id)
        await page.fill("[data-item=text]", FAULTY)
        await page.click("[data-action=check]")
        await page.wait_for_selector("[data-item=problem][data-line='3']")
        assert await visit.too_wide() == 0 and await visit.findings() == []
        await page.click("[data-item=problem] [data-action=go]")
        selected = (
            "(() => { const at = document.activeElement; return at.value.slice(at.selectionStart, at.selectionEnd) })()"
        )
        assert await page.evaluate(selected) == "- layer: A9"
        assert file.read_text(encoding="utf-8") == LORE, "nothing was written"
        await page.fill("[data-item=text]", LORE.replace("old", "burnt"))
        await page.click("[data-action=check]")
        await page.wait_for_selector("[data-item=worlds] .notice.good")
        await page.click("[data-action=write]")
        await page.wait_for_selector("[data-item=worlds] .notice.good:has-text('New stories begin')")
        assert "burnt" in file.read_text(encoding="utf-8")
        other = await server.saga.sessions.create(world="mill", label="two")
        assert (await server.saga.views.lore(other.id))["entries"][0]["text"] == "An burnt mill.", "without a restart"
        await page.fill("[data-item=try] input", "I walk to the mill.")
        await page.click("[data-action=try]")
        await page.wait_for_selector("[data-item=would] [data-key='lore:The Mill']")
        await page.click("[data-item=entry] summary")
        await page.click("[data-item=entry] [data-action=edit]")
        await page.fill("[data-item=correction] textarea", "It burnt down.")
        await page.click("[data-action=preview]")
        await page.click("[data-item=correction] [data-action=save]")
        await page.wait_for_selector("[data-item=entry] .notice:has-text('It burnt down.')")


@pytest.mark.deep
async def test_health_looks_at_everything_and_backs_up(browser: Browser, tmp_path: Path) -> None:
    tree = {**SETTINGS, "storage": {"profile": "lite", "path": str(tmp_path)}}
    async with Server(load_config(tree, environ={}), {}) as server, visiting(browser, server, "phone") as visit:
        visit.allowed.add("501")  # these settings are in no file
        await turn(server, "I go to Rope Quay.", BlockFields(location="Rope Quay"))
        await server.saga.drain(30)
        page = visit.page
        await visit.open("health")
        await page.wait_for_selector("[data-item=store]")
        stores = (await visit.api("/api/status"))["stores"]
        shown = [await each.get_attribute("data-name") for each in await page.locator("[data-item=store]").all()]
        assert shown == list(stores)
        await page.click("[data-action=backup]")
        await page.wait_for_selector("[data-item=backup]")
        assert [each["there"] for each in (await visit.api("/api/backups"))["backups"]] == [True]
        await page.click("[data-action=doctor]")
        await page.wait_for_selector("[data-item=verdict]")
        assert len(await visit.texts("[data-item=examined]")) > 3
        await page.click("[data-action=verify]")
        await page.wait_for_selector("[data-item=equal]")
        await page.click("[data-action=reload-settings]")
        await page.wait_for_selector("[data-item=settings] [data-item=error]")
        lines = (await visit.api("/api/log"))["lines"]
        await page.click("[data-action=read-log]")
        await page.wait_for_function(f"document.querySelectorAll('[data-item=lines] li').length >= {len(lines)}")
        server.saga.counters.degrade("something.odd", "it is <b>odd</b>; restart it")
        await page.wait_for_selector(
            "[data-item=mode][data-name='something.odd'] :text('it is <b>odd</b>; restart it')"
        )
        server.saga.counters.recover("something.odd")
        await page.wait_for_selector("[data-item=mode]", state="detached")
        assert await visit.too_wide() == 0 and await visit.findings() == []


@pytest.mark.deep
async def test_start_sends_a_message_and_the_bill_is_the_api_s(browser: Browser) -> None:
    async with Server(load_config(SETTINGS, environ={}), {}) as server, visiting(browser, server) as visit:
        page = visit.page
        await visit.open("start")
        await page.click("[data-action=test]")
        await page.wait_for_selector("[data-item=reply]")
        (session,) = [each.session.id for each in await server.saga.sessions.list()]
        for theme in ("dark", "light", "auto"):
            await page.select_option("[data-action=theme]", theme)
            await page.wait_for_selector(f"html[data-theme={theme}]")
        await visit.open("bill", session=session)
        bills = (await visit.api(f"/api/sessions/{session}/bills"))["bills"]
        assert bills and len(await visit.texts("[data-item=plot] [data-item=bill]")) == len(bills)
        cost = await visit.api(f"/api/sessions/{session}/cost")
        shown = await visit.texts("[data-item=kinds] [data-item=input]")
        assert shown == [f"{cost['narration']['input']:,}"]


@pytest.mark.deep
async def test_the_graph_is_filtered_and_goes_back_in_time_and_a_branch_goes(browser: Browser) -> None:
    async with Server(load_config(SETTINGS, environ={}), {}) as server, visiting(browser, server) as visit:
        session = await play_demo(server)
        page = visit.page
        await visit.open("people", session=session)
        await page.wait_for_selector("[data-item=graph][data-drawn=true]")
        before = await page.get_attribute("[data-item=graph]", "aria-label")
        await page.click("[data-action=filter][data-name=Location]")
        await page.wait_for_function(
            "was => document.querySelector('[data-item=graph]')?.getAttribute('aria-label') !== was", arg=before
        )
        await page.click("[data-item=slider] [data-action=earlier]")
        depth = (await visit.api(f"/api/sessions/{session}"))["depth"]
        await page.wait_for_function(f"location.hash.includes('at={depth - 1}')")
        await page.click("[data-item=entity] >> nth=0")
        await page.wait_for_selector("[data-item=one]")

        runs = (await visit.api(f"/api/sessions/{session}/runs"))["runs"]
        branch = next(run for run in runs if not run["active"])
        await visit.open("story", session=session, turn=branch["id"])
        await page.click("[data-item=play-on] > summary")
        await page.click("[data-item=fork] summary")
        await page.fill("[data-item=fork] input[name=name]", "the biscuit")
        await page.click("[data-action=fork]")
        line = '[data-item=timeline][data-name="the biscuit"]'
        await page.click(f"{line} [data-action=rename]")
        await page.fill("[data-item=timeline] input[name=name]", "the crumb")
        await page.click("[data-item=timeline] [data-action=save]")
        await page.wait_for_selector('[data-item=timeline][data-name="the crumb"]')
        whole = await visit.api(f"/api/sessions/{session}/turns/{branch['id']}")
        await page.click("[data-action=prune]")
        await page.wait_for_selector("[data-item=prune][open]")
        assert "the crumb" in " ".join(await visit.texts("[data-item=prune]")), "what is lost is named before"
        await page.click("[data-action=prune-yes]")
        await page.wait_for_selector(f"[data-item=run][data-turn={branch['id']}]", state="detached")
        after = (await visit.api(f"/api/sessions/{session}/runs"))["runs"]
        left = sum(run["turns"] + run["swipes"] for run in runs) - whole["below"]["turns"]
        assert sum(run["turns"] + run["swipes"] for run in after) == left
