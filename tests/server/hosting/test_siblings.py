"""Leases where it is known which servers live: no clock is asked."""

from __future__ import annotations

import pytest

from saga_core.errors import LeaseLost, OwnedElsewhere
from saga_server.hosting import layout
from tests.server.hosting.fake_time import FakeTime
from tests.server.hosting.test_leases import SECONDS, One, S, created, servers


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> FakeTime:
    return FakeTime(monkeypatch)


class Known:
    """Servers live until a test says otherwise."""

    def __init__(self) -> None:
        self.gone: set[str] = set()

    def announce(self, server: str) -> None:
        """Nothing is to be done."""

    def is_gone(self, server: str) -> bool:
        return server in self.gone


async def family() -> tuple[Known, One, One]:
    known = Known()
    _, (a, b) = await servers("a", "b")
    for each in (a, b):
        each.leases.siblings = each.leases._others.siblings = known
        await each.beats()
    await created(a)
    return known, a, b


async def test_who_is_silent_for_long_keeps_its_sessions_while_it_lives(time: FakeTime) -> None:
    _, a, b = await family()
    time.passes(100 * SECONDS)
    await b.beats()
    with pytest.raises(OwnedElsewhere) as elsewhere:
        await b.leases.own(S)
    assert elsewhere.value.address == "http://a"
    assert [each["alive"] for each in b.leases.status()["others"]] == [True]
    await a.plays("t1")  # it was only asleep, and asks nobody


async def test_who_is_gone_loses_them_at_once(time: FakeTime) -> None:
    known, a, b = await family()
    await a.plays("t1")
    with pytest.raises(LeaseLost):
        await b.plays("t2")
    known.gone.add("a#1")
    await b.leases.own(S)
    await b.plays("t2")
    assert b.leases.counters.counts["leases.inherited"] == 1
    await b.beats()
    assert b.leases.status()["others"] == [] or b.leases.status()["others"][0]["alive"] is False
    assert (await b.leases.kv.get([layout.beat("a#1")])) == {}, "its row is removed"


async def test_who_gave_no_sign_of_life_yet_lives_all_the_same(time: FakeTime) -> None:
    known, a, b = await family()
    c = One(a.leases.kv, "c")
    c.leases.siblings = c.leases._others.siblings = known
    await a.leases._give_back([S])
    assert await c.leases.own(S) in (True, False)
    with pytest.raises(OwnedElsewhere) as elsewhere:
        await b.leases.own(S)
    assert elsewhere.value.address == ""
