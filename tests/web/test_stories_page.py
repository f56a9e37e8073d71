"""Stories have names, are found and deleted by them, and a deletion can be undone for a day."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.web.chromium import MISSING

pytest.importorskip("playwright", reason=MISSING)

from saga_core.config import load_config
from saga_core.errors import NotFound
from saga_core.maintenance import ImportOptions
from saga_core.maintenance.trash import KEPT, empty_trash
from saga_server.server import Server
from tests.core.frontend import Frontend
from tests.core.imports import samples
from tests.web.browsing import Browser, visiting
from tests.web.conftest import SETTINGS

pytestmark = pytest.mark.asyncio(loop_scope="session")

CARD = "Write Hana's next reply in a fictional chat between Hana and Dez.\nHana keeps a small bakery."


async def test_a_story_shows_the_picture_of_its_card(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with Server(load_config(SETTINGS, environ={}), {}) as server, visiting(browser, server) as visit:
        files = [("Ysolde.png", samples.card_png(samples.card_v2())), ("chat.jsonl", samples.st_chat())]
        await server.saga.maintenance.import_files(files, ImportOptions())
        await visit.open("stories")
        await visit.page.wait_for_selector("[data-item=portrait]")
        assert await visit.page.eval_on_selector(
            "[data-item=portrait]", "each => each.decode().then(() => each.naturalWidth)"
        )
        await visit.page.click("[data-action=open]")
        await visit.page.wait_for_selector("[data-item=session-name] [data-item=portrait]")


@pytest.mark.parametrize("size", ["phone", pytest.param("desktop", marks=pytest.mark.deep)])
async def test_a_story_is_found_by_its_title_deleted_and_brought_back(browser: Browser, size: str) -> None:
    async with Server(load_config(SETTINGS, environ={}), {}) as server, visiting(browser, server, size) as visit:
        page, saga = visit.page, server.saga
        chat = Frontend(saga, greeting="", system=CARD, note="")
        begun = await chat.say("I come in.", "Hana looks up from the oven.", npc_met=("Hana",))
        await Frontend(saga, session="The mill").say("I go in.", "The mill is dark.", location="Mill")
        failed = await Frontend(saga, greeting="", system="A bare card.").begin("Hello?")
        failed.replies[0].finish()
        await failed.commit()
        await saga.drain(10)
        await visit.open("stories")
        await page.wait_for_selector("[data-item=story] >> nth=1")
        names = await visit.texts("[data-item=story] strong")
        assert names == ["The mill", "Hana · Dez"], "and none for the request that failed"
        shown = await visit.texts("[data-action=session] option")
        assert [text.partition(" · turn")[0] for text in shown] == names
        assert await visit.too_wide() == 0 and await visit.findings() == []
        await page.fill("[data-action=search]", "hana")
        await page.wait_for_selector("[data-item=story] >> nth=1", state="detached")
        await page.click("[data-item=story] [data-action=delete]")
        await page.wait_for_selector("[data-item=trashed] :text('Hana · Dez')")
        with pytest.raises(NotFound):
            await saga.sessions.get(begun.session.id)
        assert await empty_trash(saga.parts.stores.state, saga.parts.clock.now()) == 0
        assert await visit.findings() == []
        await page.click("[data-action=restore]")
        await page.wait_for_selector("[data-item=trash]", state="detached")
        await page.wait_for_selector("[data-item=story] :text('Hana · Dez')")
        turns = await saga.views.turns(begun.session.id)
        assert [turn.reply for turn in turns[1:]] == ["Hana looks up from the oven."]
        await page.click("[data-item=story] [data-action=delete]")
        await page.wait_for_selector("[data-item=trashed]")
        await page.click("[data-action=discard]")
        assert await visit.too_wide() == 0 and await visit.findings() == []
        await page.click("[data-item=discard] [data-action=cancel]")
        assert len(await saga.parts.stores.state.scan(("trash",))) > 0, "it is asked first"
        await page.click("[data-action=discard]")
        await page.click("[data-action=discard-yes]")
        await page.wait_for_selector("[data-item=trash]", state="detached")
        assert await saga.parts.stores.state.scan(("trash",)) == []
        await page.fill("[data-action=search]", "mill")
        await page.click("[data-item=story] [data-action=delete]")
        await page.wait_for_selector("[data-item=trashed]")
        assert await empty_trash(saga.parts.stores.state, saga.parts.clock.now() + KEPT) == 1
        assert await saga.parts.stores.state.scan(("trash",)) == []
