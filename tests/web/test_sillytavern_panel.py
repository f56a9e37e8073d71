"""The panel inside the real SillyTavern: installed by the command, played with swipes, edits, a branch and a group."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from tests.web.chromium import MISSING

pytest.importorskip("playwright", reason=MISSING)

from saga_core.config import load_config
from saga_core.state_block import ItemAmount
from saga_server.cli.saga_command import main
from saga_server.server import Server
from tests.core.frontend import block
from tests.server.upstream import Upstream, says
from tests.web.browsing import Browser
from tests.web.tavern import Tavern, free_port, running, sillytavern

# It installs and builds SillyTavern, which takes a minute. What the panel asks of SAGA is tested in each run.
pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.deep]

NO_TAVERN = "NO SILLYTAVERN: it needs node and npm (npm install sillytavern), and the panel was not tried in it"
PANEL = "#saga_panel"


def _settings(upstream: Upstream, port: int, folder: Path) -> dict[str, Any]:
    return {
        "storage": {"profile": "lite", "path": str(folder / "saga")},
        "server": {"port": port, "drain_timeout": 5},
        "providers": {"openai": {"base_url": upstream.url, "api_key": "sk-up", "max_retries": 0}},
        "models": {"narration": "openai/narrator-1"},
        "extraction": {"automatic": "never", "reporting": "block"},
        "trackers": {"gold": {"kind": "number", "start": "12"}},
    }


async def _lines(tavern: Tavern, saga: str) -> tuple[list[str], list[str]]:
    """What the panel shows of now, and what the API says at the turn that the panel shows, once they are the same."""
    for _ in range(50):
        shown, known = await _lines_now(tavern, saga)
        if shown == known:
            break
        await asyncio.sleep(0.2)  # the panel reads again after a reply
    return shown, known


async def _lines_now(tavern: Tavern, saga: str) -> tuple[list[str], list[str]]:
    shown = await tavern.page.locator(f"{PANEL} [data-saga-line]").evaluate_all(
        "rows => rows.map(row => row.dataset.sagaLine)"
    )
    found = await tavern.page.evaluate("SillyTavern.getContext().chatMetadata.saga.session")
    turn = await tavern.page.get_attribute(f"{PANEL} [data-saga=panel-turn]", "data-turn")
    response = await tavern.page.request.get(f"{saga}/api/sessions/{found}/lines?turn={turn}")
    lines = json.loads(await response.text()).get("lines", [])  # none while the panel is still at another chat
    return sorted(shown), sorted(each["kind"] for each in lines if each["kind"] != "mood" or each["text"])


async def test_the_panel_plays_along_in_the_real_sillytavern(browser: Browser, tmp_path: Path) -> None:
    folder = sillytavern()
    if folder is None:
        pytest.skip(NO_TAVERN)
    port, file = free_port(), tmp_path / "saga.yaml"
    async with Upstream(lenient=True) as upstream, running(folder, tmp_path) as url:
        file.write_text(yaml.safe_dump(_settings(upstream, port, tmp_path)), encoding="utf-8")
        command = ["sillytavern", "install", str(folder), "--address", url, "--config", str(file)]
        installing = CliRunner().invoke(main, command)
        assert installing.exit_code == 0 and "is in its extensions drawer" in installing.output, installing.output
        try:
            await _play(browser, upstream, url, file, port)
        finally:
            removing = CliRunner().invoke(main, ["sillytavern", "remove", str(folder)])
        assert removing.exit_code == 0 and not (folder / "public/scripts/extensions/third-party/saga").exists()


async def _play_in_a_group(tavern: Tavern, upstream: Upstream, saga: str) -> None:
    page = tavern.page
    await page.evaluate("document.querySelector('[name=saga_on]').click()")
    alone = await page.evaluate("SillyTavern.getContext().chatMetadata.saga.session")
    await tavern.group("The crew", ["Seraphina"])
    await page.evaluate(
        """() => SillyTavern.getContext().eventSource.on('chat_completion_settings_ready', (data) => {
            window.sagaHeaders = data.custom_include_headers;
        })"""
    )
    upstream.then(says("Seraphina nods." + block(location="Ford")))
    await tavern.say("We cross the ford.")
    assert 'X-SAGA-Member: "Seraphina"' in await page.evaluate("window.sagaHeaders")
    shown, known = await _lines(tavern, saga)
    assert shown == known and "place" in shown
    assert await page.evaluate("SillyTavern.getContext().chatMetadata.saga.session") != alone


async def _play(browser: Browser, upstream: Upstream, url: str, file: Path, port: int) -> None:
    config, saga = load_config(file, environ={}), f"http://127.0.0.1:{port}"
    assert config.server.origins == (url,)
    context = await browser.new_context(viewport={"width": 1280, "height": 900}, locale="en-US")
    page = await context.new_page()
    page.set_default_timeout(60_000)  # beside the other tests
    tavern = Tavern(page, url)
    async with Server(config, {}):
        await tavern.open("Dez")
        await tavern.connect(f"{saga}/v1")
        await tavern.go("Seraphina")
        upstream.then(
            says("You reach the glade." + block(location="Glade", items_gained=(ItemAmount("rope", 1),))),
            says("Mina comes." + block(npc_met=("Mina",), mood="glad")),
            says("Mina laughs." + block(mood="merry")),
        )
        await tavern.say("I go to the glade.")
        assert upstream.requests[-1].text.count("saga:") == 0, "the model sees nothing of the headers"
        await tavern.say("I call Mina.")
        await tavern.show()
        shown, known = await _lines(tavern, saga)
        assert shown == known and {"item", "present", "place", "tracker:gold"} <= set(shown)
        assert await page.locator(f"{PANEL} [data-saga-changed=mood]").count() == 1
        heights = "buttons => buttons.map(each => each.getBoundingClientRect().height)"
        buttons = await page.locator(f"{PANEL} [data-saga=now] button").evaluate_all(heights)
        assert buttons and max(buttons) < 60, "the words of a button stand in one line"
        # A correction is in the next prompt, also after a swipe.
        await page.select_option(f"{PANEL} [name=kind]", "move")
        await page.fill(f"{PANEL} [name=place]", "Old Mill")
        await page.click(f"{PANEL} [data-saga=form] button")
        await page.wait_for_selector(f"{PANEL} [data-saga-line=place]:has-text('Old Mill')")
        # What is being written stays while the panel reads again; a fact that was added outlives the swipe, too.
        await page.fill(f"{PANEL} [name=text]", "Mina is allergic to shrimp.")
        await page.evaluate("SillyTavern.getContext().eventSource.emit('chat_id_changed')")
        await page.wait_for_timeout(1_000)
        await page.click(f"{PANEL} [data-saga=form] button")
        await page.wait_for_selector(f"{PANEL} [data-saga-line=note]:has-text('shrimp')")
        await tavern.hide()
        await tavern.swipe()
        assert "Old Mill" in upstream.requests[-1].text and "shrimp" in upstream.requests[-1].text
        await tavern.show_again()
        shown, known = await _lines(tavern, saga)
        assert shown == known
        assert "Old Mill" in await page.inner_text(f"{PANEL} [data-saga-line=place]")
        change = page.locator(f"{PANEL} [data-saga=changed] [data-saga-change]:has-text('Old Mill') button").first
        await change.click()
        await page.wait_for_selector(f"{PANEL} [data-saga-line=place]:has-text('Glade')")
        await tavern.hide()
        await tavern.edit(-1, "Mina laughs no more.")
        for number in range(5):
            await tavern.say(f"I wait, {number}.")
        assert "Mina laughs no more." in upstream.requests[-1].text, "what was edited is what the model reads"
        shown, known = await _lines(tavern, saga)
        assert shown == known
        session = await page.evaluate("SillyTavern.getContext().chatMetadata.saga.session")
        branch = await page.evaluate("SillyTavern.getContext().chat.length - 5")
        await tavern.command(f"/branch-create {branch}")
        await page.wait_for_timeout(1_500)
        await tavern.say("I go another way.")
        assert await page.evaluate("SillyTavern.getContext().chatMetadata.saga.session") == session
    async with Server(config, {}):  # started again
        await page.reload()
        await page.wait_for_function("window.SillyTavern && !document.querySelector('#preloader')", timeout=90_000)
        await tavern.connect(f"{saga}/v1")
        await tavern.go("Seraphina")
        await tavern.show()
        await page.wait_for_selector(f"{PANEL} [data-saga-line=place]")
        shown, known = await _lines(tavern, saga)
        assert shown == known
        await page.uncheck(f"{PANEL} [name=saga_on]")
        assert not await page.is_visible(f"{PANEL} [data-saga=body]")
        await tavern.hide()
        before = len(upstream.requests)
        await tavern.say("I go on without a panel.")
        assert len(upstream.requests) == before + 1
        await _play_in_a_group(tavern, upstream, saga)
    await context.close()
