"""``saga demo --pictures``: saves the pages of a played adventure as PNG files. Needs Chromium and playwright."""

from __future__ import annotations

import shutil
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from saga_core.config import load_config
from saga_core.errors import NotSupported
from saga_server.demo.adventure import Adventure
from saga_server.demo.telling import tell
from saga_server.server import Server

PAGES: Final = ("start", "now", "story", "people", "memories", "why", "lore", "bill", "transfer", "health")
_DESK: Final = {"width": 1000, "height": 700}
_PHONE: Final = {"width": 360, "height": 700}
_ON_THE_PHONE: Final = ("now", "story", "people")
_SETTLED_MS: Final = 700
_SETTINGS: Final = {
    "storage": {"profile": "memory"},
    "server": {"port": 0, "drain_timeout": 5},
    "extraction": {"automatic": "never"},
}


def browser_program() -> str:
    """Return the path of Chromium. Raises ``NotSupported``, with what to install, if it or playwright is missing."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None or find_spec("playwright") is None:
        raise NotSupported("pictures need a browser: install chromium (apt-get install chromium) and playwright (pip)")
    return found


async def take_pictures(adventure: Adventure, folder: Path) -> list[Path]:
    """Play the adventure on a server in memory, and save a picture of each page. Raises ``NotSupported``."""
    program = browser_program()
    playwright: Any = import_module("playwright.async_api")  # needed for pictures only, and not a dependency of SAGA
    async with Server(load_config(_SETTINGS, environ={}), {}) as server:
        session = await tell(adventure, server.url)
        await server.saga.memory.correct(
            session, "mood", {"mood": {"ko": "경계하는"}.get(adventure.language, "watchful")}
        )
        await server.saga.drain(30)
        async with playwright.async_playwright() as driver:
            browser = await driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
            found = await _shots(browser, server.url, session, adventure.language, folder)
            await browser.close()
    return found


async def _shots(browser: Any, url: str, session: str, language: str, folder: Path) -> list[Path]:
    found: list[Path] = []
    for size, names, dark in ((_DESK, PAGES, False), (_PHONE, _ON_THE_PHONE, True)):
        context = await browser.new_context(viewport=size, locale=language, color_scheme="dark" if dark else "light")
        page = await context.new_page()
        for name in names:
            await page.goto(f"{url}/ui/#/{name}?session={session}")
            await page.wait_for_selector(f"main[data-page={name}] .part")
            if name == "story":
                await page.click("[data-item=run]:last-child [data-action=open]")
                await page.wait_for_selector("[data-item=turn] blockquote")
            await page.wait_for_timeout(_SETTLED_MS)
            path = folder / f"{name}{'-phone' if dark else ''}.png"
            await page.screenshot(path=path)
            found.append(path)
        await context.close()
    return found
