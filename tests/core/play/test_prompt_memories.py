"""The memories of prompts: at hand, stored in part, read again, and never a reason for a turn to fail."""

from __future__ import annotations

from typing import Any

import pytest

from saga_backends.memory import MemoryState
from saga_core.counters import Counters
from saga_core.errors import StoreUnavailable
from saga_core.journal import keys
from saga_core.model import WorldState
from saga_core.play import PinnedPage, PromptMemories
from saga_core.prompt import Pin
from saga_core.prompt.caching import CacheBook
from saga_core.stores import Batch

PAGE = PinnedPage("## 지금\n숲", WorldState(turn="t1"))


async def page(memories: PromptMemories, turn: str, language: str) -> PinnedPage | None:
    return await memories.page("s", await memories.of("s"), turn, language)


def everywhere(_: str) -> bool:
    return True


@pytest.fixture
def memories() -> PromptMemories:
    return PromptMemories(MemoryState(), Counters())


async def write(memories: PromptMemories, session: str = "s") -> Batch:
    batch = memories.changes(session, everywhere)
    await memories.kv.commit(batch)
    memories.stored(session, batch)
    return batch


async def test_a_memory_is_at_hand_once_and_empty_where_nothing_is_known(memories: PromptMemories) -> None:
    held = await memories.of("s")
    assert not held.known and held.prompts.moments == []
    assert await memories.of("s") is held
    assert await memories.of("other") is not held


async def test_nothing_is_written_of_a_session_that_was_not_asked_for(memories: PromptMemories) -> None:
    assert memories.changes("s", everywhere) == Batch()
    memories.stored("s", Batch({keys.prompt("s", "memory"): b"{}"}))
    assert memories.changes("s", everywhere) == Batch()


async def test_only_what_changed_is_written_again(memories: PromptMemories) -> None:
    held = await memories.of("s")
    held.prompts.record_request(10.0)
    assert set((await write(memories)).puts) == {keys.prompt("s", "memory"), keys.prompt("s", "floating")}
    assert (await write(memories)).puts == {}
    held.prompts.record_request(20.0)
    assert set((await write(memories)).puts) == {keys.prompt("s", "memory")}


async def test_what_was_written_is_read_again(memories: PromptMemories) -> None:
    held = await memories.of("s")
    held.prompts.record_request(10.0)
    held.pins.decide("t1", Pin("t1", "t1", "first", "ko"))
    memories.scales["p", "m"] = 1.25
    held.prompts.books["p", "m"] = CacheBook()
    await write(memories)
    later = PromptMemories(memories.kv, Counters())
    again = await later.of("s")
    assert again.known and again.prompts.moments == [10.0]
    assert again.pins.latest(1)[-1] == ("t1", Pin("t1", "t1", "first", "ko"))
    assert later.scales == {("p", "m"): 1.25}
    assert later.changes("s", everywhere).puts == {}, "nothing to write of what was just read"


async def test_pages_are_kept_as_they_were_pinned(memories: PromptMemories) -> None:
    assert await page(memories, "t1", "ko") is None
    (await memories.of("s")).fresh["t1", "ko"] = PAGE
    assert await page(memories, "t1", "ko") == PAGE, "before it is written"
    await write(memories)
    assert await page(memories, "t1", "ko") == PAGE
    assert await page(memories, "t1", "en") is None
    memories.forget()
    assert await page(memories, "t1", "ko") == PAGE


async def test_the_latest_four_pages_are_stored(memories: PromptMemories) -> None:
    for number in range(6):
        (await memories.of("s")).fresh[f"t{number}", "ko"] = PAGE
        await write(memories)
    stored = [key[3] for key, _ in await memories.kv.scan(("prompt", "s", "page"))]
    assert stored == ["t2", "t3", "t4", "t5"]
    assert await page(memories, "t1", "ko") is None


async def test_nothing_is_written_of_turns_that_were_pruned(memories: PromptMemories) -> None:
    held = await memories.of("s")
    for turn in ("t1", "t2"):
        held.pins.decide(turn, Pin(turn, turn, "first", "ko"))
        (await memories.of("s")).fresh[turn, "ko"] = PAGE
    await write(memories)
    batch = memories.changes("s", lambda turn: turn != "t1")
    assert batch.deletes == {keys.pinned_page("s", "t1", "ko")}
    assert all(b"t1" not in raw for key, raw in batch.puts.items() if key[2] == "memory")
    assert keys.prompt("s", "memory") in batch.puts


@pytest.mark.parametrize(
    "damage", [b"{", b'{"books":[{"provider":"p","model":"m","links":"xx"}]}', b'{"pinned":[["t",5]]}']
)
async def test_a_damaged_memory_is_an_empty_one_and_says_so(memories: PromptMemories, damage: bytes) -> None:
    await memories.kv.commit(Batch({keys.prompt("s", "memory"): damage}))
    held = await memories.of("s")
    assert not held.known and held.prompts.moments == []
    assert "prompt.memory" in memories.counters.degraded


async def test_a_store_that_does_not_answer_costs_the_memory_and_no_more(
    memories: PromptMemories, monkeypatch: pytest.MonkeyPatch
) -> None:
    (await memories.of("s")).fresh["t1", "ko"] = PAGE
    await write(memories)
    memories.forget()

    async def away(*_: Any) -> dict[Any, bytes]:
        raise StoreUnavailable("away")

    with monkeypatch.context() as broken:
        broken.setattr(memories.kv, "get", away)
        assert not (await memories.of("s")).known
    assert memories.counters.degraded["prompt.memory"] == "away"
    memories.forget()
    assert (await memories.of("s")).known
    assert "prompt.memory" not in memories.counters.degraded
    with monkeypatch.context() as broken:
        broken.setattr(memories.kv, "get", away)
        assert await page(memories, "t1", "ko") is None


def test_a_bill_tells_how_a_provider_counts(memories: PromptMemories) -> None:
    memories.learn(("p", "m"), 1_000, 1_200)
    assert memories.scales == {("p", "m"): 1.2}
    memories.learn(("p", "m"), 1_000, 1_400)
    assert memories.scales["p", "m"] == pytest.approx(1.3), "half of it is what was known before"
    memories.learn(("p", "m"), 499, 5_000)
    memories.learn(("p", "m"), 5_000, 499)
    assert memories.scales["p", "m"] == pytest.approx(1.3), "short prompts tell nothing"


@pytest.mark.parametrize(("billed", "scale"), [(600, 0.5), (100_000, 3.0)])
def test_no_count_is_believed_that_is_beyond_reason(memories: PromptMemories, billed: int, scale: float) -> None:
    memories.learn(("p", "m"), 10_000, billed)
    assert memories.scales["p", "m"] == scale
