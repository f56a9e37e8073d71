"""A key that spends more than its share of the event loop waits; the others do not, and one alone never does."""

from __future__ import annotations

import asyncio
import time

import pytest
from attrs import define, evolve, field

from saga_core.counters import Counters
from saga_server.http import cpu_shares
from saga_server.http.callers.identity import Bearer
from saga_server.http.cpu_shares import FAIR_SHARES, CpuAccount, FairShares, charged
from tests.server.client import words
from tests.server.conftest import Serve

BURST = cpu_shares._SAVED + cpu_shares._OVERDRAWN


@define(eq=False)
class Clock:
    """A clock that moves only when somebody sleeps."""

    at: float = 100.0
    slept: list[float] = field(factory=list)

    def __call__(self) -> float:
        return self.at

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.at += seconds


@pytest.fixture
def busy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The loop counts as busy whatever the requests take."""
    monkeypatch.setattr(cpu_shares, "_BUSY", 0.0)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(asyncio, "sleep", clock.sleep)
    return clock


async def test_a_key_alone_never_waits(clock: Clock) -> None:
    shares = FairShares(Counters(), clock)
    for _ in range(100):
        account = await shares.enter("a")
        account.spend(0.5 / cpu_shares._BESIDE)
        clock.at += 0.5
    assert clock.slept == []


@pytest.mark.usefixtures("busy")
@pytest.mark.parametrize("others", [1, 4, 100])
async def test_one_of_several_gets_its_share_and_the_others_do_not_wait(clock: Clock, others: int) -> None:
    counters = Counters()
    shares, began, spent = FairShares(counters, clock), clock.at, 0.0
    for _ in range(400):
        slept = len(clock.slept)
        for other in range(others):
            await shares.enter(f"other {other}")
        assert len(clock.slept) == slept, "they spend nothing"
        account = await shares.enter("a")
        account.spend(0.02 / cpu_shares._BESIDE)
        spent += 0.02
        clock.at += 0.02
    share = max(1 / (others + 1), cpu_shares._LEAST)
    assert spent <= BURST + share * (clock.at - began) + 0.02
    assert spent >= 0.9 * share * (clock.at - began), "and not less"
    assert max(clock.slept) <= cpu_shares._LONGEST
    assert 0 < counters.counts["requests.held_back"] <= len(clock.slept)


async def test_nobody_waits_while_the_loop_is_not_busy(clock: Clock) -> None:
    shares = FairShares(Counters(), clock)
    for _ in range(200):
        await shares.enter("b")
        (await shares.enter("a")).spend(0.02 / cpu_shares._BESIDE)
        clock.at += 0.05
    assert clock.slept == []
    for _ in range(200):
        (await shares.enter("b")).spend(0.02 / cpu_shares._BESIDE)
        (await shares.enter("a")).spend(0.02 / cpu_shares._BESIDE)
        clock.at += 0.03
    assert clock.slept, "both together take more than the loop should"


@pytest.mark.usefixtures("busy")
async def test_a_large_debt_is_forgotten(clock: Clock) -> None:
    shares = FairShares(Counters(), clock)
    await shares.enter("b")
    (await shares.enter("a")).spend(60.0)
    await shares.enter("a")
    assert sum(clock.slept) <= 2 * cpu_shares._OVERDRAWN + 0.01


@pytest.mark.usefixtures("busy")
async def test_requests_of_one_key_wait_in_line(clock: Clock) -> None:
    shares, order = FairShares(Counters(), clock), list[int]()
    await shares.enter("b")
    (await shares.enter("a")).spend(1.0)

    async def one(number: int) -> None:
        account = await shares.enter("a")
        order.append(number)
        account.spend(1.0)

    await asyncio.gather(*map(one, range(4)))
    assert order == [0, 1, 2, 3]
    assert len(clock.slept) >= 4


@pytest.mark.usefixtures("busy")
async def test_who_gives_up_waiting_holds_nobody_up() -> None:
    shares = FairShares(Counters())
    await shares.enter("b")
    (await shares.enter("a")).spend(1.0)
    waiting = asyncio.create_task(shares.enter("a"))
    for _ in range(5):
        await asyncio.sleep(0)
    assert shares._accounts["a"].turn.locked()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await asyncio.wait_for(shares.enter("a"), 5)


async def test_keys_out_of_use_are_forgotten(clock: Clock) -> None:
    shares = FairShares(Counters(), clock)
    for number in range(50):
        await shares.enter(f"{number}")
        clock.at += 1.0
    assert len(shares._accounts) <= 11


async def test_the_time_of_a_task_is_charged_and_its_result_and_errors_go_through() -> None:
    shares = FairShares(Counters())
    account = await shares.enter("a")

    def busy() -> None:
        ends = time.thread_time() + 0.02
        while time.thread_time() < ends:
            pass

    async def started() -> str:
        busy()
        await asyncio.sleep(0)
        busy()
        return "done"

    async def work() -> str:
        return await asyncio.create_task(charged(started()))

    before = account.credit
    assert await charged(work(), account) == "done"
    assert before - account.credit >= 0.04 * cpu_shares._BESIDE

    async def fails() -> None:
        await asyncio.sleep(0)
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await charged(fails(), account)
    waiting = asyncio.create_task(charged(asyncio.sleep(60), account))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_a_turn_is_charged_to_its_key_alone(serve: Serve) -> None:
    spent: dict[str, float] = {}

    @define(eq=False)
    class Counted(CpuAccount):
        owner: str = ""

        def spend(self, seconds: float) -> None:
            spent[self.owner] = spent.get(self.owner, 0.0) + seconds

    class Known(FairShares):
        async def enter(self, owner: str) -> CpuAccount:
            return Counted(0.0, self.load, owner=owner)

    async with serve(server={"api_keys": ["k-one"], "chat_keys": ["k-two", "k-three"]}) as client:
        runner = client.server._runner
        assert runner is not None
        runner.app._state[FAIR_SHARES] = Known(Counters())  # the app is frozen
        for number in range(3):
            assert (await evolve(client, key="k-one").chat(words(f"I go on, {number}."))).status == 200
        assert (await evolve(client, key="k-two").chat(words("I go on."))).status == 200
    one, two = (spent[Bearer(key).owner] for key in ("k-one", "k-two"))
    assert spent.keys() == {Bearer(key).owner for key in ("k-one", "k-two")}
    assert one > two > 0.001


async def test_without_required_keys_nobody_waits(serve: Serve) -> None:
    async with serve() as client:
        for number in range(3):
            assert (await evolve(client, key=f"k{number}").chat(words("I go on."))).status == 200
        runner = client.server._runner
        assert runner is not None
        assert runner.app[FAIR_SHARES]._accounts == {}, "any key is a key there, so it tells nobody apart"
