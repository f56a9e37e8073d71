"""Events to come on the page Now: scheduled, edited with all that they wait for, undone and closed."""

from __future__ import annotations

import pytest

from saga_server.server import Server
from tests.web.chromium import MISSING

pytest.importorskip("playwright", reason=MISSING)

from tests.web.browsing import Browser, visiting

pytestmark = pytest.mark.asyncio(loop_scope="session")

FORM = "[data-item=events] [data-item=correction]"
BELLS = "[data-item=events] [data-kind=event]:has-text('The bells ring')"


async def test_an_event_is_scheduled_edited_undone_and_closed(browser: Browser, played: tuple[Server, str]) -> None:
    server, session = played
    async with visiting(browser, server, "phone") as visit:
        page = visit.page

        async def told() -> list[str]:
            return (await visit.texts(f"{BELLS} .says"))[0].split("\n")

        await visit.open("now", session=session)
        await page.click("[data-item=events] [data-action=add]")
        await page.fill(f"{FORM} input[name=name]", "The bells ring")
        await page.fill(f"{FORM} input[name=due]", "40")
        await page.click(f"{FORM} [data-action=preview]")
        await page.wait_for_selector("[data-item=effect] ins:has-text('The bells ring · due at turn 40')")
        assert await visit.too_wide() == 0 and await visit.findings() == []
        await page.click(f"{FORM} [data-action=save]")
        await page.wait_for_selector(BELLS)
        assert await told() == ["The bells ring", "due at turn 40"]

        await page.click(f"{BELLS} [data-action=edit]")
        assert await page.input_value(f"{FORM} input[name=due]") == "40", "what it waits for stays as it is"
        await page.fill(f"{FORM} input[name=expires]", "60")
        await page.fill(f"{FORM} input[name=place]", "Rope Quay")
        await page.click(f"{FORM} [data-action=preview]")
        await page.wait_for_selector("[data-item=effect] ins:has-text('until turn 60 · at: Rope Quay')")
        await page.click(f"{FORM} [data-action=save]")
        await page.wait_for_selector("[data-item=events] .says:has-text('Rope Quay')")
        assert await told() == ["The bells ring", "due at turn 40", "until turn 60", "at: Rope Quay"]
        lines = (await visit.api(f"/api/sessions/{session}/lines"))["lines"]
        (line,) = [each for each in lines if each["kind"] == "event" and each["scheduled"]["name"] == "The bells ring"]
        assert line["scheduled"] == {
            "name": "The bells ring", "text": "", "due": 40, "expires": 60, "place": "Rope Quay", "who": None,
            "thread": None,
        }  # fmt: skip

        await page.click("[data-item=events] [data-action=undo]")
        await page.wait_for_selector("[data-item=events] .says:has-text('Rope Quay')", state="detached")
        assert await told() == ["The bells ring", "due at turn 40"]
        await page.click(f"{BELLS} [data-action=off]")
        await page.click(f"{FORM} [data-action=save]")
        await page.wait_for_selector(BELLS, state="detached")
        left = (await visit.api(f"/api/sessions/{session}/curation"))["schedule"]
        assert "The bells ring" not in [each["name"] for each in left]
