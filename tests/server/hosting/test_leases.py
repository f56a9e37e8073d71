"""Leases: one writer at a time, whatever the servers believe."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from saga_backends.memory import MemoryState
from saga_core.counters import Counters
from saga_core.errors import Conflict, LeaseLost, OwnedElsewhere, StoreUnavailable
from saga_core.hosting import OwnershipListener
from saga_core.journal import keys, session_of
from saga_core.stores import Batch, StateKV
from saga_server.hosting import Leases, layout
from saga_server.hosting.leases import OwnedState
from tests.server.hosting.fake_time import FakeTime

SECONDS = 10.0
S = "s1"


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> FakeTime:
    return FakeTime(monkeypatch)


class One:
    """A server over a shared store, whose heart beats when a test says so."""

    def __init__(self, shared: StateKV, name: str, token: str = "1") -> None:
        self.leases = Leases(
            kv=shared, name=name, token=token, address=f"http://{name}", seconds=SECONDS, counters=Counters()
        )
        self.state = OwnedState(shared, self.leases)
        self.stale: list[str] = []
        self.leases.listen(OwnershipListener(on_stale=self.stale.append))

    async def beats(self) -> None:
        await self.leases._beat()

    async def plays(self, turn: str) -> None:
        await self.state.commit(Batch({keys.turn(S, turn): b"{}", keys.session(S): turn.encode()}))


async def servers(*names: str) -> tuple[StateKV, list[One]]:
    shared = MemoryState()
    found = [One(shared, name) for name in names]
    for each in found:
        await each.beats()
    return shared, found


async def created(server: One) -> None:
    await server.state.commit(Batch({keys.session(S): b"new"}), expected={keys.session(S): None})


async def head(shared: StateKV) -> bytes | None:
    return (await shared.get([keys.session(S)])).get(keys.session(S))


async def test_who_creates_a_session_owns_it_and_another_is_told_where_it_is(time: FakeTime) -> None:
    _, (a, b) = await servers("a", "b")
    await created(a)
    assert a.leases.held(S) is not None
    assert await a.leases.own(S) is False
    with pytest.raises(OwnedElsewhere, match="is played on the server a#1; ask it there: http://a") as elsewhere:
        await b.leases.own(S)
    assert (elsewhere.value.server, elsewhere.value.address) == ("a#1", "http://a")
    with pytest.raises(LeaseLost, match="nothing was written: session s1 is played on the server a#1"):
        await b.plays("t-of-b")


async def test_a_server_that_beats_keeps_its_sessions_however_long_and_one_that_does_not_loses_them(
    time: FakeTime,
) -> None:
    shared, (a, b) = await servers("a", "b")
    await created(a)
    for _ in range(5):
        with pytest.raises(OwnedElsewhere):
            await b.leases.own(S)
        time.passes(SECONDS * 0.9)
        await a.beats()
    with pytest.raises(OwnedElsewhere):
        await b.leases.own(S)
    time.passes(SECONDS + 0.1)
    assert await b.leases.own(S) is False
    await b.plays("t-of-b")
    assert await head(shared) == b"t-of-b"


async def test_a_server_that_slept_past_its_lease_writes_nothing_and_notices_by_that(time: FakeTime) -> None:
    shared, (a, b) = await servers("a", "b")
    await created(a)
    await b.beats()  # sees the other
    time.passes(SECONDS + 0.1)
    await b.leases.own(S)
    assert a.leases.held(S) is not None, "it slept, and believes that nothing happened"
    with pytest.raises(LeaseLost, match="was taken over by another server"):
        await a.plays("t-of-a")
    assert await head(shared) == b"new"
    assert a.leases.held(S) is None
    assert a.stale == [S]
    assert a.leases.counters.counts["leases.lost"] == 1


async def test_a_server_that_slept_past_its_lease_shows_nothing_old_and_asks_for_no_reply(time: FakeTime) -> None:
    _, (a, b) = await servers("a", "b")
    await created(a)
    await b.beats()  # sees the other
    time.passes(SECONDS + 0.1)
    await b.leases.own(S)
    await b.plays("t-of-b")
    assert not a.leases.holds(S)
    assert not await a.leases.is_current(S), "it would show a story without the latest turn"
    assert a.stale == [S]
    with pytest.raises(OwnedElsewhere):
        await a.leases.own(S)


async def test_a_server_that_wakes_lets_go_what_was_taken_with_its_first_sign_of_life(time: FakeTime) -> None:
    _, (a, b) = await servers("a", "b")
    await created(a)
    await b.beats()
    time.passes(SECONDS + 0.1)
    await b.leases.own(S)
    await a.beats()
    assert a.leases.held(S) is None
    assert a.stale == [S]


async def test_a_server_that_slept_and_lost_nothing_keeps_what_it_has_in_memory(time: FakeTime) -> None:
    _, (a, b) = await servers("a", "b")
    await created(a)
    await b.beats()
    time.passes(SECONDS + 0.1)
    assert await a.leases.is_current(S)
    assert await a.leases.own(S) is False
    await a.beats()
    assert a.leases.holds(S)
    assert a.stale == []


async def test_a_server_that_slept_and_was_not_missed_goes_on(time: FakeTime) -> None:
    shared, (a, b) = await servers("a", "b")
    await created(a)
    await b.beats()
    time.passes(SECONDS * 100)
    await a.plays("t1")
    assert await head(shared) == b"t1"


async def test_one_that_beats_again_just_then_keeps_its_session(time: FakeTime) -> None:
    shared, (a, b) = await servers("a", "b")
    await created(a)
    await b.beats()
    time.passes(SECONDS + 0.1)
    plain = shared.commit

    async def beaten(batch: Batch, *, expected: Any = None) -> None:
        shared.commit = plain  # type: ignore[method-assign]
        await a.beats()  # between the look of the other and its commit
        await plain(batch, expected=expected)

    shared.commit = beaten  # type: ignore[method-assign]
    with pytest.raises(OwnedElsewhere):
        await b.leases.own(S)


async def test_two_that_take_at_once_do_not_both_have_it(time: FakeTime) -> None:
    _, (a, b, c) = await servers("a", "b", "c")
    await created(a)
    await a.leases.aclose()
    await b.leases.own(S)
    with pytest.raises(OwnedElsewhere):
        await c.leases.own(S)


async def test_a_restarted_server_has_the_sessions_of_its_name_at_once(time: FakeTime) -> None:
    shared, (a,) = await servers("a")
    await created(a)
    again = One(shared, "a", "2")
    await again.beats()
    await again.leases.own(S)
    with pytest.raises(LeaseLost):
        await a.plays("t-of-the-old-process")


async def test_what_was_given_back_is_right_in_memory_until_another_writes(time: FakeTime) -> None:
    _, (a, b) = await servers("a", "b")
    await created(a)
    await a.plays("t1")
    time.passes(SECONDS + 0.1)
    await a.leases._give_back(a.leases._idle())
    assert a.leases.held(S) is None
    assert await a.leases.is_current(S)
    assert await a.leases.own(S) is False, "nobody else wrote it"
    time.passes(SECONDS + 0.1)
    await a.leases._give_back(a.leases._idle())
    await b.leases.own(S)
    await b.plays("t2")
    assert not await a.leases.is_current(S)
    await b.leases.aclose()
    assert await a.leases.own(S) is True
    assert a.stale == [S]


async def test_while_the_store_is_away_nobody_is_gone_and_then_all_have_a_lease_to_say_so(time: FakeTime) -> None:
    shared, (a, b) = await servers("a", "b")
    await created(a)
    await b.beats()
    assert not b.leases.is_gone("a#1")
    gate, commit = asyncio.Event(), shared.commit

    async def hangs(*given: Any, **more: Any) -> None:
        await gate.wait()
        raise StoreUnavailable("away")

    shared.commit = hangs  # type: ignore[method-assign]
    beating = asyncio.create_task(b.beats())
    await asyncio.sleep(0)
    time.passes(SECONDS * 3)
    assert not b.leases.is_gone("a#1"), "the question is under way"
    gate.set()
    with pytest.raises(StoreUnavailable):
        await beating
    assert not b.leases.is_gone("a#1"), "it was not answered"
    shared.commit = commit  # type: ignore[method-assign]
    await b.beats()
    assert not b.leases.is_gone("a#1")
    time.passes(SECONDS + 0.1)
    await b.beats()
    assert b.leases.is_gone("a#1")


async def test_two_that_live_under_one_name_are_told(time: FakeTime) -> None:
    shared = MemoryState()
    before, one, other = (One(shared, "a", token) for token in "012")
    await before.beats()
    for _ in range(3):
        await one.beats()
    assert not one.leases.counters.degraded, "an earlier process of the name is no twin"
    for _ in range(2):
        await other.beats()
        await one.beats()
    assert "two servers have the name a" in one.leases.counters.degraded["leases.name"]


async def test_one_whose_settings_let_it_be_silent_for_longer_lives_as_long(time: FakeTime) -> None:
    _, (a, b) = await servers("a", "b")
    a.leases.seconds = 3 * SECONDS
    await a.beats()
    await created(a)
    with pytest.raises(OwnedElsewhere):
        await b.leases.own(S)
    time.passes(2 * SECONDS)
    with pytest.raises(OwnedElsewhere):
        await b.leases.own(S)
    time.passes(2 * SECONDS)
    assert await b.leases.own(S) is False


async def test_who_stops_gives_back_what_it_does_not_need_and_takes_nothing(time: FakeTime) -> None:
    _, (a, b) = await servers("a", "b")
    free = asyncio.Event()
    a.leases.listen(OwnershipListener(on_free=lambda _: free.set()))
    await created(a)
    held = a.leases.held(S)
    assert held is not None
    held.busy += 1
    a.leases.leave()
    time.passes(5.0)
    for _ in range(3):
        await asyncio.sleep(0)
    assert a.leases.held(S) is held, "a reply is under way"
    held.busy -= 1
    await free.wait()
    await a.leases._leaving  # type: ignore[misc]
    assert await b.leases.own(S) is False
    with pytest.raises(OwnedElsewhere):
        await a.leases.own("another one")
    await a.leases.aclose()
    await b.leases.aclose()


async def test_a_reply_under_way_keeps_its_session(time: FakeTime) -> None:
    class Turn:
        pass

    _, (a,) = await servers("a")
    await created(a)
    turn = Turn()
    a.leases.pin(S, turn)
    time.passes(SECONDS * 10)
    assert a.leases._idle() == []
    del turn
    assert a.leases._idle() == [S]


async def test_a_write_that_may_have_happened_makes_what_is_in_memory_old(time: FakeTime) -> None:
    shared, (a,) = await servers("a")
    await created(a)
    plain = shared.commit

    async def breaks(batch: Batch, *, expected: Any = None) -> None:
        await plain(batch, expected=expected)
        raise StoreUnavailable("the line broke")

    shared.commit = breaks  # type: ignore[method-assign]
    with pytest.raises(StoreUnavailable):
        await a.plays("t1")
    shared.commit = plain  # type: ignore[method-assign]
    assert a.stale == [S]
    await a.plays("t2")
    assert await head(shared) == b"t2"
    assert (await shared.get([layout.order(S)]))[layout.order(S)] == b"3", "each commit has its number"


async def test_commits_of_one_session_at_once_are_numbered_one_after_the_other(time: FakeTime) -> None:
    shared, (a,) = await servers("a")
    await created(a)
    await asyncio.gather(*(a.plays(f"t{number}") for number in range(20)))
    assert (await shared.get([layout.order(S)]))[layout.order(S)] == b"21"


async def test_an_expectation_of_the_caller_is_told_as_its_own(time: FakeTime) -> None:
    _, (a,) = await servers("a")
    await created(a)
    with pytest.raises(Conflict) as conflict:
        await a.state.commit(Batch({keys.node(S, "t"): b""}), expected={("label", "-", "x"): b"other"})
    assert conflict.value.key == ("label", "-", "x")
    assert a.leases.held(S) is not None
    await a.plays("t1")


async def test_a_session_that_goes_takes_its_lease_with_it(time: FakeTime) -> None:
    shared, (a,) = await servers("a")
    await created(a)
    await a.state.commit(Batch(deletes=frozenset({keys.session(S)})))
    assert await shared.scan(("lease", "session")) == []
    assert await shared.scan(("lease", "order")) == []
    assert a.leases.held(S) is None


async def test_the_row_of_a_server_that_is_long_gone_is_removed(time: FakeTime) -> None:
    shared, (a, _) = await servers("a", "b")
    await a.beats()
    time.passes(SECONDS * 49)
    await a.beats()
    assert len(await shared.scan(layout.SERVERS)) == 2
    time.passes(SECONDS * 2)
    await a.beats()
    assert [key[-1] for key, _ in await shared.scan(layout.SERVERS)] == ["a#1"]


async def test_work_that_was_left_is_taken_up_by_another(time: FakeTime) -> None:
    _, (a, b) = await servers("a", "b")
    await created(a)
    await a.state.commit(Batch({keys.job(S, "t1"): b""}))
    inherited: list[str] = []

    async def take_up(session: str) -> None:
        inherited.append(session)

    b.leases.listen(OwnershipListener(on_inherited=take_up))
    await b.leases._look_for_work()
    assert inherited == []
    await b.beats()
    time.passes(SECONDS + 0.1)
    await b.leases._look_for_work()
    await asyncio.sleep(0)
    assert inherited == [S]
    assert b.leases.counters.counts["leases.inherited"] == 1


async def test_the_status_names_the_others(time: FakeTime) -> None:
    _, (a, _b) = await servers("a", "b")
    await a.beats()
    time.passes(3.0)
    assert a.leases.status()["others"] == [
        {"server": "b#1", "address": "http://b", "alive": True, "quiet_seconds": 3.0}
    ]


def test_each_key_of_a_session_is_known_as_one() -> None:
    assert {session_of(key) for key in (keys.turn(S, "t"), keys.job(S, "t"), keys.prompt(S, "memory"))} == {S}
    assert session_of(keys.view(f"{S}.0", "turn")) == S
    assert session_of(keys.view_mark(f"{S}.0")) == S
    for key in (keys.world("d"), keys.reply("o", "k", "t"), keys.label("o", "n"), layout.lease(S), keys.FORMAT_KEY):
        assert session_of(key) is None
