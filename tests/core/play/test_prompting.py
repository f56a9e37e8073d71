"""Prompting: what a prompt is made of, what is expected of its cache, and what is written of it with its turn."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from saga_core import Saga
from saga_core.journal import keys
from saga_core.messages import Origin
from saga_core.ports import Usage
from saga_core.prompt import Pin
from saga_core.state_block import ItemAmount, RelationChange
from saga_core.stores import Batch
from tests.bench.cache.play import PlayClock
from tests.core.frontend import Frontend, answer, memory_config

MODEL = {"model": "claude-sonnet-4-5", "provider": "anthropic"}
RULES = "\n".join(f"Rule {number}: tell it as it is, and tell it briefly." for number in range(90))
FEUD = RelationChange("에르겐", "크룩", "hostile", -4)
WALK = "낡은 길을 따라 숲 속으로 들어선다. 나무가 빛을 가린다."


@pytest.fixture
def clock() -> PlayClock:
    return PlayClock()


@pytest.fixture
async def saga(clock: PlayClock) -> AsyncIterator[Saga]:
    async with Saga.open(memory_config(), clock=clock) as opened:
        yield opened


async def say(chat: Frontend, words: str, reply: str = WALK, **fields: Any) -> None:
    begun = await chat.begin(words, **MODEL)
    begun.billed(Usage(4_000, 100), **MODEL)
    shown = await answer(begun, reply, **fields)
    chat.history += [{"role": "user", "content": words}, {"role": "assistant", "content": shown}]


async def test_the_parts_stand_in_their_order_and_what_is_ours_is_counted(saga: Saga) -> None:
    chat = Frontend(saga, system=RULES)
    begun = await chat.begin("숲으로 간다.", **MODEL)
    origins = [block.origin for block in begun.plan.blocks]
    assert origins == sorted(origins, key=list(Origin).index)
    assert {Origin.CLIENT, Origin.RULES, Origin.WORLD, Origin.PAGES, Origin.HISTORY, Origin.WORDS} <= set(origins)
    planned = begun.planned
    assert planned is not None
    ours = [b.text for b in begun.plan.blocks if b.origin in (Origin.RULES, Origin.WORLD, Origin.PAGES)]
    count = saga.stores.counter.count
    assert planned.added == sum(map(count, [*ours, begun.context.text]))
    assert (planned.pin, planned.language, planned.reason) == (begun.parent.id, "ko", "first")
    assert planned.request.turn == begun.parent.id


@pytest.mark.parametrize(
    ("settings", "model"),
    [({"prompt_caching": {"enabled": False}}, MODEL), ({}, {}), ({}, {"model": "x", "provider": "local"})],
)
async def test_nothing_is_marked_or_expected_where_no_cache_is_known(
    settings: dict[str, Any], model: dict[str, str]
) -> None:
    config = {"storage": {"profile": "memory"}, "session": {"default_world": "ersia"}, **settings}
    async with Saga.open(config) as saga:
        begun = await Frontend(saga, system=RULES).begin("숲으로 간다.", **model)
        assert begun.planned is None
        assert not any(block.breakpoint for block in begun.plan.blocks)
        assert any(block.origin is Origin.RULES for block in begun.plan.blocks)


async def test_a_known_cache_is_marked(saga: Saga) -> None:
    begun = await Frontend(saga, system=RULES).begin("숲으로 간다.", **MODEL)
    assert any(block.breakpoint for block in begun.plan.blocks)
    assert not any(block.breakpoint for block in begun.plan.blocks if block.origin is Origin.WORDS)


async def test_changes_told_behind_the_history_are_put_to_the_account_of_the_pin(saga: Saga) -> None:
    chat = Frontend(saga, system=RULES)
    await say(chat, "숲으로 간다.", items_gained=(ItemAmount("불꽃 검"),), relationship_changes=(FEUD,))
    assert chat.last is not None
    memory = await saga.parts.prompting.memories.of(chat.last.session.id)
    pin = Pin(chat.last.parent.id, chat.last.parent.id, "first", "ko")
    assert memory.pins.accrued(pin).tokens == 0
    await chat.begin("더 들어간다.", **MODEL)
    told = memory.pins.accrued(pin)
    assert 0 < told.tokens <= chat.last.context.tokens and not told.full


async def test_when_requests_came_is_remembered_and_seeded_by_the_path(saga: Saga, clock: PlayClock) -> None:
    chat = Frontend(saga, system=RULES)
    times = []
    for words in ("숲으로 간다.", "더 들어간다."):
        clock.at += 60
        times.append(clock.at)
        await say(chat, words, f"{words} {WALK}")
    assert chat.last is not None
    session, prompting = chat.last.session.id, saga.parts.prompting
    assert (await prompting.memories.of(session)).prompts.moments == times
    await saga.stores.state.commit(_without(keys.prompt(session, "memory")))
    prompting.forget()
    clock.at += 60
    live = await saga.parts.live.get(session)
    memory = await prompting.memories.of(session)
    prompting.record_request(memory, live.tree, live.head, clock.at)
    assert memory.prompts.moments == [*times, clock.at], "the root's time is no turn's"
    prompting.record_request(memory, live.tree, live.head, clock.at)
    assert memory.prompts.moments == [*times, clock.at, clock.at]


def _without(key: tuple[str, ...]) -> Batch:
    return Batch(deletes=frozenset({key}))


async def test_a_bill_and_the_memory_are_written_beside_the_turn_and_once(saga: Saga) -> None:
    chat = Frontend(saga, system=RULES)
    begun = await chat.begin("숲으로 간다.", **MODEL)
    session, recorder = begun.session.id, saga.play.recorder
    live = await saga.parts.live.get(session)
    begun.billed(Usage(4_000, 100), **MODEL)
    bill = recorder.bills.bill(begun)
    batch = recorder.beside(live, bill)
    assert set(batch.puts) == {
        keys.bill(session, begun.id),
        keys.prompt(session, "memory"),
        keys.prompt(session, "floating"),
        keys.pinned_page(session, begun.parent.id, "ko"),
    }
    assert recorder.beside(live, None).puts.keys() == batch.puts.keys() - {keys.bill(session, begun.id)}
    recorder.memories.stored(session, batch)
    assert recorder.beside(live, None).puts == {}


async def test_what_was_forgotten_is_read_again(saga: Saga) -> None:
    chat = Frontend(saga, system=RULES)
    await say(chat, "숲으로 간다.")
    assert chat.last is not None
    memories = saga.parts.prompting.memories
    before = await memories.of(chat.last.session.id)
    assert await memories.of(chat.last.session.id) is before
    saga.parts.prompting.forget()
    again = await memories.of(chat.last.session.id)
    assert again is not before and again.prompts.moments == before.prompts.moments


async def test_an_expired_prefix_takes_in_what_has_settled_of_the_clients_prompt(saga: Saga, clock: PlayClock) -> None:
    chat = Frontend(saga)
    moods = ["Calm.", "Stormy.", *["Quiet."] * 12]
    relocated = []
    for number, mood in enumerate(moods):
        chat.system = f"{RULES}\n\nThe weather is as follows. {mood} It is {'so' if number < 2 else 'still so'}."
        await say(chat, f"{number}번째 언덕을 넘는다.", f"{number}번째 언덕 너머에 안개가 짙게 깔려 있다.")
        assert chat.last is not None
        relocated.append(any(mood in block.lead for block in chat.last.plan.blocks))
    assert any(relocated), "what changes is carried behind the breakpoints"
    clock.at += 100_000
    begun = await chat.begin("마지막 언덕을 넘는다.", **MODEL)
    assert begun.planned is not None and begun.planned.reason == "expired"
    assert not any("Quiet." in block.lead for block in begun.plan.blocks)
    assert any("Quiet." in block.text for block in begun.plan.blocks if block.origin is Origin.CLIENT)
