"""What the policy of the pages promises, asked of a real browser: no markup, no script, no frame, no other address."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from saga_core.config import load_config
from saga_server.server import Server
from tests.web.chromium import MISSING

pytest.importorskip("playwright", reason=MISSING)

from tests.web.browsing import Browser, visiting
from tests.web.conftest import SETTINGS

pytestmark = pytest.mark.asyncio(loop_scope="session")

_INTO_MARKUP = """async () => {
    // Later, for a debugger that runs this very function may do more than a page may.
    await new Promise(go => setTimeout(go, 20));
    const tries = {
        innerHTML: text => { document.body.innerHTML = text; },
        insertAdjacentHTML: text => document.body.insertAdjacentHTML("beforeend", text),
        srcdoc: text => { document.createElement("iframe").srcdoc = text; },
        script: text => { document.createElement("script").text = text; },
        source: text => { document.createElement("script").src = text; },
        onclick: text => document.body.setAttribute("onclick", text),
        eval: text => window.eval(text),
        timer: text => setTimeout(text, 0),
    };
    return Object.entries(tries).filter(([, attempt]) => {
        try { attempt("window.harmed = 1"); return true; } catch { return false; }
    }).map(([name]) => name);
}"""
_INLINE = """() => {
    const link = document.createElement("a");
    link.href = "javascript:window.harmed=1";
    document.body.append(link);
    link.click();
    const style = document.createElement("style");
    style.textContent = "body { color: rgb(1, 2, 3) !important; }";
    document.head.append(style);
    return [Boolean(window.harmed), getComputedStyle(document.body).color === "rgb(1, 2, 3)"];
}"""
_ELSEWHERE = """async address => {
    const picture = new Promise(done => {
        const image = new Image();
        image.onload = () => done("shown");
        image.onerror = () => done("refused");
        image.src = address;
    });
    const sent = fetch(address, {mode: "no-cors"}).then(() => "sent", () => "refused");
    return [await picture, await sent];
}"""
ON_PURPOSE = (
    "Content Security Policy",
    "TrustedHTML",
    "TrustedScript",
    "TrustedURL",
    "left the host",
    "csp",
    "Refused",
)


@asynccontextmanager
async def stranger(body: str) -> AsyncIterator[tuple[str, list[str]]]:
    """Another server on this machine: its address, and what it was asked for."""
    asked: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        asked.append(request.path)
        return web.Response(text=body, content_type="text/html")

    app = web.Application()
    app.router.add_get("/{any:.*}", answer)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}", asked
    await runner.cleanup()


async def test_nothing_turns_a_text_into_markup_or_a_script(browser: Browser) -> None:
    async with Server(load_config(SETTINGS, environ={}), {}) as server, visiting(browser, server) as visit:
        visit.allowed.update(ON_PURPOSE)
        await visit.open("start")
        assert await visit.page.evaluate(_INTO_MARKUP) == []
        assert await visit.page.evaluate(_INLINE) == [False, False]
        await visit.page.wait_for_timeout(50)
        assert not await visit.page.evaluate("Boolean(window.harmed)")


async def test_nothing_is_sent_to_another_address(browser: Browser) -> None:
    async with (
        Server(load_config(SETTINGS, environ={}), {}) as server,
        stranger("here") as (elsewhere, asked),
        visiting(browser, server) as visit,
    ):
        visit.allowed.update(ON_PURPOSE)
        await visit.open("start")
        assert await visit.page.evaluate(_ELSEWHERE, f"{elsewhere}/taken?what=everything") == ["refused", "refused"]
        assert asked == []


async def test_another_page_can_show_them_in_no_frame(browser: Browser) -> None:
    async with Server(load_config(SETTINGS, environ={}), {}) as server:
        framing = f'<!doctype html><iframe src="{server.url}/ui/" width="600" height="600"></iframe>'
        async with stranger(framing) as (elsewhere, _):
            page = await (await browser.new_context()).new_page()
            await page.goto(elsewhere)
            await page.wait_for_timeout(300)
            (_, framed) = page.frames
            assert await framed.locator("main").count() == 0
            assert "SAGA" not in await framed.content()
            await page.context.close()
