"""``python -m tests.web.pictures FOLDER en``: saves the pages of a played adventure as PNG files, for docs/pages.md.

Needs Chromium and playwright.
"""

from __future__ import annotations

import asyncio
import sys
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from saga_core.config import load_config
from saga_server.demo.adventure import Adventure, adventure
from saga_server.server import Server
from tests.web.chromium import MISSING, chromium
from tests.web.stories import tell

PAGES: Final = (
    "start", "stories", "now", "story", "people", "memories", "why",
    "lore", "bill", "transfer", "settings", "health",
)  # fmt: skip
_DESK: Final = {"width": 1000, "height": 700}
_PHONE: Final = {"width": 360, "height": 700}
_ON_THE_PHONE: Final = ("now", "story", "people")
_SETTLED_MS: Final = 700
_SETTINGS: Final = {
    "storage": {"profile": "memory"},
    "server": {"port": 0, "drain_timeout": 5},
    "extraction": {"automatic": "never"},
}


async def take_pictures(story: Adventure, folder: Path) -> list[Path]:
    """Play the adventure on a server in memory, and save a picture of each page."""
    program = chromium()
    if program is None:
        sys.exit(MISSING)
    playwright: Any = import_module("playwright.async_api")
    async with Server(load_config(_SETTINGS, environ={}), {}) as server:
        session = await tell(story, server.url)
        await server.saga.memory.correct(session, "mood", {"mood": {"ko": "경계하는"}.get(story.language, "watchful")})
        await server.saga.drain(30)
        async with playwright.async_playwright() as driver:
            browser = await driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
            found = await _shots(browser, server.url, session, story.language, folder)
            await browser.close()
    return found


async def _shots(browser: Any, url: str, session: str, language: str, folder: Path) -> list[Path]:
    found: list[Path] = []
    for size, names, dark in ((_DESK, PAGES, False), (_PHONE, _ON_THE_PHONE, True)):
        context = await browser.new_context(viewport=size, locale=language, color_scheme="dark" if dark else "light")
        page = await context.new_page()
        for name in names:
            await page.goto(f"{url}/ui/#/{name}?session={session}")
            await page.wait_for_selector(f"main[data-page={name}] [data-item]")
            if name == "story":
                await page.click("[data-item=run]:last-child [data-action=open]")
                await page.wait_for_selector("[data-item=turn] blockquote")
            await page.wait_for_timeout(_SETTLED_MS)
            path = folder / f"{name}{'-phone' if dark else ''}.png"
            await page.screenshot(path=path)
            found.append(path)
        await context.close()
    return found


if __name__ == "__main__":
    place = Path(sys.argv[1])
    place.mkdir(parents=True, exist_ok=True)
    for path in asyncio.run(take_pictures(adventure("ko" if sys.argv[2:] == ["ko"] else "en"), place)):
        print(path)
