"""Every page, with a session that has just begun, a long one, a very long one, and one whose store is damaged."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from saga_core.config import load_config
from saga_server.server import Server
from tests.web.chromium import MISSING

pytest.importorskip("playwright", reason=MISSING)

from tests.web.browsing import Browser, Visit, visiting
from tests.web.conftest import SETTINGS
from tests.web.stories import damage_the_journal, damage_the_views, lose_turns, settings_of, write_story
from tests.web.test_pages import PAGES

pytestmark = pytest.mark.asyncio(loop_scope="session")

LONG, VERY_LONG = 300, 10_000
SIZES = ["phone", pytest.param("desktop", marks=pytest.mark.deep)]
UNREADABLE = ("500: ", "status of 500")


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def long_story(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[Path, str]]:
    """A folder with a story of 300 turns, and the session's id."""
    folder = tmp_path_factory.mktemp("long")
    yield folder, await write_story(folder, LONG)


async def look_at_every_page(visit: Visit, session: str | None, *, axe: bool = True) -> dict[str, list[object]]:
    """Open all ten; by page, what is not as it should be. Without ``axe`` it is only seen whether they are too wide."""
    found: dict[str, list[object]] = {}
    for name in PAGES:
        await visit.open(name, **({"session": session} if session else {}))
        await visit.page.wait_for_selector(".patience", state="detached")
        findings = await visit.findings() if axe else []
        found[name] = [each for each in (await visit.too_wide(), *findings) if each]
    return {name: wrong for name, wrong in found.items() if wrong}


@pytest.mark.parametrize("size", SIZES)
async def test_before_anything_was_played(browser: Browser, size: str) -> None:
    async with Server(load_config(SETTINGS, environ={}), {}) as server, visiting(browser, server, size) as visit:
        assert await look_at_every_page(visit, None) == {}  # and nothing was asked for that is not there
        for name in ("now", "story", "people", "memories", "why", "bill"):
            await visit.open(name)
            await visit.page.wait_for_selector("[data-item=no-session] a")
        session = await server.saga.sessions.create(label="new", world="harrow")
        assert await look_at_every_page(visit, session.id, axe=False) == {}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.deep
async def test_three_hundred_turns(browser: Browser, long_story: tuple[Path, str], size: str) -> None:
    folder, session = long_story
    async with Server(settings_of(folder), {}) as server, visiting(browser, server, size, language="ko-KR") as visit:
        assert await look_at_every_page(visit, session) == {}


@pytest.mark.deep
async def test_ten_thousand_turns(browser: Browser, tmp_path: Path) -> None:
    session = await write_story(tmp_path, VERY_LONG)
    async with Server(settings_of(tmp_path), {}) as server:
        for size in ("phone", "desktop"):
            async with visiting(browser, server, size) as visit:
                assert await look_at_every_page(visit, session) == {}


@pytest.mark.parametrize("size", SIZES)
async def test_a_journal_that_cannot_be_read(
    browser: Browser, long_story: tuple[Path, str], tmp_path: Path, size: str
) -> None:
    folder = shutil.copytree(long_story[0], tmp_path / "copy")
    damage_the_journal(folder)
    async with Server(settings_of(folder), {}) as server, visiting(browser, server, size) as visit:
        visit.allowed.update(UNREADABLE)
        assert await look_at_every_page(visit, long_story[1], axe=False) == {}
        for name in ("now", "story", "people", "memories", "why", "lore", "bill"):
            await visit.open(name, session=long_story[1])
            told = await visit.texts("main [data-item=error]")
            assert len(told) == 1 and "state.db: is damaged" in told[0], name
        assert await visit.findings() == []
        await visit.page.click("main [data-item=error] a[data-action=health]")
        await visit.page.wait_for_selector('[data-item=mode][data-name="journal.damaged"]')
        (told,) = await visit.texts('[data-item=mode][data-name="journal.damaged"]')
        assert "saga restore" in told and "--damaged --force" in told


@pytest.mark.deep
async def test_views_that_were_damaged_are_made_again(
    browser: Browser, long_story: tuple[Path, str], tmp_path: Path
) -> None:
    folder = shutil.copytree(long_story[0], tmp_path / "copy")
    damage_the_views(folder)
    async with Server(settings_of(folder), {}) as server:
        for size in ("phone", "desktop"):
            async with visiting(browser, server, size) as visit:
                assert await look_at_every_page(visit, long_story[1]) == {}


@pytest.mark.deep
@pytest.mark.parametrize("size", SIZES)
async def test_turns_that_were_lost(browser: Browser, long_story: tuple[Path, str], tmp_path: Path, size: str) -> None:
    folder = shutil.copytree(long_story[0], tmp_path / "copy")
    await lose_turns(folder)
    async with Server(settings_of(folder), {}) as server, visiting(browser, server, size) as visit:
        visit.allowed.update(UNREADABLE)
        assert await look_at_every_page(visit, long_story[1], axe=False) == {}
        for name in ("now", "story", "people", "memories", "why", "lore"):
            await visit.open(name, session=long_story[1])
            await visit.page.wait_for_selector("main [data-item=error] a[data-action=health]")
            told = await visit.texts("main [data-item=error]")
            assert all("the journal lost the turns" in each and "saga restore FILE" in each for each in told), name
            assert len(told) == len(set(told)), name
