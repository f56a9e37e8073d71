"""Quotas: what is counted, when it is free again, and what several servers count together."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from saga_backends.memory import MemoryState
from saga_core.errors import QuotaExceeded, StoreUnavailable
from saga_server.hosting import Access
from saga_server.hosting.meter import Minutes
from tests.server.hosting.parts import Hands, key, opened

MIDNIGHT = 1_700_006_400.0
"""A day of UTC begins."""


def at_midnight() -> Hands:
    return Hands(MIDNIGHT)


async def admitted(access: Access, key_id: str, tries: int) -> int:
    """How many of so many turns, begun at once, are let in."""
    found = await asyncio.gather(*(access.admit(key_id) for _ in range(tries)), return_exceptions=True)
    refused = [each for each in found if isinstance(each, BaseException)]
    assert all(isinstance(each, QuotaExceeded) for each in refused), refused
    return tries - len(refused)


@pytest.mark.parametrize("shared", [False, True])
async def test_turns_of_a_minute_are_exact_on_one_server(shared: bool) -> None:
    clock = at_midnight()
    access = opened(clock=clock, shared=shared)
    record = await key(access, turns_a_minute=5)
    assert await admitted(access, record.id, 20) == 5
    clock.passed = 59.5
    with pytest.raises(QuotaExceeded, match="turns_a_minute: this key may use 5 turns a minute; 5 were begun") as told:
        await access.admit(record.id)
    assert (told.value.quota, told.value.free_in) == ("turns_a_minute", pytest.approx(0.5))
    clock.passed = 60.0
    assert await admitted(access, record.id, 20) == 5


async def test_several_replies_are_several_turns() -> None:
    access = opened(clock=at_midnight())
    record = await key(access, turns_a_minute=5)
    await access.admit(record.id, 3)
    with pytest.raises(QuotaExceeded):
        await access.admit(record.id, 3)
    await access.admit(record.id, 2)


@pytest.mark.parametrize(("quota", "tokens", "dollars"), [("tokens_a_day", 100, 0.0), ("dollars_a_day", 0, 0.25)])
async def test_tokens_and_money_are_free_with_the_next_day(quota: str, tokens: int, dollars: float) -> None:
    clock = at_midnight()
    access = opened(clock=clock)
    record = await key(access, **{quota: 200 if tokens else 0.5})
    for _ in range(2):
        await access.admit(record.id)
        await access.spent(record.id, tokens, dollars)
    clock.passed = 86_399.0
    with pytest.raises(QuotaExceeded, match=quota) as told:
        await access.admit(record.id)
    assert told.value.free_in == pytest.approx(1.0)
    clock.passed = 86_400.0
    await access.admit(record.id)
    use = await access.meter.use(record.id)
    assert (use.turns, use.tokens, use.dollars) == (1, 0, 0.0)


async def test_a_call_without_a_price_is_told_apart() -> None:
    access = opened()
    record = await key(access)
    await access.spent(record.id, 10, None)
    await access.spent(record.id, 10, 0.5)
    use = await access.meter.use(record.id)
    assert (use.tokens, use.dollars, use.unpriced) == (20, 0.5, 1)


async def test_what_is_played_elsewhere_is_given_back() -> None:
    access = opened(clock=at_midnight())
    record = await key(access, turns_a_minute=1)
    for _ in range(3):
        await access.give_back(await access.admit(record.id))
    use = await access.meter.use(record.id)
    assert (use.turns, use.turns_in_minute) == (0, 0)


async def test_what_was_taken_in_another_minute_is_not_given_back_to_this_one() -> None:
    clock = at_midnight()
    access = opened(clock=clock)
    record = await key(access, turns_a_minute=1)
    taken = await access.admit(record.id)
    clock.passed = 60.0
    await access.admit(record.id)
    await access.give_back(taken)
    with pytest.raises(QuotaExceeded):
        await access.admit(record.id)


async def test_servers_count_the_turns_of_a_minute_together_before_they_wrote_them() -> None:
    kv, clock = MemoryState(), at_midnight()
    a, b = (opened(kv, server=name, clock=clock) for name in "ab")
    record = await key(a, turns_a_minute=5)
    await b.step()
    found = await asyncio.gather(*(admitted(each, record.id, 4) for each in (a, b, a, b)))
    assert sum(found) == 5, found
    clock.passed = 59.5
    with pytest.raises(QuotaExceeded, match="5 turns a minute; 5 were begun") as told:
        await b.admit(record.id)
    assert told.value.free_in == pytest.approx(0.5)
    await a.step()
    await b.step()
    assert (await a.meter.use(record.id)).turns == (await b.meter.use(record.id)).turns == 5
    clock.passed = 60.0
    assert await admitted(b, record.id, 10) == 5


async def test_what_another_server_plays_is_counted_once_for_all() -> None:
    kv, clock = MemoryState(), at_midnight()
    a, b = (opened(kv, server=name, clock=clock) for name in "ab")
    record = await key(a, turns_a_minute=1)
    await b.step()
    await a.give_back(await a.admit(record.id))
    await b.admit(record.id)
    with pytest.raises(QuotaExceeded):
        await a.admit(record.id)


async def test_a_turn_that_another_quota_refuses_takes_no_place_in_the_minute() -> None:
    access = opened(clock=at_midnight())
    record = await key(access, turns_a_minute=1, tokens_a_day=5)
    await access.spent(record.id, 5, None)
    for _ in range(3):
        with pytest.raises(QuotaExceeded, match="tokens_a_day"):
            await access.admit(record.id)


async def test_a_clock_that_is_behind_counts_in_the_minute_of_the_others() -> None:
    kv, ahead, behind = MemoryState(), at_midnight(), at_midnight()
    a, b = opened(kv, server="a", clock=ahead), opened(kv, server="b", clock=behind)
    record = await key(a, turns_a_minute=2)
    await b.step()
    ahead.passed = 60.0
    assert (await admitted(a, record.id, 1), await admitted(b, record.id, 3)) == (1, 1)


async def test_servers_count_tokens_together_as_they_wrote_them() -> None:
    kv, clock = MemoryState(), at_midnight()
    a, b = (opened(kv, server=name, clock=clock) for name in "ab")
    record = await key(a, tokens_a_day=5)
    await b.step()
    await b.admit(record.id)
    await a.spent(record.id, 5, None)
    await a.step()
    clock.passed = 2.0
    with pytest.raises(QuotaExceeded, match="tokens_a_day"):
        await b.admit(record.id)


async def test_what_was_counted_outlives_the_process() -> None:
    kv, clock = MemoryState(), at_midnight()
    before = opened(kv, clock=clock)
    record = await key(before, turns_a_minute=5, tokens_a_day=1_000)
    await admitted(before, record.id, 4)
    await before.spent(record.id, 999, None)
    await before.step()
    after = opened(kv, clock=clock)
    await after.keys.look()
    assert await admitted(after, record.id, 10) == 1
    assert (await after.meter.use(record.id)).tokens == 999


async def test_letting_in_reads_once_at_most() -> None:
    kv, clock = MemoryState(), at_midnight()
    access = opened(kv, clock=clock)
    record = await key(access, turns_a_minute=1_000, tokens_a_day=10**9, dollars_a_day=100.0)
    reads: list[str] = []
    for name in ("get", "scan", "commit"):
        _count(kv, name, reads)
    # What each turn of a minute waits for is the row in which servers count them together.
    for at, expected in ((0.0, ["scan", "commit"]), (0.5, ["commit"]), (1.5, ["scan", "commit"])):
        clock.passed = at
        await access.admit(record.id)
        assert reads == expected
        reads.clear()


def _count(kv: Any, name: str, into: list[str]) -> None:
    inner = getattr(kv, name)

    async def counted(*given: Any, **more: Any) -> Any:
        into.append(name)
        return await inner(*given, **more)

    setattr(kv, name, counted)


async def test_a_store_that_is_away_loses_no_count() -> None:
    kv, clock = MemoryState(), at_midnight()
    access = opened(kv, clock=clock)
    record = await key(access, turns_a_minute=9)
    await admitted(access, record.id, 2)
    commit = kv.commit

    async def away(*given: Any, **more: Any) -> None:
        raise StoreUnavailable("away")

    kv.commit = away  # type: ignore[method-assign]
    with pytest.raises(StoreUnavailable):
        await access.step()
    await admitted(access, record.id, 1)
    kv.commit = commit  # type: ignore[method-assign]
    await access.step()
    other = opened(kv, server="b", clock=clock)
    assert (await other.meter.use(record.id)).turns == 3


async def test_the_story_goes_on_while_the_store_is_away() -> None:
    kv, clock = MemoryState(), at_midnight()
    before = opened(kv, clock=clock)
    record = await key(before, turns_a_minute=6, tokens_a_day=1_000)
    await admitted(before, record.id, 2)
    await before.spent(record.id, 600, None)
    await before.step()
    after = opened(kv, clock=clock)
    await after.keys.look()
    scan = kv.scan

    async def away(*given: Any, **more: Any) -> Any:
        raise StoreUnavailable("away")

    kv.scan = away  # type: ignore[method-assign]
    assert await admitted(after, record.id, 3) == 3
    await after.spent(record.id, 300, None)
    assert "access.use" in after.counters.degraded
    await after.meter.flush()
    kv.scan = scan  # type: ignore[method-assign]
    await after.step()
    use = await opened(kv, server="b", clock=clock).meter.use(record.id)
    assert (use.turns, use.tokens) == (5, 900), "what was counted before is not forgotten"
    assert await admitted(after, record.id, 9) == 1
    assert "access.use" not in after.counters.degraded


async def test_a_store_that_hangs_is_waited_for_for_a_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("saga_server.hosting.meter.PATIENCE", 0.01)
    kv = MemoryState()
    access = opened(kv, clock=at_midnight())
    record = await key(access, turns_a_minute=2)
    scan = kv.scan

    async def hangs(*given: Any, **more: Any) -> Any:
        await asyncio.Event().wait()

    kv.scan = hangs  # type: ignore[method-assign, assignment]
    assert await admitted(access, record.id, 5) == 2
    kv.scan = scan  # type: ignore[method-assign]
    await access.step()
    assert (await access.meter.use(record.id)).turns == 2


async def test_rows_of_days_that_are_over_go() -> None:
    kv, clock = MemoryState(), at_midnight()
    gone, here = opened(kv, server="gone", clock=clock), opened(kv, server="here", clock=clock)
    record = await key(gone, turns_a_minute=5)
    await gone.admit(record.id)
    await gone.step()
    clock.passed = 3 * 86_400.0
    await here.keys.look()
    await here.admit(record.id)
    await here.step()
    assert [place[-1] for place, _ in await kv.scan(("access", "use"))] == ["here"]


async def test_one_key_is_not_counted_for_another() -> None:
    access = opened(clock=at_midnight())
    one, other = await key(access, "one", turns_a_minute=1), await key(access, "other", turns_a_minute=1)
    await access.admit(one.id)
    await access.admit(other.id)
    assert await access.admit("") is None, "a key of the settings has no quotas"


async def test_a_clock_that_was_a_day_ahead_for_a_while_frees_nothing() -> None:
    clock = at_midnight()
    access = opened(clock=clock)
    record = await key(access, tokens_a_day=100)
    await access.spent(record.id, 120, None)
    clock.time += 86_400.0
    await access.admit(record.id)
    await access.spent(record.id, 30, None)
    await access.step()
    clock.time -= 86_400.0
    assert (await access.meter.use(record.id)).tokens == 120
    with pytest.raises(QuotaExceeded, match="120 were used"):
        await access.admit(record.id)
    clock.time += 86_400.0
    assert (await access.meter.use(record.id)).tokens == 30


async def test_a_clock_that_was_set_back_for_a_while_frees_nothing() -> None:
    clock = at_midnight()
    access = opened(clock=clock)
    record = await key(access, tokens_a_day=100)
    await access.spent(record.id, 120, None)
    clock.time -= 2 * 86_400.0
    await access.admit(record.id)
    await access.spent(record.id, 30, None)
    await access.step()
    clock.time += 2 * 86_400.0
    with pytest.raises(QuotaExceeded, match="120 were used"):
        await access.admit(record.id)
    clock.time += 86_400.0
    await access.admit(record.id)


async def test_a_clock_that_was_set_back_begins_the_minute_anew() -> None:
    """Also where servers count together. A clock that is a little ahead of another decides which minute it is."""
    minutes = Minutes(MemoryState())
    assert [(await minutes.take("k", 100, 1, 2))[1] for _ in range(3)] == [True, True, False]
    assert not (await minutes.take("k", 99, 1, 2))[1]
    assert [(await minutes.take("k", 40, 1, 2))[1] for _ in range(3)] == [True, True, False]
