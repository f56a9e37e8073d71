"""The watch over the event loop, the collector's portions, and a log that holds no story."""

from __future__ import annotations

import asyncio
import gc
import logging
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from saga_core.counters import Counters
from saga_core.storage.open_models import ForeignCounter
from saga_server.process import LoopGuard, collector
from saga_server.process.collector import Tidying, few_arenas, give_back
from saga_server.process.event_loop import SWITCH_SECONDS, LoopWatch, _place, run_watched, running_watch
from tests.server.client import Client, words


def test_a_call_that_blocks_is_a_long_round() -> None:
    async def work() -> LoopWatch:
        watch = running_watch()
        assert watch is not None
        await asyncio.sleep(0)
        watch.forget()
        await asyncio.sleep(0)
        until = time.perf_counter() + 0.03
        while time.perf_counter() < until:
            pass
        await asyncio.sleep(0)
        return watch

    watch = run_watched(work())
    assert watch.wall.longest >= 30
    assert watch.cpu.longest <= watch.wall.longest * 1.5
    assert sum(watch.wall.counts) == sum(watch.cpu.counts)
    assert sum(watch.wall.counts[5:]) >= 1


def test_threads_hand_over_sooner_while_it_serves() -> None:
    async def work() -> float:
        return sys.getswitchinterval()

    usual = sys.getswitchinterval()
    assert run_watched(work()) == pytest.approx(SWITCH_SECONDS)
    assert sys.getswitchinterval() == usual


def test_where_a_round_was_blocked_is_told(caplog: pytest.LogCaptureFixture) -> None:
    def block(seconds: float) -> None:
        until = time.perf_counter() + seconds
        while time.perf_counter() < until:
            pass

    async def work() -> LoopWatch:
        watch = running_watch()
        assert watch is not None
        guard = LoopGuard(watch, blocked_seconds=0.1)
        guard.start()
        for seconds in (0.05, 0.4, 0.2):
            await asyncio.sleep(0)
            block(seconds)
            await asyncio.sleep(0)
        guard.stop()
        return watch

    watch = run_watched(work())
    assert watch.blocks == 2
    assert watch.place.endswith(" block") and watch.wall.longest >= 400
    assert sum("the event loop is blocked" in each.message and "block" in each.message for each in caplog.records) == 2


def test_where_it_is_blocked_says_what_was_called() -> None:
    places: list[str] = []

    class Plugin:
        def count(self, text: str) -> int:
            places.append(_place(sys._getframe()))
            return 1

    ForeignCounter(Plugin(), Plugin(), Counters()).count("text")  # type: ignore[arg-type]
    (told,) = places
    assert told.startswith("saga_core.storage.open_models:") and " count, in " in told
    assert f", in {__name__}:" in told and told.endswith(" count")


async def test_another_loop_has_no_watch() -> None:
    assert running_watch() is None


@pytest.fixture
def thresholds_of_a_server() -> Iterator[None]:
    """Python's own, while the tests run with higher ones."""
    high = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*high)


@pytest.mark.usefixtures("thresholds_of_a_server")
async def test_what_lives_is_put_away_in_portions() -> None:
    thresholds, callbacks = gc.get_threshold(), list(gc.callbacks)
    seen: list[int] = []

    def noted(phase: str, info: dict[str, int]) -> None:
        if phase == "start" and info["generation"] == 2:
            seen.append(len(gc.get_objects()))

    gc.freeze()
    gc.callbacks.append(noted)
    keeping = asyncio.create_task(Tidying(lambda: True).keep())
    try:
        await asyncio.sleep(0)
        frozen = gc.get_freeze_count()
        kept: list[list[int]] = []
        while len(kept) < 100_000:
            kept += ([number] for number in range(1_000))
            await asyncio.sleep(0)
        assert gc.get_freeze_count() > frozen + len(kept) * 3 // 4
        assert len(seen) > 4 and max(seen) < 20_000
    finally:
        keeping.cancel()
        await asyncio.gather(keeping, return_exceptions=True)
        gc.callbacks.remove(noted)
    assert (gc.get_threshold(), gc.callbacks) == (thresholds, callbacks)


async def test_a_portion_that_comes_where_no_call_has_room_is_put_away_with_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As in JSON that is nested too deeply: a traceback for each request would fill the log."""
    keeping = asyncio.create_task(Tidying(lambda: True).keep())
    await asyncio.sleep(0)
    collected, put_away = gc.callbacks[-1], 0
    loop = asyncio.get_running_loop()

    def no_room(*given: object) -> None:
        nonlocal put_away
        put_away += 1
        raise RecursionError

    with monkeypatch.context() as patch:
        patch.setattr(loop, "call_soon_threadsafe", no_room)
        collected("stop", {"generation": 1})
    assert put_away == 1
    keeping.cancel()
    await asyncio.gather(keeping, return_exceptions=True)
    assert collected not in gc.callbacks


_TIDIES = """
import gc, weakref
from saga_server.process import collector
from saga_server.process.collector import Tidying

class Circle:
    def __init__(self):
        self.me = self

collector._FEW = 0
busy = [True]
with collector.put_off():
    assert not gc.isenabled()
    left = weakref.ref(Circle())
    collector.settle()
    assert gc.isenabled() and left() is None
circle = Circle()
collector.put_away()
gone = weakref.ref(circle)
del circle
tidying = Tidying(lambda: busy[0])
for _ in range(collector._QUIET):
    tidying.step()
assert gone() is not None
busy[0] = False
for _ in range(collector._QUIET):
    tidying.step()
assert gone() is None
gc.get_freeze_count = lambda: 1 / 0  # it takes long, and must not be asked in this pause
for _ in range(3 * collector._QUIET):
    tidying.step()
"""


def test_what_a_start_left_behind_goes_at_once_and_what_dies_later_when_nobody_waits() -> None:
    """In a process of its own: a full collection here would visit all tests."""
    subprocess.run([sys.executable, "-c", _TIDIES], check=True)


async def test_logs_hold_no_story_that_is_not_marked(offline: Client, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    reply = await offline.chat(words("I whisper the word zanzibarium."))
    await offline.turns(reply.session)
    told = [record for record in caplog.records if "zanzibarium" in record.getMessage()]
    assert all(record.levelno == logging.DEBUG and getattr(record, "private", False) for record in told)


async def test_memory_goes_back_once_nobody_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[int] = []
    waiting = [True, True, *[False] * 4, True, *[False] * 8]
    monkeypatch.setattr(collector, "_SECONDS", 0.0)
    monkeypatch.setattr(collector, "give_back", lambda: given.append(len(waiting)))
    done = asyncio.Event()

    def busy() -> bool:
        if not waiting:
            done.set()
            return True
        return waiting.pop(0)

    keeping = asyncio.create_task(Tidying(busy).keep())
    await done.wait()
    keeping.cancel()
    await asyncio.gather(keeping, return_exceptions=True)
    assert given == [9, 4]


def test_giving_back_is_harmless() -> None:
    give_back()


@pytest.mark.parametrize(("given", "asked"), [("", [(-8, 2)]), ("4", [])])
def test_threads_share_two_heaps_unless_somebody_says_otherwise(
    monkeypatch: pytest.MonkeyPatch, given: str, asked: list[tuple[int, int]]
) -> None:
    found: list[tuple[int, int]] = []
    monkeypatch.setattr(collector, "_glibc", lambda name: lambda *numbers: found.append(numbers))
    monkeypatch.delenv("MALLOC_ARENA_MAX", raising=False)
    if given:
        monkeypatch.setenv("MALLOC_ARENA_MAX", given)
    few_arenas()
    assert found == asked
