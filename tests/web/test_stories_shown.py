"""Nothing of a story is ever markup, a script, or anything else that a browser obeys."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from saga_core.config import load_config
from saga_core.state_block import BlockFields
from saga_server.server import Server
from tests.blocks import render_block
from tests.web.chromium import MISSING

pytest.importorskip("playwright", reason=MISSING)

from tests.web.browsing import Browser, visiting
from tests.web.conftest import SETTINGS
from tests.web.test_pages import PAGES

pytestmark = pytest.mark.asyncio(loop_scope="session")

MARKUP = '<img src=x onerror="window.harmed=1"><script>window.harmed=1</script>'
TURNED = "abc\u202egnp.exe\u2066"
CONTROL = "a\u007fb\u200fc"
LONG = "w" * 10_000
NAMES = (MARKUP, TURNED, CONTROL, "</textarea><svg/onload=harmed=1>", "javascript:harmed=1", "${harmed=1}", "'\"><b>")


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def hostile() -> AsyncIterator[tuple[Server, str]]:
    """A session in which everything has such a name."""
    async with Server(load_config(SETTINGS, environ={}), {}) as server:
        saga = server.saga
        begun = await saga.begin([{"role": "user", "content": f"{MARKUP} {LONG}"}], session=MARKUP)
        block = render_block(BlockFields(location=MARKUP, npc_met=NAMES, notes=LONG[:500], mood=TURNED))
        begun.replies[0].feed(f"{MARKUP} {LONG} {TURNED}\n{block}")
        begun.replies[0].finish()
        await begun.commit()
        session = (await saga.sessions.list())[0].session.id
        player = (await saga.describe(session))["player"]
        for name in NAMES:
            await saga.memory.correct(session, "give", {"item": name})
        for each in [each for each in await saga.memory.entities(session) if each["kind"] == "character"][1:]:
            await saga.memory.correct(session, "relation", {"from": each["id"], "to": player, "type": each["name"]})
        await saga.memory.correct(session, "note", {"text": LONG[:2_000]})
        await saga.memory.correct(session, "event", {"name": MARKUP, "text": TURNED})
        await saga.drain(30)
        yield server, session


@pytest.mark.parametrize("size", ["phone", pytest.param("desktop", marks=pytest.mark.deep)])
async def test_no_text_is_obeyed(browser: Browser, hostile: tuple[Server, str], size: str) -> None:
    server, session = hostile
    async with visiting(browser, server, size) as visit:
        found = {}
        for name in PAGES:
            await visit.open(name, session=session)
            await visit.page.wait_for_timeout(150)
            harmed = await visit.page.evaluate("Boolean(window.harmed) || document.querySelectorAll('img,b').length")
            found[name] = (int(harmed), await visit.too_wide())
        assert found == dict.fromkeys(found, (0, 0))
        entities = (await visit.api(f"/api/sessions/{session}/entities"))["entities"]
        turn = (await visit.api(f"/api/sessions/{session}/turns"))["turns"][-1]["turn_id"]
        places = [("people", {"who": each["id"]}) for each in entities if each["name"] in NAMES]
        assert len(places) >= len(NAMES)
        for name, params in [*places, ("story", {"turn": turn}), ("why", {"turn": turn}), ("now", {"turn": turn})]:
            await visit.open(name, session=session, **params)
            await visit.page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
            for button in await visit.page.locator("main [data-action=edit], main [data-action=rename]").all():
                await button.click()
            assert not await visit.page.evaluate("Boolean(window.harmed) || document.querySelectorAll('img,b').length")
            assert await visit.too_wide() == 0, (name, params)
        await visit.open("now", session=session)
        directions = await visit.page.eval_on_selector_all("main .text", "all => all.map(each => each.dir)")
        assert directions and set(directions) == {"auto"}, "each text keeps its direction to itself"
        shown = " ".join(await visit.texts("main"))
        assert MARKUP in shown and "\u202e" not in shown and "\u2066" not in shown and "\u007f" not in shown
