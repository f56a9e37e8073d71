"""A browser that notes what must not happen: errors in the console, requests that fail or leave the host."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from attrs import define, field
from playwright.async_api import Browser, Page, async_playwright

from tests.web.chromium import chromium

SIZES = {"desktop": (1280, 900), "phone": (360, 740)}
AXE = (Path(__file__).parent / "vendor" / "axe.js").read_text(encoding="utf-8")
_RUN_AXE = """async () => {
    const found = await axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]});
    return found.violations.map(each => ({id: each.id, impact: each.impact,
        where: each.nodes.slice(0, 4).map(at => at.html.slice(0, 160) + " :: " + at.failureSummary.slice(0, 300))}));
}"""


@asynccontextmanager
async def open_browser() -> AsyncIterator[Browser]:
    """Chromium without a window."""
    async with async_playwright() as driver:
        browser = await driver.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        yield browser
        await browser.close()


class Served(Protocol):
    """Wherever the pages are."""

    @property
    def url(self) -> str:
        """The address above ``/ui/``, without a slash at its end."""
        ...


@define(eq=False)
class Visit:
    """One page in the browser, and what went wrong in it."""

    page: Page
    server: Served
    wrong: list[str] = field(factory=list)
    allowed: set[str] = field(factory=set)
    """Parts of such lines that a test brings about on purpose."""

    def __attrs_post_init__(self) -> None:
        own = urlsplit(self.server.url).netloc
        page = self.page
        page.on("console", lambda said: said.type in ("error", "warning") and self._note(f"console: {said.text}"))
        page.on("pageerror", lambda error: self._note(f"error: {error}"))
        page.on("request", lambda asked: self._asked(asked.url, own))
        page.on("response", lambda got: got.status >= 400 and self._note(f"{got.status}: {got.url}"))
        page.on("requestfailed", lambda asked: self._failed(asked.url, asked.failure))

    def _note(self, text: str) -> None:
        self.wrong.append(text)

    def _asked(self, url: str, own: str) -> None:
        if urlsplit(url.removeprefix("blob:")).netloc != own:
            self._note(f"left the host: {url}")

    def _failed(self, url: str, why: str | None) -> None:
        if why != "net::ERR_ABORTED":  # a page that is left ends what it was reading
            self._note(f"failed: {url} ({why})")

    def problems(self) -> list[str]:
        """What went wrong, but for what is allowed."""
        return [each for each in self.wrong if not any(part in each for part in self.allowed)]

    async def open(self, page: str, **params: str) -> None:
        """Open a page by its address and wait until it shows something."""
        query = "&".join(f"{name}={value}" for name, value in params.items())
        await self.page.goto(f"{self.server.url}/ui/#/{page}?{query}")
        await self.page.wait_for_selector(f"main[data-page={page}] [data-item]:not([data-item=lost])")

    async def too_wide(self) -> int:
        """By how many pixels the page is wider than the window."""
        found: int = await self.page.evaluate("document.documentElement.scrollWidth - innerWidth")
        return max(0, found)

    async def findings(self) -> list[dict[str, Any]]:
        """What axe-core holds to be serious or critical."""
        await self.page.evaluate(AXE)
        found: list[dict[str, Any]] = await self.page.evaluate(_RUN_AXE)
        return [each for each in found if each["impact"] in ("serious", "critical")]

    async def texts(self, selector: str) -> list[str]:
        """What stands in the elements, without blanks around it."""
        return [text.strip() for text in await self.page.locator(selector).all_inner_texts()]

    async def api(self, path: str) -> Any:
        """What the admin API answers, asked beside the page."""
        response = await self.page.request.get(f"{self.server.url}{path}")
        return json.loads(await response.text())


@asynccontextmanager
async def visiting(
    browser: Browser, server: Served, size: str = "desktop", *, language: str = "en-US", dark: bool = False
) -> AsyncIterator[Visit]:
    """A fresh tab. Whatever went wrong in it fails the test."""
    width, height = SIZES[size]
    context = await browser.new_context(
        viewport={"width": width, "height": height}, locale=language, color_scheme="dark" if dark else "light"
    )
    visit = Visit(await context.new_page(), server)
    visit.page.set_default_timeout(10_000)
    yield visit
    await context.close()
    found = visit.problems()
    assert not found, found
