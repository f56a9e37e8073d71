"""Sessions that begin are counted exactly, also where several servers begin them at once."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import pytest

from saga_backends.memory import MemoryState
from saga_core.errors import Conflict, QuotaExceeded, StoreUnavailable
from saga_core.journal import keys, make_root
from saga_core.model import Session
from saga_core.stores import Batch, Key
from saga_core.world import World
from saga_server.hosting import Access, KeyRecord, Quotas, layout
from saga_server.hosting.holdings import Begun, uncounted
from tests.server.hosting.parts import Hands, key, opened

WORLD = World("w", "d")


async def begin(access: Access, owner: str, session: str) -> bool:
    """Whether it was let in."""

    async def create(beside: Mapping[Key, bytes], expected: Mapping[Key, bytes | None]) -> None:
        record = Session(session, "t", owner, digest="d")
        await access.journal.create_session(record, make_root(session, "t", 1.0, ""), WORLD, beside, expected)

    try:
        await access.begin_session(owner, session, create)
    except QuotaExceeded as error:
        assert error.quota == "sessions"
        return False
    return True


async def two(**quotas: float) -> tuple[MemoryState, Hands, list[Access], KeyRecord]:
    kv, clock = MemoryState(), Hands()
    servers = [opened(kv, server=name, clock=clock) for name in "ab"]
    record = await key(servers[0], **quotas)
    await servers[1].step()
    return kv, clock, servers, record


async def there(kv: MemoryState) -> int:
    return len(await kv.scan(("session",)))


async def test_servers_let_in_what_is_allowed_together() -> None:
    kv, _, servers, record = await two(sessions=3)
    asked = [begin(each, record.owner, f"{at}{number}") for number in range(6) for at, each in enumerate(servers)]
    assert sum(await asyncio.gather(*asked)) == 3
    assert await there(kv) == 3


async def test_a_session_that_went_makes_room_at_every_server() -> None:
    kv, clock, (a, b), record = await two(sessions=2)
    assert [await begin(a, record.owner, name) for name in "xyz"] == [True, True, False]
    await kv.commit(Batch(deletes=frozenset({keys.session("x")})))
    assert await begin(b, record.owner, "u"), "it counts anew before it refuses"
    clock.passed += 3.0
    assert not await begin(a, record.owner, "v")
    assert await there(kv) == 2


async def test_what_came_without_a_look_at_the_limit_is_counted() -> None:
    """Such as what is imported, and what began while the key had no limit."""
    kv, _, (a, b), record = await two(sessions=3)
    assert await begin(a, record.owner, "x")
    taken_in = Session("y", "t", record.owner, digest="d")
    await a.journal.create_session(taken_in, make_root("y", "t", 1.0, ""), WORLD, uncounted(record.owner, "y"))
    assert [await begin(b, record.owner, name) for name in "uv"] == [True, False]
    await a.keys.change(record.id, quotas=lambda _: Quotas())
    assert await begin(a, record.owner, "w")
    await a.keys.change(record.id, quotas=lambda _: Quotas(sessions=5))
    await b.step()
    assert [await begin(b, record.owner, name) for name in "opq"] == [True, False, False]
    assert await there(kv) == 5


async def test_another_key_of_the_owner_counts_anew() -> None:
    kv, _, (a, _), record = await two(sessions=3)
    assert await begin(a, record.owner, "x")
    await a.keys.revoke(record.id)
    assert await begin(a, record.owner, "y"), "a key of the settings may have the same owner; it has no limit"
    other, _ = await a.keys.create("other", owner=record.owner, quotas=Quotas(sessions=3))
    assert [await begin(a, other.owner, name) for name in "uv"] == [True, False]
    assert await there(kv) == 3


async def test_a_refusal_does_not_read_all_sessions_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    _, clock, (a, _), record = await two(sessions=1)
    read = 0
    sessions = a.journal.sessions

    async def counted() -> list[Session]:
        nonlocal read
        read += 1
        return await sessions()

    monkeypatch.setattr(type(a.journal), "sessions", lambda _: counted())
    assert await begin(a, record.owner, "x")
    read = 0
    clock.passed += 3.0
    for _ in range(10):
        assert not await begin(a, record.owner, "y")
    assert read == 1


async def test_below_the_limit_nothing_is_counted_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    _, _, (a, b), record = await two(sessions=10)
    assert await begin(a, record.owner, "x")
    monkeypatch.delattr(type(a.journal), "sessions")
    assert [await begin(each, record.owner, name) for each, name in ((b, "y"), (a, "z"))] == [True, True]


async def test_a_row_that_cannot_be_read_is_written_anew() -> None:
    kv, _, (a, _), record = await two(sessions=1)
    await kv.commit(Batch({layout.access_sessions(record.owner): b"{"}))
    assert [await begin(a, record.owner, name) for name in "xy"] == [True, False]


async def test_a_name_that_is_taken_is_told_and_counts_nothing() -> None:
    _, _, (a, _), record = await two(sessions=2)
    assert await begin(a, record.owner, "x")
    with pytest.raises(Conflict) as told:
        await begin(a, record.owner, "x")
    assert told.value.key == keys.session("x")
    assert await begin(a, record.owner, "y")


async def test_who_is_never_first_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    kv, _, (a, _), record = await two(sessions=9)
    place, number, commit = layout.access_sessions(record.owner), 0, kv.commit

    async def late(batch: Batch, *, expected: Mapping[Key, bytes | None] | None = None) -> None:
        nonlocal number
        number += 1
        await commit(Batch(uncounted(record.owner, f"other {number}")))
        await commit(batch, expected=expected)

    monkeypatch.setattr(kv, "commit", late)
    monkeypatch.setattr("saga_server.hosting.holdings._FIRST_PAUSE", 0.0)
    with pytest.raises(StoreUnavailable, match="first again and again"):
        await begin(a, record.owner, "x")
    assert await there(kv) == 0 and number > 1
    assert (await kv.get([place]))[place] != b""


def test_the_row_tells_nothing_of_a_session() -> None:
    (raw,) = uncounted("o" * 16, "s01kf").values()
    assert b"s01kf" not in raw and Begun.__attrs_attrs__[0].name == "mark"  # type: ignore[attr-defined]
    assert not uncounted("", "s01kf"), "at home nobody is counted"
