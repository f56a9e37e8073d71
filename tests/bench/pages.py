"""Measure the pages at ``/ui/``: the time until they show something, and the server's CPU while one stays open.

A real browser with an empty cache opens them. The server runs in a process of its own, with a long session.
"""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from aiohttp import ClientSession
from attrs import frozen

from tests.bench.play import Play, PlayOptions, write_play
from tests.bench.processes import ProcessFailed, cpu_milliseconds, end_process, start_server

Say = Callable[[str], None]

_OPENINGS: Final = 5
"""How often each page is opened. The fastest time counts, because other programs may disturb the rest."""
_PAGES: Final = (
    "start", "now", "story", "people", "memories", "why", "lore", "bill", "transfer", "health", "settings", "stories",
)  # fmt: skip
_PAUSE: Final = 2.0
"""Seconds between the turns of another session."""
_SETTLED: Final = 3.0


@frozen
class Goal:
    """A figure, its upper limit and its unit."""

    key: str
    label: str
    most: float | None
    unit: str


GOALS: Final = (
    Goal("first_ms", "the first page of a fresh browser shows something", 800, "ms"),
    Goal("other_ms", "the slowest other page, opened in the same tab", 400, "ms"),
    Goal("now_ms", "Now, on the long session", 1_000, "ms"),
    Goal("tree_ms", "Story, with the tree of the long session", 2_000, "ms"),
    Goal("graph_ms", "People and places, until the graph is drawn", 2_000, "ms"),
    Goal("sent_first_kb", "sent for a first page", None, "KB"),
    Goal("sent_all_kb", "sent for all pages", 200, "KB"),
    Goal("idle_percent", "an open page, nobody plays", 1, "% of a core"),
    Goal("playing_percent", "an open page, while another session plays", 1, "% of a core"),
)


