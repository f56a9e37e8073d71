"""The pages in a real browser: each at both sizes, what is shown is what the API answers, and an edit is told."""

from __future__ import annotations

import pytest

from saga_server.server import Server
from tests.web.chromium import MISSING

pytest.importorskip("playwright", reason=MISSING)

from tests.web.browsing import Browser, visiting

pytestmark = pytest.mark.asyncio(loop_scope="module")

PAGES = ["start", "now", "health"]


@pytest.mark.parametrize("size", ["desktop", "phone"])
async def test_every_page_opens_without_a_fault(browser: Browser, played: tuple[Server, str], size: str) -> None:
    server, session = played
    async with visiting(
        browser, server, size, dark=size == "phone", language="ko-KR" if size == "phone" else "en"
    ) as visit:
        found: dict[str, object] = {}
        for name in PAGES:
            await visit.open(name, session=session)
            await visit.page.wait_for_selector("[data-item=connection][data-state=live]", state="attached")
            found[name] = [await visit.too_wide(), await visit.findings()]
        assert found == {name: [0, []] for name in PAGES}


async def test_now_shows_what_the_api_says_and_an_edit_is_in_the_next_prompt(
    browser: Browser, played: tuple[Server, str]
) -> None:
    server, session = played
    async with visiting(browser, server) as visit:
        page = visit.page
        await visit.open("now", session=session)
        state = await visit.api(f"/api/sessions/{session}/state")
        assert state["location"] in (await visit.texts("[data-item=you] [data-kind=place]"))[0]
        shown = await visit.texts("[data-item=things] [data-item=line] .says")
        assert [text.split("×")[0].strip() for text in shown] == [each["name"] for each in state["inventory"]]
        assert len(await visit.texts("[data-item=line][data-kind=relation]")) == len(state["relationships"])

        await page.click("[data-kind=place] [data-action=edit]")
        await page.fill("[data-item=correction] input[name=place]", "Rope Quay")
        await page.click("[data-action=preview]")
        await page.wait_for_selector("[data-item=effect] ins")
        assert "Rope Quay" in (await visit.texts("[data-item=effect] ins"))[0]
        assert (await visit.api(f"/api/sessions/{session}/state"))["location"] == state["location"]
        await page.click("[data-action=save]")
        await page.wait_for_selector("[data-kind=place] [data-action=undo]")
        assert (await visit.api(f"/api/sessions/{session}/state"))["location"] == "Rope Quay"
        told = await server.saga.begin([{"role": "user", "content": "Where am I?"}], session=session)
        assert "Rope Quay" in str(told.plan)

        await page.click("[data-kind=place] [data-action=undo]")
        await page.wait_for_selector("[data-kind=place] [data-action=undo]", state="detached")
        assert (await visit.api(f"/api/sessions/{session}/state"))["location"] == state["location"]
