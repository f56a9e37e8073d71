"""The cache of scopes: loads, turns, memory limits, failures and cancellations, on a store that is held by hand."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from attrs import define, field

from saga_backends.resident import scope_cache
from saga_backends.resident.scope_cache import ScopeCache
from saga_core.errors import BadInput, Closed, NotFound, StoreError


@define
class Image:
    """What a scope holds: words of ten bytes each."""

    words: list[str]

    @property
    def size(self) -> int:
        return 10 * len(self.words)


@define
class Shelf:
    """A store of words, whose loads and writes stop at ``gate`` while there is one, and fail when told to."""

    words: dict[str, list[str]] = field(factory=dict)
    gate: asyncio.Event | None = None
    failure: Exception | None = None
    late_failure: Exception | None = None
    reads: int = 0
    adds: int = 0

    async def load(self, scope: str, most: int) -> Image | None:
        self.reads += 1
        found = list(self.words.get(scope, []))
        if self.gate is not None:
            await self.gate.wait()
        if self.failure is not None:
            raise self.failure
        image = Image(found)
        return image if image.size <= most else None

    async def add(self, scope: str, word: str) -> int:
        self.adds += 1
        if self.gate is not None:
            await self.gate.wait()
        if self.failure is not None:
            raise self.failure
        self.words.setdefault(scope, []).append(word)
        if self.late_failure is not None:
            raise self.late_failure
        return len(self.words[scope])


def cache_of(shelf: Shelf, limit: int = 100, scope: int | None = None) -> ScopeCache[Image]:
    return ScopeCache(shelf.load, limit_bytes=limit, scope_bytes=scope)


async def write(cache: ScopeCache[Image], shelf: Shelf, scope: str, word: str) -> int:
    def mirror(image: Image, count: int) -> bool:
        image.words.append(word)
        return len(image.words) == count

    return await cache.write(scope, lambda: shelf.add(scope, word), mirror)


async def words(cache: ScopeCache[Image], scope: str) -> list[str] | None:
    image = await cache.fetch(scope)
    return None if image is None else list(image.words)


async def until(condition: Callable[[], bool]) -> None:
    for _ in range(100):
        if condition():
            return
        await asyncio.sleep(0)
    raise AssertionError("it does not come true")


async def test_a_scope_is_loaded_once_and_then_found() -> None:
    shelf = Shelf({"s": ["a"]})
    cache = cache_of(shelf)
    assert cache.find("s") is None
    assert await words(cache, "s") == ["a"]
    assert await words(cache, "s") == ["a"]
    found = cache.find("s")
    assert found is not None and found.words == ["a"]
    assert (shelf.reads, cache.loads, cache.hits, cache.used_bytes, len(cache)) == (1, 1, 2, 10, 1)


async def test_concurrent_first_reads_share_one_load() -> None:
    shelf = Shelf({"s": ["a"]}, gate=asyncio.Event())
    cache = cache_of(shelf)
    readers = [asyncio.create_task(words(cache, "s")) for _ in range(5)]
    await until(lambda: shelf.reads == 1)
    readers[0].cancel()  # the others still get theirs
    assert shelf.gate is not None
    shelf.gate.set()
    assert await asyncio.gather(*readers[1:]) == [["a"]] * 4
    assert readers[0].cancelled() or readers[0].cancelling()
    assert (shelf.reads, cache.loads) == (1, 1)


async def test_a_load_goes_on_when_every_reader_is_gone() -> None:
    shelf = Shelf({"s": ["a"]}, gate=asyncio.Event())
    cache = cache_of(shelf)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(words(cache, "s"), 0.001)
    assert shelf.gate is not None
    shelf.gate.set()
    await until(lambda: len(cache) == 1)
    assert (await words(cache, "s"), shelf.reads) == (["a"], 1)


async def test_an_error_of_a_load_reaches_all_readers_and_is_not_kept() -> None:
    shelf = Shelf({"s": ["a"]}, gate=asyncio.Event(), failure=StoreError("the disk"))
    cache = cache_of(shelf)
    readers = [asyncio.create_task(words(cache, "s")) for _ in range(3)]
    await until(lambda: shelf.reads == 1)
    assert shelf.gate is not None
    shelf.gate.set()
    results = await asyncio.gather(*readers, return_exceptions=True)
    assert [type(result) for result in results] == [StoreError] * 3
    shelf.failure = None
    assert await words(cache, "s") == ["a"]
    assert (shelf.reads, cache.loads) == (2, 1)


async def test_a_write_during_a_load_is_not_lost() -> None:
    shelf = Shelf({"s": ["a"]}, gate=asyncio.Event())
    cache = cache_of(shelf)
    reader = asyncio.create_task(words(cache, "s"))
    await until(lambda: shelf.reads == 1)  # it has seen the store without "b"
    writer = asyncio.create_task(write(cache, shelf, "s", "b"))
    assert shelf.gate is not None
    shelf.gate.set()
    assert await reader in (["a"], ["a", "b"])
    assert await writer == 2
    assert await words(cache, "s") == ["a", "b"]
    assert shelf.reads == 1


async def test_a_load_during_a_write_waits_for_it() -> None:
    shelf = Shelf({"s": ["a"]}, gate=asyncio.Event())
    cache = cache_of(shelf)
    writer = asyncio.create_task(write(cache, shelf, "s", "b"))
    await until(lambda: shelf.adds == 1)
    reader = asyncio.create_task(words(cache, "s"))
    assert shelf.gate is not None
    shelf.gate.set()
    await writer
    assert await reader == ["a", "b"]


async def test_writes_of_a_scope_keep_their_order_and_scopes_do_not_wait_for_each_other() -> None:
    shelf = Shelf({"s": [], "t": []}, gate=asyncio.Event())
    cache = cache_of(shelf)
    slow = [asyncio.create_task(write(cache, shelf, "s", word)) for word in "abc"]
    await until(lambda: shelf.adds == 1)
    gate, shelf.gate = shelf.gate, None
    # The first write of s stands at the gate, the others behind it; t passes.
    assert await write(cache, shelf, "t", "x") == 1
    assert shelf.words["s"] == []
    assert gate is not None
    gate.set()
    assert await asyncio.gather(*slow) == [1, 2, 3]
    assert shelf.words["s"] == ["a", "b", "c"]


async def test_a_read_during_a_write_sees_the_old_and_does_not_wait() -> None:
    shelf = Shelf({"s": ["a"]})
    cache = cache_of(shelf)
    await words(cache, "s")
    shelf.gate = asyncio.Event()
    writer = asyncio.create_task(write(cache, shelf, "s", "b"))
    await until(lambda: shelf.adds == 1)
    assert await words(cache, "s") == ["a"]
    shelf.gate.set()
    await writer
    assert await words(cache, "s") == ["a", "b"]


async def test_a_refused_write_leaves_the_image() -> None:
    shelf = Shelf({"s": ["a"]})
    cache = cache_of(shelf)
    await words(cache, "s")
    for refusal in (BadInput("no"), NotFound("no")):
        shelf.failure = refusal
        with pytest.raises(type(refusal)):
            await write(cache, shelf, "s", "b")
    assert (await words(cache, "s"), shelf.reads) == (["a"], 1)


async def test_after_a_failed_write_the_truth_is_read_again() -> None:
    shelf = Shelf({"s": ["a"]})
    cache = cache_of(shelf)
    await words(cache, "s")
    # The store kept it, and failed then: nobody could know.
    shelf.late_failure = StoreError("the connection is gone")
    with pytest.raises(StoreError):
        await write(cache, shelf, "s", "b")
    assert cache.find("s") is None
    assert cache.used_bytes == 0
    assert await words(cache, "s") == ["a", "b"]


async def test_a_cancelled_write_is_still_written_and_seen() -> None:
    shelf = Shelf({"s": ["a"]})
    cache = cache_of(shelf)
    await words(cache, "s")
    shelf.gate = asyncio.Event()
    writer = asyncio.create_task(write(cache, shelf, "s", "b"))
    await until(lambda: shelf.adds == 1)
    writer.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writer
    shelf.gate.set()
    await until(lambda: shelf.words["s"] == ["a", "b"])
    assert (await words(cache, "s"), shelf.reads) == (["a", "b"], 1)


@pytest.mark.parametrize("scope", [5, 100])
async def test_reads_wait_for_a_write_that_its_caller_left(scope: int) -> None:
    shelf = Shelf({"s": ["a"]})
    cache = cache_of(shelf, scope=scope)  # in 5 bytes no image has room: the store itself is read
    await words(cache, "s")
    shelf.gate = asyncio.Event()
    writer = asyncio.create_task(write(cache, shelf, "s", "b"))
    await until(lambda: shelf.adds == 1)
    writer.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writer
    assert cache.find("s") is None, "one read behind the other must not see the scope without it and with it"
    reads = [asyncio.create_task(cache.known("s")), asyncio.create_task(cache.fetch("s"))]
    _, waiting = await asyncio.wait(reads, timeout=0.01)
    assert waiting == set(reads) and shelf.words["s"] == ["a"]
    shelf.gate.set()
    images = await asyncio.gather(*reads)
    assert shelf.words["s"] == ["a", "b"]
    assert [image and image.words for image in images] == ([["a", "b"]] * 2 if scope == 100 else [None] * 2)
    assert (cache.find("s") is not None) is (scope == 100)


async def test_an_image_that_disagrees_with_the_store_is_given_up() -> None:
    shelf = Shelf({"s": ["a"]})
    cache = cache_of(shelf)
    await words(cache, "s")
    shelf.words["s"].append("by another process")
    assert await write(cache, shelf, "s", "b") == 3
    assert cache.divergences == 1
    assert await words(cache, "s") == ["a", "by another process", "b"]


async def test_the_least_recently_used_goes_first() -> None:
    shelf = Shelf({name: [name] * 4 for name in "abc"})
    cache = cache_of(shelf, limit=100)
    await words(cache, "a")
    await words(cache, "b")
    await words(cache, "a")
    await words(cache, "c")
    assert [cache.find(name) is not None for name in "abc"] == [True, False, True]
    assert (cache.evictions, cache.used_bytes, len(cache)) == (1, 80, 2)
    assert await words(cache, "b") == ["b"] * 4
    assert cache.loads == 4


async def test_a_write_makes_room_too() -> None:
    shelf = Shelf({name: [name] * 4 for name in "ab"})
    cache = cache_of(shelf, limit=80)
    await words(cache, "a")
    await words(cache, "b")
    await write(cache, shelf, "a", "x")
    # "a" outgrew the half that one scope may have; "b" was not touched.
    assert cache.find("a") is None
    assert cache.find("b") is not None
    assert cache.used_bytes == 40
    await words(cache, "a")
    assert cache.bypasses == 1
    shelf.words["c"] = ["c"] * 4
    await words(cache, "c")
    await write(cache, shelf, "c", "x")
    assert cache.used_bytes == 40
    assert cache.evictions == 0


async def test_growth_of_one_scope_evicts_another() -> None:
    shelf = Shelf({name: [name] * 4 for name in "ab"})
    cache = cache_of(shelf, limit=80, scope=80)
    await words(cache, "a")
    await words(cache, "b")
    await write(cache, shelf, "a", "x")
    assert (cache.find("a") is not None, cache.find("b") is not None) == (True, False)
    assert (cache.evictions, cache.used_bytes) == (1, 50)


async def test_a_scope_beyond_its_limit_is_bypassed_until_it_is_forgotten() -> None:
    shelf = Shelf({"big": ["x"] * 6, "small": ["y"]})
    cache = cache_of(shelf, limit=100, scope=50)
    assert [await words(cache, "big") for _ in range(3)] == [None] * 3
    assert (shelf.reads, cache.bypasses, len(cache)) == (1, 3, 0)
    assert await words(cache, "small") == ["y"]
    shelf.words["big"] = ["x"]
    assert await words(cache, "big") is None
    cache.forget("big")
    assert await words(cache, "big") == ["x"]


async def test_forget_reads_anew() -> None:
    shelf = Shelf({"s": ["a"], "t": ["t"]})
    cache = cache_of(shelf)
    await words(cache, "s")
    await words(cache, "t")
    shelf.words["s"].append("by another process")
    cache.forget("s")
    assert await words(cache, "s") == ["a", "by another process"]
    assert shelf.reads == 3
    cache.forget()
    assert (len(cache), cache.used_bytes) == (0, 0)
    await words(cache, "t")
    assert shelf.reads == 4


@pytest.mark.parametrize("name", ["s", None])
async def test_what_is_forgotten_during_its_load_is_not_kept(name: str | None) -> None:
    shelf = Shelf({"s": ["a"]}, gate=asyncio.Event())
    cache = cache_of(shelf)
    reader = asyncio.create_task(words(cache, "s"))
    await until(lambda: shelf.reads == 1)
    shelf.words["s"].append("by another process")
    cache.forget(name)
    assert shelf.gate is not None
    shelf.gate.set()
    assert await reader == ["a"]  # it asked before
    assert await words(cache, "s") == ["a", "by another process"]


async def test_close_ends_although_a_write_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scope_cache, "CLOSING_SECONDS", 0.05)
    shelf = Shelf(gate=asyncio.Event())
    cache = cache_of(shelf)
    writing = asyncio.create_task(write(cache, shelf, "s", "a"))
    await until(lambda: shelf.adds == 1)
    async with asyncio.timeout(5):
        await cache.close()
        with pytest.raises(asyncio.CancelledError):
            await writing


async def test_close_waits_for_writes_and_refuses_the_rest() -> None:
    shelf = Shelf({"s": ["a"]}, gate=asyncio.Event())
    cache = cache_of(shelf)
    writer = asyncio.create_task(write(cache, shelf, "s", "b"))
    reader = asyncio.create_task(words(cache, "s"))
    await until(lambda: shelf.adds == 1)
    closing = asyncio.create_task(cache.close())
    await asyncio.sleep(0)
    assert not closing.done()
    for call in (cache.fetch("s"), write(cache, shelf, "s", "c")):
        with pytest.raises(Closed):
            await call
    assert shelf.gate is not None
    shelf.gate.set()
    await closing
    assert shelf.words["s"] == ["a", "b"]
    assert (await writer, await reader) == (2, ["a", "b"])
    assert (len(cache), cache.find("s")) == (0, None)
    await cache.close()


async def test_limits_are_checked() -> None:
    shelf = Shelf()
    for limit, scope in ((0, None), (100, 0), (100, 101)):
        with pytest.raises(BadInput, match="bytes"):
            cache_of(shelf, limit, scope)


async def test_counters_say_it_all() -> None:
    shelf = Shelf({"s": ["a"], "big": ["x"] * 9})
    cache = cache_of(shelf)
    await words(cache, "s")
    await words(cache, "s")
    await words(cache, "big")
    assert cache.counters == {
        "scopes": 1,
        "bytes": 10,
        "limit_bytes": 100,
        "hits": 1,
        "loads": 2,
        "evictions": 0,
        "bypasses": 1,
        "divergences": 0,
    }
