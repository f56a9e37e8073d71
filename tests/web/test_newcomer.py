"""Somebody who has nothing yet but a chat of SillyTavern, and plays on in it: all of it through doors, in one go."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from saga_core.config import load_config
from saga_server.server import Server
from tests.core.imports import samples
from tests.core.jobs.test_backfill import PLACES
from tests.server.upstream import Upstream, says
from tests.web.chromium import MISSING
from tests.web.test_backfill import answered

pytest.importorskip("playwright", reason=MISSING)

from tests.web.browsing import Browser, visiting

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.deep]

TURNS, FORK, BELOW = 20, 12, 15


def told(turn: int, branch: bool) -> tuple[str, str]:
    place = "Cellar" if branch and turn > FORK else PLACES[turn % 7]
    where = " below" if branch and turn > FORK else ""
    return f"On with me, for the {turn}th time{where}.", f"You walk to the {place}, and day {turn} grows older{where}."


def chat(turns: int, branch: bool) -> bytes:
    """A chat with swipes; the branch leaves the other one after turn ``FORK``."""
    rows: list[Any] = [{"chat_metadata": {"main_chat": "road"} if branch else {}, "user_name": "unused"}]
    rows.append(samples.message("Ysolde", "A long road lies ahead of you, {{user}}."))
    for turn in range(1, turns + 1):
        words, reply = told(turn, branch)
        rows.append(samples.message("Haru", words, user=True))
        rows.append(samples.message("Ysolde", reply, swipes=[reply, f"She stays on day {turn}."], swipe_id=0))
    return samples.jsonl(*rows)


def history(turns: int, branch: bool, words: str) -> dict[str, Any]:
    """What the frontend sends of it, with new words."""
    messages = [{"role": "assistant", "content": "A long road lies ahead of you, Haru."}]
    for turn in range(1, turns + 1):
        both = zip(("user", "assistant"), told(turn, branch), strict=True)
        messages += [{"role": role, "content": text} for role, text in both]
    return {"model": "narrator-1", "messages": [*messages, {"role": "user", "content": words}]}


@pytest.mark.parametrize("size", ["phone", pytest.param("desktop", marks=pytest.mark.deep)])
async def test_a_chat_is_brought_read_corrected_and_played_on(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: str
) -> None:
    monkeypatch.chdir(tmp_path)
    async with Upstream(otherwise=answered, lenient=True) as narrator:
        tree = {
            "storage": {"profile": "lite", "path": str(tmp_path / "data")},
            "server": {"port": 0, "drain_timeout": 5},
            "providers": {"openai": {"base_url": narrator.url, "max_retries": 0}},
        }
        async with Server(load_config(tree, environ={}), {}) as server, visiting(browser, server, size) as visit:
            page = visit.page

            async def go(name: str) -> None:
                if size == "phone":
                    await page.click("[data-action=menu]")
                await page.click(f"[data-action=page][data-name={name}]")
                await page.wait_for_selector(f"main[data-page={name}] [data-item]")

            await page.goto(f"{server.url}/ui/")
            await page.wait_for_selector("main[data-page=start] [data-item]")
            await go("transfer")
            files = {"road.jsonl": chat(TURNS, False), "Branch #1.jsonl": chat(BELOW, True)}
            given = [{"name": name, "mimeType": "text/plain", "buffer": raw} for name, raw in files.items()]
            await page.set_input_files("[data-action=files]", given)  # type: ignore[arg-type]
            await page.click("[data-action=confirm]")
            await page.click("[data-item=thing] >> nth=0 >> [data-action=open]")

            await page.wait_for_selector("main[data-page=now] h2:has-text('Haru')")
            await page.click("[data-action=estimate]")
            await page.click("[data-action=backfill]")
            await page.wait_for_selector("[data-item=over][data-state=done]", timeout=60_000)
            await page.wait_for_selector(f"[data-kind=place] :text('{PLACES[TURNS % 7]}')")
            await page.click("[data-kind=place] [data-action=edit]")
            await page.fill("[data-item=correction] input[name=place]", "The Gull Attic")
            await page.click("[data-action=preview]")
            await page.click("[data-item=correction] [data-action=save]")
            await page.wait_for_selector("[data-kind=place] :text('The Gull Attic')")

            key = {"Authorization": "Bearer any-text"}
            narrator.otherwise = says("The wind turns, and the shutters of the attic knock.")
            asked = await page.request.post(
                f"{server.url}/v1/chat/completions", data=history(TURNS, False, "Where am I now?"), headers=key
            )
            session = asked.headers["x-saga-session"]
            assert "The Gull Attic" in narrator.requests[-1].text, "the correction is in the next prompt"

            await go("story")
            await page.click("[data-item=timeline][data-name='Branch #1'] a.turn")
            await page.wait_for_selector("[data-item=turn] h2:has-text('15')")
            await page.click("[data-item=turn] [data-action=now]")
            await page.wait_for_selector(f"main[data-page=now] [data-kind=place] :text('{PLACES[FORK % 7]}')")
            asked = await page.request.post(
                f"{server.url}/v1/chat/completions", data=history(BELOW, True, "And down here?"), headers=key
            )
            assert asked.headers["x-saga-session"] == session
            assert "The Gull Attic" not in narrator.requests[-1].text, "what was corrected is on the other branch"
            whole = await visit.api(f"/api/sessions/{session}/turns/{asked.headers['x-saga-parent']}")
            assert whole["reply"] == told(BELOW, True)[1]
            await server.saga.drain(30)
            assert await server.saga.maintenance.differences(session) == []
