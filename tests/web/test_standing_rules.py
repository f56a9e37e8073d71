"""Decided once for all that is proposed alike: chosen at a proposal, listed on the page, and ended there."""

from __future__ import annotations

from typing import Any

import pytest

from saga_server.server import Server
from tests.server.upstream import Upstream
from tests.web.chromium import MISSING
from tests.web.test_backfill import TURNS, answered, imported

pytest.importorskip("playwright", reason=MISSING)

from tests.web.browsing import Browser, visiting

pytestmark = pytest.mark.asyncio(loop_scope="session")

WORDS = {
    "en-US": (
        "Always accept: what a model reads",
        "Always refuse: what a model reads",
        "The 4 that wait now",
        "asks you again",
    ),
    "ko-KR": (
        "항상 수락: 보고되지 않은 턴에서",
        "항상 거부: 보고되지 않은 턴에서",
        "지금 기다리는 4건도",
        "다시 묻습니다",
    ),
}
VIEWS = [
    pytest.param("desktop", "en-US", marks=pytest.mark.deep),
    ("phone", "ko-KR"),
    pytest.param("phone", "en-US", marks=pytest.mark.deep),
    pytest.param("desktop", "ko-KR", marks=pytest.mark.deep),
]


async def waiting(server: Server, session: str) -> list[dict[str, Any]]:
    return [each for each in await server.saga.memory.changes(session) if each["waiting"]]


@pytest.mark.parametrize(("size", "language"), VIEWS)
async def test_a_rule_is_made_at_a_proposal_and_ended(browser: Browser, size: str, language: str) -> None:
    accept, refuse, now, again = WORDS[language]
    async with (
        Upstream(otherwise=answered) as small,
        imported(small, review="ask") as (server, session),
        visiting(browser, server, size, language=language) as visit,
    ):
        page, backfill = visit.page, server.saga.background.backfill
        await backfill.step(session, 4)
        await visit.open("memories", session=session)
        await page.wait_for_selector("[data-item=proposal]")
        assert await page.locator("[data-item=standing]").count() == 0
        told = await visit.texts("[data-item=proposal] .text")
        ids = {each["id"] for change in await waiting(server, session) for each in change["events"] if "id" in each}
        assert ids and not any(each in text for each in ids for text in told), "what nobody knows yet has a name, too"
        await page.click("[data-item=proposal]:first-child [data-action=always]")
        assert now in (await visit.texts("[data-item=always]"))[0], "what it would come to is said before"
        assert await visit.too_wide() == 0 and await visit.findings() == []
        await page.keyboard.press("Escape")
        await page.wait_for_selector("[data-item=always]", state="detached")
        assert len(await waiting(server, session)) == 4 and await server.saga.memory.standing(session) == []

        await page.click("[data-item=proposal]:first-child [data-action=always]")
        await page.wait_for_selector("[data-action=always-accept]:focus")
        await page.keyboard.press("Enter")
        await page.wait_for_selector("[data-item=waiting]", state="detached")
        await page.wait_for_selector("[data-item=rule]")
        assert (await visit.texts("[data-item=rule] .text"))[0].startswith(accept)
        assert await waiting(server, session) == []
        listed = await visit.api(f"/api/sessions/{session}/standing")
        assert [each["verdict"] for each in listed["rules"]] == ["accept"]
        await backfill.step(session, 4)
        assert await waiting(server, session) == [], "what is read from then on counts at once"
        assert await visit.too_wide() == 0 and await visit.findings() == []

        await page.click("[data-item=rule] [data-action=ask-again]")
        await page.wait_for_selector("[data-item=standing]", state="detached")
        assert again in (await visit.texts("[data-item=said]"))[0], "nothing is told to the narrator of that"
        await backfill.step(session, 4)
        await page.wait_for_selector("[data-item=proposal]")  # the page heard of it by itself
        await page.click("[data-item=proposal]:last-child [data-action=always]")
        await page.click("[data-action=always-refuse]")
        await page.wait_for_selector("[data-item=rule]")
        await page.wait_for_selector("[data-item=waiting]", state="detached")
        assert (await visit.texts("[data-item=rule] .text"))[0].startswith(refuse)
        changes = await server.saga.memory.changes(session)
        assert (len(changes), sum(bool(each["undone"]) for each in changes)) == (12, 4)
        assert TURNS > 12
