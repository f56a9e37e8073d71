"""The audit log: what is noted, what is one entry, and what goes."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from saga_backends.memory import MemoryState
from saga_core.errors import StoreUnavailable
from saga_server.hosting import AuditEntry
from saga_server.hosting.audit_log import AuditLog, _share
from tests.server.hosting.parts import Hands, opened

S = "s" + "0" * 20


def entry(log: AuditLog, what: str = "GET /api/sessions", key: str = "k1", session: str = S) -> AuditEntry:
    now = log.clock.now()
    return AuditEntry(
        at=now, last=now, times=1, key=key, owner=f"owner of {key}", role="player", source="127.0.0.1", forwarded="",
        what=what, session=session, turn="", status=200,
    )  # fmt: skip


async def noted(log: AuditLog, *entries: AuditEntry) -> list[AuditEntry]:
    for each in entries:
        log.note(each)
    await log.flush()
    return (await log.entries(limit=1_000))[0]


async def test_the_latest_come_first() -> None:
    clock = Hands()
    log = opened(clock=clock).audit
    for number in range(5):
        clock.passed = number
        log.note(entry(log, f"GET /{number}"))
    log.note(entry(log, "GET /5"))
    await log.flush()
    assert [each.what for each in (await log.entries(limit=9))[0]] == [f"GET /{5 - at}" for at in range(6)]


async def test_the_same_within_a_minute_is_one_entry() -> None:
    clock = Hands()
    log = opened(clock=clock).audit
    for at in (0.0, 1.0, 59.0, 61.0):
        clock.passed = at
        found = await noted(log, entry(log))
    assert [(each.times, each.last - each.at) for each in found] == [(1, 0.0), (3, 59.0)]
    for other in ({"session": ""}, {"key": "k2"}, {"what": "POST /"}, {"status": 404}, {"source": "::1"}):
        found = await noted(log, evolve(entry(log), **other))
    assert len(found) == 7


async def test_pages_follow_each_other() -> None:
    log = opened().audit
    await noted(log, *(entry(log, f"GET /{number}") for number in range(10)))
    cursor, seen = None, []
    while True:
        found, cursor = await log.entries(limit=3, cursor=cursor)
        seen += [each.what for each in found]
        if cursor is None:
            break
    assert seen == [f"GET /{9 - number}" for number in range(10)]


async def test_what_a_key_did_and_what_was_done_with_a_session() -> None:
    log = opened().audit
    other = "s" + "1" * 20
    await noted(log, entry(log), entry(log, key="k2"), entry(log, session=other))
    assert [each.key for each in (await log.entries(limit=9, key="k2"))[0]] == ["k2"]
    assert [each.key for each in (await log.entries(limit=9, key="owner of k2"))[0]] == ["k2"]
    assert [each.session for each in (await log.entries(limit=9, session=other))[0]] == [other]


@pytest.mark.parametrize(("days", "most", "left"), [(2.5, 100, 3), (90.0, 4, 4), (0.0, 100, 0)])
async def test_what_is_too_old_or_too_much_goes(days: float, most: int, left: int) -> None:
    clock = Hands()
    log = opened(clock=clock).audit
    for day in range(6):
        clock.passed = day * 86_400.0
        await noted(log, entry(log, f"day {day}"))
    clock.passed += 1.0
    assert await log.prune(days, most) == 6 - left
    assert [each.what for each in (await log.entries(limit=9))[0]] == [f"day {5 - at}" for at in range(left)]
    assert await log.prune(days, most) == 0


async def test_many_go_piece_by_piece() -> None:
    log = opened().audit
    await noted(log, *(entry(log, f"GET /{number}") for number in range(1_300)))
    assert await log.prune(90.0, 7) == 1_293
    assert [each.what for each in (await log.entries(limit=9))[0]] == [f"GET /{1_299 - at}" for at in range(7)]


async def test_nobody_pushes_out_what_others_did() -> None:
    clock = Hands()
    log = opened(clock=clock).audit
    for number in range(50):
        clock.passed = number * 61.0
        each = [entry(log, f"GET /{number}.{at}", key="flood") for at in range(20)]
        await noted(log, *each, *([entry(log, f"GET /{number}", key="quiet")] if number < 4 else []))
    assert await log.prune(90.0, 100) == 1_004 - 100
    left = [each.key for each in (await log.entries(limit=1_000))[0]]
    assert (left.count("quiet"), left.count("flood")) == (4, 96)


async def test_one_who_asks_for_very_much_is_told_in_short() -> None:
    log = opened().audit
    for number in range(500):
        log.note(evolve(entry(log), turn=f"t{number:020d}", forwarded=str(number)))
    log.note(entry(log, key="other"))
    await log.flush()
    found = (await log.entries(limit=1_000))[0]
    hers = [each for each in found if each.key == "k1"]
    assert len(hers) == 61 and sum(each.times for each in hers) == 500
    assert [each.session for each in found if each.key == "other"] == [S]


@pytest.mark.parametrize(
    ("counts", "room", "most"),
    [([], 5, 0), ([3], 5, 3), ([9], 5, 5), ([1, 9], 5, 4), ([4, 4], 5, 2), ([1, 2, 30, 40], 13, 5), ([1] * 9, 5, 0)],
)
def test_room_is_shared(counts: list[int], room: int, most: int) -> None:
    assert _share(counts, room) == most
    assert sum(min(each, most) for each in counts) <= room


async def test_a_store_that_is_away_loses_nothing_until_too_much_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("saga_server.hosting.audit_log.MOST_WAITING", 3)
    kv = MemoryState()
    access = opened(kv)
    log, commit = access.audit, kv.commit

    async def away(*given: Any, **more: Any) -> None:
        raise StoreUnavailable("away")

    kv.commit = away  # type: ignore[method-assign]
    for number in range(5):
        log.note(entry(log, f"GET /{number}"))
    with pytest.raises(StoreUnavailable):
        await log.flush()
    kv.commit = commit  # type: ignore[method-assign]
    await log.flush()
    assert [each.what for each in (await log.entries(limit=9))[0]] == ["GET /2", "GET /1", "GET /0"]
    assert access.counters.counts["audit.lost"] == 2, "that is told"


async def test_two_servers_write_one_log() -> None:
    kv, clock = MemoryState(), Hands()
    a, b = (opened(kv, server=name, clock=clock).audit for name in "ab")
    await noted(a, entry(a, "GET /a"))
    await noted(b, entry(b, "GET /b"))
    assert {each.what for each in (await a.entries(limit=9))[0]} == {"GET /a", "GET /b"}
