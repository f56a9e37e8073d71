"""Keys that are made while a server runs: kept as hashes, seen by all servers, gone when they are revoked."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from saga_backends.memory import MemoryState
from saga_core.errors import BadInput, Conflict, NotFound, StoreUnavailable
from saga_core.stores import Batch
from saga_server.hosting import Quotas, read_quotas
from saga_server.hosting.layout import ACCESS_VERSION, access_key
from tests.server.hosting.parts import Hands, key, opened


async def stored(kv: MemoryState) -> bytes:
    return b"\n".join("/".join(place).encode() + raw for place, raw in await kv.scan(()))


async def test_a_key_is_found_and_nothing_else_is() -> None:
    ring = opened().keys
    record, secret = await ring.create("Mina's laptop")
    assert ring.find(secret) == record
    assert (record.role, record.revoked, record.prefix) == ("player", 0.0, secret[:9])
    for other in ("", secret[:-1], secret + "x", secret.upper(), record.digest, record.prefix, f" {secret}"):
        assert ring.find(other) is None, other


async def test_the_key_itself_is_kept_nowhere() -> None:
    kv = MemoryState()
    ring = opened(kv).keys
    record, secret = await ring.create("one")
    _, second = await ring.rotate(record.id, 60.0)
    kept = await stored(kv)
    for each in (secret, second):
        assert each.encode() not in kept and each[9:].encode() not in kept
        assert each[:9].encode() in kept, "by that it is recognised"
    assert secret not in repr(record) and record.digest not in repr(record)


async def test_keys_differ() -> None:
    ring = opened().keys
    made = [await ring.create(f"key {number}") for number in range(50)]
    for column in ([record.id for record, _ in made], [record.owner for record, _ in made], [each for _, each in made]):
        assert len(set(column)) == 50
    assert [each.name for each in ring.all()] == [f"key {number}" for number in range(50)] or len(ring.all()) == 50


async def test_another_server_sees_it_with_its_next_look() -> None:
    kv = MemoryState()
    a, b = opened(kv, server="a").keys, opened(kv, server="b").keys
    record, secret = await a.create("one")
    assert b.find(secret) is None
    await b.look()
    assert b.find(secret) == record
    await a.revoke(record.id)
    assert b.find(secret) is not None
    await b.look()
    assert b.find(secret) is None and not b.any


async def test_a_look_at_what_did_not_change_reads_one_entry() -> None:
    kv = MemoryState()
    ring = opened(kv).keys
    await ring.create("one")
    scans: list[object] = []
    scan = kv.scan

    async def counted(*given: object, **more: object) -> object:
        scans.append(given)
        return await scan(*given, **more)  # type: ignore[arg-type]

    kv.scan = counted  # type: ignore[method-assign, assignment]
    await ring.look()
    assert scans == []


async def test_servers_that_change_keys_at_once_lose_nothing() -> None:
    kv = MemoryState()
    rings = [opened(kv, server=name).keys for name in "abc"]
    await asyncio.gather(*(ring.create(f"{at}.{number}") for at, ring in enumerate(rings) for number in range(4)))
    for ring in rings:
        await ring.look()
        assert {each.name for each in ring.all()} == {f"{at}.{number}" for at in range(3) for number in range(4)}


async def test_a_rotated_key_has_another_secret_and_the_same_owner() -> None:
    ring = opened().keys
    record, secret = await ring.create("one")
    rotated, second = await ring.rotate(record.id)
    assert (rotated.id, rotated.owner) == (record.id, record.owner)
    assert ring.find(secret) is None and ring.find(second) == rotated


async def test_the_key_before_is_taken_as_long_as_was_said() -> None:
    clock = Hands()
    ring = opened(clock=clock).keys
    record, secret = await ring.create("one")
    _, second = await ring.rotate(record.id, 60.0)
    clock.passed = 59.0
    assert ring.find(secret) is not None and ring.find(second) is not None
    clock.passed = 60.0
    assert ring.find(secret) is None and ring.find(second) is not None
    clock.time -= 30.0
    assert ring.find(secret) is None, "also if the clock is set back"
    _, third = await ring.rotate(record.id)
    assert [ring.find(each) is not None for each in (secret, second, third)] == [False, False, True]


async def test_a_clock_that_was_ahead_for_a_moment_makes_no_grace_longer() -> None:
    clock = Hands()
    ring = opened(clock=clock).keys
    record, secret = await ring.create("one")
    clock.time += 3_600.0
    assert ring.find(secret) is not None
    clock.time -= 3_600.0
    rotated, _ = await ring.rotate(record.id, 60.0)
    assert rotated.former_until == clock.now() + 60.0
    clock.time += 3_600.0
    assert ring.find(secret) is None
    clock.time -= 3_600.0
    assert ring.find(secret) is not None, "its time is not over"
    clock.passed = 60.0
    assert ring.find(secret) is None


async def test_a_revoked_key_is_for_ever_revoked() -> None:
    ring = opened().keys
    record, secret = await ring.create("one")
    await ring.rotate(record.id, 60.0)
    await ring.revoke(record.id)
    assert ring.find(secret) is None and not ring.any
    for change in (ring.revoke(record.id), ring.rotate(record.id), ring.change(record.id, name="two")):
        with pytest.raises(NotFound, match="was revoked"):
            await change
    assert [each.id for each in ring.all()] == [record.id], "it is listed all the same"
    again, _ = await ring.create("one again", owner=record.owner)
    assert ring.owned_by(record.owner) == again


async def test_an_owner_has_one_key() -> None:
    ring = opened().keys
    record, _ = await ring.create("one")
    with pytest.raises(Conflict, match=f"has the key {record.id}"):
        await ring.create("two", owner=record.owner)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"name": ""}, "name: give"),
        ({"name": "a" * 101}, "name: give"),
        ({"name": "a\x00b"}, "name: give"),
        ({"name": "a", "role": "king"}, "role: 'king' is none"),
        ({"name": "a", "owner": "A" * 16}, "is no fingerprint"),
        ({"name": "a", "owner": "../../etc/passwd"}, "is no fingerprint"),
    ],
)
async def test_what_cannot_be_is_refused(given: dict[str, str], told: str) -> None:
    ring = opened().keys
    with pytest.raises(BadInput, match=told):
        await ring.create(**given)  # type: ignore[arg-type]
    assert ring.all() == []


async def test_grace_has_bounds() -> None:
    ring = opened().keys
    record, _ = await ring.create("one")
    for grace in (-1.0, float("nan"), float("inf"), 10.0**9):
        with pytest.raises(BadInput, match="grace"):
            await ring.rotate(record.id, grace)


async def test_quotas_are_changed_one_by_one() -> None:
    access = opened()
    record = await key(access, turns_a_minute=3, sessions=2)
    changed = await access.keys.change(record.id, quotas=lambda before: read_quotas({"sessions": "0"}, before))
    assert changed.quotas == Quotas(turns_a_minute=3)


@pytest.mark.parametrize("text", ["-1", "x", "nan", "1e400", "", "1" * 30, "0.5"])
def test_a_quota_is_a_whole_number(text: str) -> None:
    with pytest.raises(BadInput, match="turns_a_minute"):
        read_quotas({"turns_a_minute": text}, Quotas())


@pytest.mark.parametrize("text", ["-0.01", "x", "nan", "inf"])
def test_money_is_an_amount(text: str) -> None:
    with pytest.raises(BadInput, match="dollars_a_day"):
        read_quotas({"dollars_a_day": text}, Quotas())


async def test_a_row_that_cannot_be_read_is_no_key_and_hides_no_other() -> None:
    kv = MemoryState()
    access = opened(kv)
    record, secret = await access.keys.create("one")
    for at, raw in enumerate((b"", b"[]", b'{"id":7}', b"\xff", b'{"id":"x","name":"x","role":"king"}')):
        await kv.commit(Batch({("access", "key", f"bad{at}"): raw, ("access", "version"): b"other%d" % at}))
    await access.keys.look()
    assert access.keys.find(secret) == record and len(access.keys.all()) == 1
    assert "access.keys" in access.counters.degraded


async def test_a_key_that_cannot_be_read_still_wants_one() -> None:
    kv = MemoryState()
    record, _ = await opened(kv).keys.create("one")
    await kv.commit(Batch({access_key(record.id): b"{", ACCESS_VERSION: b"other"}))
    ring = opened(kv).keys
    await ring.look()
    assert ring.any and ring.all() == []


async def test_a_store_that_was_away_at_the_start_is_asked_again() -> None:
    kv = MemoryState()
    _, secret = await opened(kv).keys.create("one")
    access = opened(kv, shared=False)
    get = kv.get

    async def away(*given: Any) -> Any:
        raise StoreUnavailable("away")

    kv.get = away  # type: ignore[method-assign]
    with pytest.raises(StoreUnavailable):
        await access.step()
    kv.get = get  # type: ignore[method-assign]
    await access.step()
    assert access.keys.find(secret) is not None


async def test_a_server_whose_journal_cannot_be_read_knows_that_there_are_keys(tmp_path: Path) -> None:
    kv = MemoryState()
    ring, later = opened(kv).keys, opened(kv).keys
    ring.mark = later.mark = tmp_path / "keys.exist"
    assert not later.any
    record, _ = await ring.create("Mina")
    assert later.any and not later.known, "nothing was read of the store yet"
    await ring.revoke(record.id)
    assert not ring.any and not later.any


async def test_only_the_revocation_of_the_last_key_says_that_there_are_none(tmp_path: Path) -> None:
    kv, mark = MemoryState(), tmp_path / "keys.exist"
    ring, lost = opened(kv).keys, opened().keys
    ring.mark = lost.mark = mark
    record, _ = await ring.create("Mina")
    await lost.look()
    assert lost.any and not lost.known and mark.exists()
    await kv.commit(Batch({access_key(record.id): b"{", ACCESS_VERSION: b"other"}))
    await ring.look()
    assert ring.any and mark.exists()
    another, _ = await lost.create("Mina again")
    assert lost.known and "access.keys" not in lost.counters.degraded
    await lost.revoke(another.id)
    assert not lost.any and not mark.exists()