def browser_program() -> str:
    """The path of Chromium. Raises ``ProcessFailed``, which says what to install."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None or find_spec("playwright") is None:
        raise ProcessFailed(
            "the pages need a browser: install chromium (apt-get install chromium) and playwright (pip)"
        )
    return found


async def run_pages(folder: Path, turns: int, seconds: float, say: Say) -> dict[str, float]:
    """Write a play of ``turns`` turns into ``folder``, open the pages, then leave one open twice for ``seconds``.

    Returns the figures by the keys of ``GOALS``. Raises ``ProcessFailed``.
    """
    program = browser_program()
    playwright: Any = import_module("playwright.async_api")
    say(f"playing {turns:,} turns")
    play = await write_play(folder, PlayOptions(turns))
    process, base, _ = await asyncio.to_thread(start_server, play.config)
    try:
        async with playwright.async_playwright() as driver:
            browser = await driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
            bench = _Bench(browser, base.removesuffix("/v1"), play, process.pid)
            say("opening the pages")
            found = await bench.openings()
            say(f"leaving one open, {seconds:g} seconds at a time")
            found |= await bench.leave_open(seconds)
            await browser.close()
        return found
    finally:
        await asyncio.to_thread(end_process, process)


@frozen
class _Bench:
    browser: Any
    url: str
    play: Play
    pid: int

    async def openings(self) -> dict[str, float]:
        """The milliseconds until each page shows its content, and the kilobytes that are sent for the pages."""
        session, found = self.play.session, {}
        _, sent = await self._open("now", session, "[data-item=line]")  # the server loads the session for this
        found["sent_first_kb"] = sent / 1_000
        for key, page, shows in (
            ("first_ms", "start", "[data-item=provider]"),
            ("now_ms", "now", "[data-item=line]"),
            ("tree_ms", "story", "[data-item=run]"),
            ("graph_ms", "people", "[data-item=graph][data-drawn]:not([data-drawn=false])"),
        ):
            found[key] = min([(await self._open(page, session, shows))[0] for _ in range(_OPENINGS)])
        context = await self.browser.new_context()
        page = await context.new_page()
        counting, taken = _Sent(page), dict[str, list[float]]()
        for _ in range(_OPENINGS):
            for name in _PAGES:
                began = time.perf_counter()
                await page.goto(f"{self.url}/ui/#/{name}?session={session}")
                await page.wait_for_selector(f"main[data-page={name}] [data-item]:not([data-item=lost])")
                taken.setdefault(name, []).append((time.perf_counter() - began) * 1_000)
        found["other_ms"] = max(min(each) for name, each in taken.items() if name != _PAGES[0])
        await page.goto(f"{self.url}/ui/#/people?session={session}")
        await page.wait_for_selector("[data-item=graph][data-drawn]:not([data-drawn=false])")
        found["sent_all_kb"] = await counting.sum() / 1_000
        await context.close()
        return found

    async def _open(self, name: str, session: str, shows: str) -> tuple[float, float]:
        """Milliseconds until a fresh browser shows the selector ``shows``, and the bytes of SAGA's files it got."""
        context = await self.browser.new_context()
        page = await context.new_page()
        counting = _Sent(page)
        began = time.perf_counter()
        await page.goto(f"{self.url}/ui/#/{name}?session={session}", wait_until="commit")
        await page.wait_for_selector(shows, timeout=60_000)
        taken = (time.perf_counter() - began) * 1_000
        sent = await counting.sum()
        await context.close()
        return taken, sent

    async def leave_open(self, seconds: float) -> dict[str, float]:
        """The server's extra CPU for an open page, in per cent of a core: idle, and while another session plays."""
        async with ClientSession() as http:
            chat: list[dict[str, str]] = []
            await self._play(http, chat, 4 * _PAUSE)  # load everything that is loaded lazily
            without = await self._taken(seconds, lambda: asyncio.sleep(seconds))
            alone = await self._taken(seconds, lambda: self._play(http, chat, seconds))
            context = await self.browser.new_context()
            page = await context.new_page()
            await page.goto(f"{self.url}/ui/#/now?session={self.play.session}")
            await page.wait_for_selector("[data-item=connection][data-state=live]", state="attached")
            await asyncio.sleep(_SETTLED)
            idle = await self._taken(seconds, lambda: asyncio.sleep(seconds))
            beside = await self._taken(seconds, lambda: self._play(http, chat, seconds))
            await context.close()
        return {"idle_percent": max(0.0, idle - without), "playing_percent": max(0.0, beside - alone)}

    async def _taken(self, seconds: float, doing: Callable[[], Any]) -> float:
        before = cpu_milliseconds(self.pid)
        await doing()
        after = cpu_milliseconds(self.pid)
        if before is None or after is None:
            raise ProcessFailed("neither the system nor psutil tells what CPU a process took")
        return (after - before) / (seconds * 10)

    async def _play(self, http: ClientSession, chat: list[dict[str, str]], seconds: float) -> None:
        """Play turns of another session for ``seconds``, with pauses."""
        ends = time.perf_counter() + seconds
        while (left := ends - time.perf_counter()) > 0:
            chat.append({"role": "user", "content": f"{len(chat)}. I look around the old mill once more."})
            body = {"model": "offline", "messages": chat}
            async with http.post(f"{self.url}/v1/chat/completions", json=body) as response:
                told = await response.json()
                response.raise_for_status()
            chat.append({"role": "assistant", "content": told["choices"][0]["message"]["content"]})
            await asyncio.sleep(min(_PAUSE, left))


class _Sent:
    """Counts the bytes of SAGA's own files that a page receives, as they go over the wire."""

    def __init__(self, page: Any) -> None:
        self._finished: list[Any] = []
        page.on("requestfinished", self._take)

    def _take(self, asked: Any) -> None:
        if "/ui/" in asked.url:
            self._finished.append(asked)

    async def sum(self) -> float:
        """The bytes of all files so far."""
        sizes = [await each.sizes() for each in self._finished]
        return float(sum(each["responseBodySize"] for each in sizes))


def rows(found: dict[str, float]) -> list[str]:
    """The figures as a Markdown table."""
    lines = ["| what | at most | measured |", "| --- | --- | --- |"]
    for goal in GOALS:
        most = "" if goal.most is None else f"{goal.most:,g} {goal.unit}"
        value = f"{found[goal.key]:.2f}" if goal.unit.startswith("%") else f"{found[goal.key]:,.0f}"
        lines.append(f"| {goal.label} | {most} | {value} {goal.unit} |")
    return lines


def missed(found: dict[str, float]) -> list[str]:
    """The goals that are not met, in words."""
    return [
        f"{goal.label}: {found[goal.key]:.1f} {goal.unit}, goal {goal.most:g}"
        for goal in GOALS
        if goal.most is not None and found[goal.key] > goal.most
    ]
