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
        await page.wait_for_selector("[data-item=said]:has-text('The narrator is told once all its conditions hold')")
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
            "name": "The bells ring", "text": "", "due": 40, "expires": 60, "when": None, "told": None,
            "place": "Rope Quay", "who": None, "thread": None,
        }  # fmt: skip

        await page.click("[data-item=events] [data-action=undo]")
        await page.wait_for_selector("[data-item=events] .says:has-text('Rope Quay')", state="detached")
        assert await told() == ["The bells ring", "due at turn 40"]
        await page.click(f"{BELLS} [data-action=off]")
        await page.select_option(f"{FORM} select[name=outcome]", "cancelled")
        await page.click(f"{FORM} [data-action=preview]")
        await page.click(f"{FORM} [data-action=save]")
        await page.wait_for_selector(BELLS, state="detached")
        await page.wait_for_selector("[data-item=said]:has-text('told no more of it')")
        left = (await visit.api(f"/api/sessions/{session}/curation"))["schedule"]
        assert "The bells ring" not in [each["name"] for each in left]
        state = await visit.api(f"/api/sessions/{session}/state")
        assert "The bells ring" not in [each["name"] for each in state["events"]]


async def test_words_of_a_plan_are_changed_and_its_day_and_hour_stay(
    browser: Browser, played: tuple[Server, str]
) -> None:
    server, session = played
    await server.saga.memory.correct(session, "declare", {"declaration": "plans | kind=threads"})
    await server.saga.memory.correct(session, "declare", {"declaration": "hour | kind=clock | start=Monday 08:00"})
    await server.saga.memory.correct(session, "tracker", {"tracker": "plans", "value": "+coffee (tomorrow 09:00)"})
    await server.saga.memory.correct(session, "tracker", {"tracker": "hour", "value": "Tuesday 07:00"})
    async with visiting(browser, server, "phone") as visit:
        page, line = visit.page, "[data-item=events] [data-kind=event]:has-text('coffee')"
        await visit.open("now", session=session)
        assert "Day 2, Tuesday, 09:00" in (await visit.texts(f"{line} .says"))[0]
        await page.click(f"{line} [data-action=edit]")
        await page.fill(f"{FORM} input[name=text]", "two cups")
        await page.click(f"{FORM} [data-action=preview]")
        await page.wait_for_selector(
            "[data-item=effect] ins:has-text('coffee: two cups · plans · Day 2, Tuesday, 09:00')"
        )
        await page.click(f"{FORM} [data-action=cancel]")
        await page.click("[data-item=events] [data-action=add]")
        await page.fill(f"{FORM} input[name=name]", "picnic")
        await page.fill(f"{FORM} input[name=when]", "Wednesday 12:00")
        await page.click(f"{FORM} [data-action=preview]")
        await page.wait_for_selector("[data-item=effect] ins:has-text('picnic · Day 3, Wednesday, 12:00')")
