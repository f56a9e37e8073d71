"""What turns cost, and what is said when the cache fails."""

from __future__ import annotations

import pytest

from saga_core import Saga
from saga_core.ports import Usage
from tests.bench.cache.play import PlayClock
from tests.core.frontend import Frontend, answer, memory_config

MODEL = "claude-sonnet-4-5"
RULES = "\n".join(
    f"Rule {n}: the narrator keeps to what was said before, and says it well and briefly." for n in range(90)
)


async def say(player: Frontend, words: str, usage: Usage | None) -> str:
    begun = await player.begin(words, model=MODEL, provider="anthropic")
    if usage is not None:
        begun.billed(usage, model=MODEL, provider="anthropic")
    shown = await answer(begun, f"'{words}' 하고 말하자 바람이 분다.", hp_change=-1)
    player.history += [{"role": "user", "content": words}, {"role": "assistant", "content": shown}]
    return begun.id


async def test_each_turn_is_billed_beside_what_it_would_have_cost() -> None:
    async with Saga.open(memory_config()) as saga:
        player = Frontend(saga, system=RULES)
        await say(player, "숲으로 간다", Usage(4_000, 100, 0, 3_500))
        await say(player, "나무에 오른다", Usage(4_300, 100, 3_500, 300, 300))
        await say(player, "내려온다", None)
        assert player.last is not None
        first, second = await saga.sessions.cost(player.last.session.id)
        assert (first.input, first.read, first.written, second.written_1h) == (4_000, 0, 3_500, 300)
        assert first.dollars == pytest.approx((500 + 3_500 * 1.25) * 3e-6 + 100 * 15e-6)
        assert second.dollars == pytest.approx((500 + 3_500 * 0.1 + 300 * 2) * 3e-6 + 100 * 15e-6)
        assert first.uncached == pytest.approx(4_000 * 3e-6 + 100 * 15e-6)
        assert 0 < first.context < first.added < first.input
        assert first.block > 0
        assert first.without == pytest.approx((4_000 - first.added) * 3e-6 + (100 - first.block) * 15e-6)
        assert first.pinned == "first" and second.pinned == "" and first.note == second.note == ""
        total = (await saga.sessions.costs())[player.last.session.id].total
        assert (total.calls, total.input) == (2, 8_300)


async def test_a_cache_that_fails_is_told_in_words() -> None:
    clock = PlayClock()
    async with Saga.open(memory_config(), clock=clock) as saga:
        player = Frontend(saga, system=RULES)
        first = await say(player, "숲으로 간다", Usage(4_000, 100, 0, 3_900))
        clock.at += 20
        second = await say(player, "나무에 오른다", Usage(4_200, 100, 3_900, 200))
        clock.at += 20
        player.system = "Now write in another voice.\n" + RULES.replace("briefly", "at length")
        third = await say(player, "내려온다", Usage(4_400, 100, 0, 4_300))
        clock.at += 20
        fourth = await say(player, "돌아온다", Usage(4_500, 100, 0, 4_400))
        assert player.last is not None
        bills = {bill.turn: bill for bill in await saga.sessions.cost(player.last.session.id)}
        assert bills[first].note == bills[second].note == ""
        said = bills[third].note
        assert said.startswith("since the prompt that continued t")
        assert " was system 'Rule 0: the narrator" in said and "is system 'Now write in another voice." in said
        assert "were: the provider dropped its entry" in bills[fourth].note and " and 0 were" in bills[fourth].note
        assert saga.counters.counts["cache.broken"] == 2


async def test_bills_go_with_their_session() -> None:
    async with Saga.open(memory_config()) as saga:
        player = Frontend(saga, system=RULES)
        await say(player, "숲으로 간다", Usage(4_000, 100))
        assert player.last is not None
        session = player.last.session.id
        assert session in await saga.sessions.costs()
        await saga.sessions.delete(session)
        assert await saga.sessions.costs() == {}


async def test_a_side_request_reads_the_clients_own_prompt_and_writes_nothing() -> None:
    async with Saga.open(memory_config()) as saga:
        player = Frontend(saga, system=RULES)
        await say(player, "숲으로 간다", Usage(4_000, 100))
        marks = [block.breakpoint for block in player.last.plan.blocks] if player.last else []
        assert any(marks)
        begun = await saga.begin(
            [*player.messages(None), {"role": "system", "content": "[Pause the story. Summarise it.]"}],
            model=MODEL,
            provider="anthropic",
        )
        assert begun.planned is not None
        assert [block.content for block in begun.plan.blocks if block.breakpoint] == [RULES]
        assert (begun.planned.request.outlook.written, begun.planned.diverged) == (0, "")
        assert begun.planned.request.outlook.read > 1_000


async def test_pages_stay_after_a_restart(tmp_path: object) -> None:
    config = {"storage": {"profile": "lite", "path": str(tmp_path)}, "session": {"default_world": "ersia"}}
    history = []
    pages = []
    for _ in range(2):
        async with Saga.open(config) as saga:
            player = Frontend(saga, system=RULES, history=history)
            for number in range(3):
                await say(player, f"{len(history)}번째로 숲을 걷는다", Usage(4_000, 100))
                assert player.last is not None
                pages.append([b.content for b in player.last.plan.blocks if str(b.content).startswith("## ")])
                assert number < 3
            history = player.history
    assert len(pages) == 6 and all(each == pages[0] for each in pages)
