"""The settings page: what would be written is shown, the file keeps all else, and what waits for a restart is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.web.chromium import MISSING

pytest.importorskip("playwright", reason=MISSING)

from saga_core.config import Config, load_config
from saga_server.process.settings_file import changed_text
from saga_server.server import Server
from tests.web.browsing import Browser, visiting

pytestmark = pytest.mark.asyncio(loop_scope="session")

FILE = """# my settings
storage: {profile: memory}
server:
  port: 0  # any
models:
  narration: offline  # for now
extraction:
    automatic: never
"""


@pytest.mark.parametrize(
    ("size", "language"), [pytest.param("desktop", "en-US", marks=pytest.mark.deep), ("phone", "ko-KR")]
)
async def test_settings_are_changed_in_the_file(browser: Browser, tmp_path: Path, size: str, language: str) -> None:
    place = tmp_path / "saga.yaml"
    place.write_text(FILE, encoding="utf-8")

    def read() -> Config:
        return load_config(place, environ={})

    async with (
        Server(read(), {}, read_again=read, settings_file=place) as server,
        visiting(browser, server, size, language=language) as visit,
    ):
        page = visit.page
        await visit.open("settings")
        await page.fill("[name='models.narration']", "home/small")
        await page.select_option("[name='extraction.cards']", "false")
        await page.fill("[name=price_model]", "small")
        await page.fill("[name=price_input]", "0.5")
        await page.fill("[name=price_output]", "2")
        assert await visit.too_wide() == 0 and await visit.findings() == []
        await page.click("[data-action=preview]")
        await page.wait_for_selector("[data-item=diff] ins")
        assert await visit.texts("[data-item=diff] del") == ["-  narration: offline  # for now"]
        assert place.read_text(encoding="utf-8") == FILE, "nothing is written yet"
        assert await visit.too_wide() == 0 and await visit.findings() == []
        await page.click("[data-action=save]")
        await page.wait_for_selector("[data-item=saved]")
        after = place.read_text(encoding="utf-8")
        assert all(line in after for line in FILE.splitlines() if "narration" not in line)
        assert '  narration: "home/small"  # for now' in after and "    cards: false" in after
        config = read()
        assert config.models.facts == {"small": {"input": 0.5, "output": 2}} and not config.extraction.cards
        assert server.config.models.narration == "home/small", "and it applies at once"
        assert await page.input_value("[name='models.narration']") == "home/small"
        await page.fill("[name='token_budget.total_context_max']", "10")
        visit.allowed.add("400")
        await page.click("[data-action=preview]")
        await page.wait_for_selector("[data-item=error]")
        assert place.read_text(encoding="utf-8") == after


async def test_a_server_of_a_program_shows_its_settings_alone(browser: Browser, tmp_path: Path) -> None:
    config = load_config({"storage": {"profile": "memory"}, "server": {"port": 0}}, environ={})
    async with Server(config, {}) as server, visiting(browser, server) as visit:
        await visit.open("settings")
        assert await visit.page.is_disabled("[name='models.narration']")
        assert await visit.page.locator("[data-action=preview]").count() == 0
        assert await visit.findings() == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "a:\n  b: 1\n"),
        ("a:\n", "a:\n  b: 1\n"),
        ("a: {}\n", "a:\n  b: 1\n"),
        ("a:  # note\n  c: 2\n", "a:  # note\n  b: 1\n  c: 2\n"),
        ("a: {c: 2}\n", "a: {b: 1, c: 2}\n"),
        ("a:\n    b: 2  # two\nc: 3", "a:\n    b: 1  # two\nc: 3\n"),
        ("a:\n  b:\n", "a:\n  b: 1\n"),
        ("z: 1\n", "a:\n  b: 1\nz: 1\n"),
    ],
)
async def test_one_line_changes(before: str, after: str) -> None:
    assert changed_text(before, {("a", "b"): 1}) == after
    assert "b" not in changed_text(after, {("a", "b"): None})
