from __future__ import annotations

import pytest
from attrs import evolve

from saga_core.billing import Bill, add_up, price
from saga_core.ports import Usage
from saga_core.upstream.facts import facts_of

SONNET = facts_of("claude-sonnet-4-5", "anthropic")
BILL = Bill("t1", 1.0, "m", "p", 1000, 800, 100, 0, 50, 300, 200, 10, 0.5, 1.0, 2.0)


def test_each_kind_of_token_has_its_price() -> None:
    # 3 dollars in, 15 out; read 0.1, written 1.25 for five minutes and 2 for an hour
    usage = Usage(input=1_000_000, output=100_000, cache_read=500_000, cache_write=300_000, cache_write_1h=100_000)
    plain, read, short, long = 0.2 * 3, 0.5 * 0.3, 0.2 * 3 * 1.25, 0.1 * 3 * 2
    assert price(usage, SONNET) == pytest.approx(plain + read + short + long + 1.5)
    assert price(usage, SONNET, cached=False) == pytest.approx(3 + 1.5)


def test_a_cache_without_marks_writes_for_nothing() -> None:
    usage = Usage(input=10_000, output=0, cache_read=8_000)
    assert price(usage, facts_of("gpt-5.1", "openai")) == pytest.approx((2_000 + 800) * 1.25e-6)


def test_a_long_prompt_is_dearer() -> None:
    facts = facts_of("claude-haiku-5-5", "anthropic")
    assert price(Usage(100_000, 1_000), facts) == pytest.approx(0.0105)
    assert price(Usage(100_001, 1_000), facts) == pytest.approx(5 * (0.0100001 + 0.0005))


def test_without_prices_there_are_tokens_and_no_dollars() -> None:
    assert price(Usage(10, 10), facts_of("", "local")) is None


def test_bills_add_up() -> None:
    total = add_up([BILL, evolve(BILL, turn="t2"), evolve(BILL, dollars=None, uncached=None, without=None)])
    assert (total.calls, total.unpriced, total.input, total.read, total.written) == (3, 1, 3000, 2400, 300)
    assert (total.dollars, total.uncached, total.without, total.saved) == (1.0, 2.0, 4.0, 0.75)
    assert add_up([]).saved is None
