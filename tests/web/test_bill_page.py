"""The page Bill: cost and cache by turn, by model and by kind, as bars and in figures that are the API's."""

from __future__ import annotations

import pytest

from tests.server.upstream import Upstream
from tests.web.chromium import MISSING
from tests.web.test_backfill import answered, imported

pytest.importorskip("playwright", reason=MISSING)

from tests.web.browsing import Browser, visiting

pytestmark = pytest.mark.asyncio(loop_scope="session")

HEIGHTS = "[...document.querySelectorAll('[data-item=bars] g')].map(each => each.getBBox().height)"


@pytest.mark.parametrize("size", ["phone", pytest.param("desktop", marks=pytest.mark.deep)])
async def test_bars_are_of_tokens_or_of_dollars(browser: Browser, size: str) -> None:
    async with (
        Upstream(otherwise=answered) as small,
        imported(small) as (server, session),
        visiting(browser, server, size) as visit,
    ):
        page = visit.page
        await server.saga.background.backfill.step(session, 6)
        await visit.open("bill", session=session)
        await page.wait_for_selector("[data-item=bars] g")
        cost = await visit.api(f"/api/sessions/{session}/cost")
        bills = (await visit.api(f"/api/sessions/{session}/bills"))["bills"][::-1]
        for part, sums in (("kinds", {"extraction": cost["extraction"]}), ("models", cost["models"])):
            for name, found in sums.items():
                row = f"[data-item={part}] [data-item=share][data-name='{name}']"
                assert await visit.texts(f"{row} b") == [
                    f"{found[each]:,}" for each in ("calls", "input", "read", "output")
                ]
                assert found["unpriced"] == 0 and 0 < found["dollars"] < 0.0001
                assert await visit.texts(f"{row} [data-item=dollars]") == ["< $0.0001"]
        for unit, value in (("tokens", "input"), ("dollars", "dollars")):
            await page.select_option("[data-action=unit]", unit)
            await page.wait_for_selector(f"[data-item=bars][data-unit={unit}]")
            tall = await page.evaluate(HEIGHTS)
            of = [(each[value] or 0) + (each["output"] if unit == "tokens" else 0) for each in bills]
            assert tall == pytest.approx([100 * each / max(of) for each in of], abs=0.5)
        assert await visit.too_wide() == 0 and await visit.findings() == []
