"""Behind a proxy that puts a path in front: every page, its files, the API and the events are found below that path."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from aiohttp import ClientSession, ClientTimeout, web
from attrs import frozen

from saga_core.config import load_config
from saga_core.state_block import BlockFields
from saga_server.server import Server
from tests.web.chromium import MISSING

pytest.importorskip("playwright", reason=MISSING)

from tests.web.browsing import Browser, Visit, visiting
from tests.web.conftest import SETTINGS
from tests.web.test_live import turn
from tests.web.test_pages import PAGES

pytestmark = pytest.mark.asyncio(loop_scope="session")

_HOP_BY_HOP = {"connection", "keep-alive", "transfer-encoding", "content-length", "host"}


@frozen
class Proxied:
    """Where a server is reached from outside."""

    server: Server
    url: str


@asynccontextmanager
async def proxied(server: Server) -> AsyncIterator[Proxied]:
    """A reverse proxy that gives ``/behind/saga/…`` on to the server as ``/…``, and knows nothing else."""
    async with ClientSession(auto_decompress=False, timeout=ClientTimeout(total=None)) as http:

        async def pass_on(request: web.Request) -> web.StreamResponse:
            headers = {name: value for name, value in request.headers.items() if name.lower() not in _HOP_BY_HOP}
            path = f"{server.url}/{request.raw_path.removeprefix('/behind/saga/')}"
            asked = http.request(
                request.method, path, headers=headers, data=await request.read(), allow_redirects=False
            )
            async with asked as answer:
                kept = {name: value for name, value in answer.headers.items() if name.lower() not in _HOP_BY_HOP}
                response = web.StreamResponse(status=answer.status, headers=kept)
                await response.prepare(request)
                async for piece in answer.content.iter_any():
                    await response.write(piece)
                await response.write_eof()
                return response

        app = web.Application()
        app.router.add_route("*", "/behind/saga/{rest:.*}", pass_on)
        # A browser that goes away ends what is passed on to it. Else its events would be waited for without end.
        runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        try:
            yield Proxied(server, f"http://127.0.0.1:{runner.addresses[0][1]}/behind/saga")
        finally:
            await runner.cleanup()


@asynccontextmanager
async def visiting_behind(browser: Browser, reached: Proxied) -> AsyncIterator[Visit]:
    """A fresh tab that knows the proxy's address alone: a request beside it fails, for the proxy has no other path."""
    async with visiting(browser, reached, "phone") as visit:
        yield visit


async def test_all_that_a_page_asks_for_is_below_the_path(browser: Browser) -> None:
    async with Server(load_config(SETTINGS, environ={}), {}) as server, proxied(server) as reached:
        session = await turn(server, "I go to Rope Quay.", BlockFields(location="Rope Quay"))
        async with visiting_behind(browser, reached) as visit:
            asked: list[str] = []
            visit.page.on("request", lambda each: asked.append(each.url))
            for name in PAGES:
                await visit.open(name, session=session)
                await visit.page.wait_for_selector(".patience", state="detached")
            assert asked
            # A picture that the page made itself (blob:) is asked of nobody.
            assert [each for each in asked if not each.startswith((f"{reached.url}/", "blob:"))] == []
            assert any(each.endswith("/api/events") for each in asked)

            await visit.open("start")
            assert f"{reached.url}/v1" in await visit.texts("[data-item=addresses] code")

            await visit.open("now", session=session)
            await visit.page.wait_for_selector("[data-item=connection][data-state=live]", state="attached")
            await turn(server, "And now I go on to The Slakes, slowly.", BlockFields(location="The Slakes"))
            await visit.page.wait_for_selector("[data-kind=place] :text('The Slakes')")
            await visit.page.click("[data-kind=hp] [data-action=edit]")
            await visit.page.fill("input[name=hp]", "41")
            await visit.page.click("[data-action=preview]")
            await visit.page.click("[data-action=save]")
            await visit.page.wait_for_selector("[data-kind=hp] :text('41 /')")


async def test_a_browser_is_led_to_the_pages_below_the_path(browser: Browser) -> None:
    settings = load_config(SETTINGS, environ={})
    async with (
        Server(settings, {}) as server,
        proxied(server) as reached,
        visiting_behind(browser, reached) as visit,
    ):
        for path in ("/", "/ui", "/ui/"):
            await visit.page.goto(f"{reached.url}{path}")
            await visit.page.wait_for_selector("main[data-page=start]")
            assert visit.page.url.startswith(f"{reached.url}/ui/#/start")
