"""The prefix survives: over random plays, through the engine."""

from __future__ import annotations

import asyncio
from typing import Any

from attrs import define, evolve, field
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from saga_core import Saga
from saga_core.messages import Stability
from saga_core.play.pending_turn import PendingTurn
from saga_core.ports import Usage
from saga_core.state_block import BlockFields, ItemAmount
from tests.bench.cache.play import PlayClock
from tests.blocks import render_block
from tests.core.frontend import memory_config

MODEL = "claude-sonnet-5-5"
SYSTEM = "\n".join(f"{n}번째 규칙: 이야기꾼은 앞에서 말한 것을 지키고, 짧고 또렷하게 말한다." for n in range(24))


@define
class Player:
    """A client that plays at random, and checks each prompt against the one before it."""

    saga: Saga
    clock: PlayClock
    system: str = SYSTEM
    chat: list[tuple[str, str]] = field(factory=list)
    before: list[tuple[list[dict[str, Any]], PendingTurn]] = field(factory=list)
    """The last request at each depth of the path."""
    turns: int = 0
    reasons: dict[str, str] = field(factory=dict)

    def messages(self, words: str) -> list[dict[str, Any]]:
        dialogue = [(role, text) for said in self.chat for role, text in zip(("user", "assistant"), said, strict=True)]
        return [
            {"role": role, "content": text}
            for role, text in [("system", self.system), *dialogue, ("user", words), ("system", "짧게 답한다.")]
        ]

    async def say(self, words: str) -> None:
        self.turns += 1
        messages = self.messages(words)
        begun = await self.saga.begin(messages, model=MODEL, provider="anthropic", session="play")
        depth = len(self.chat)
        self.check(begun, messages, self.before[min(depth, len(self.before) - 1)] if self.before else None)
        self.before[depth:] = [(messages, begun)]
        told = f"{self.turns}번째 대답. 숲이 조용하다. The lamp burns low. " + "바람이 분다. " * (self.turns % 7)
        fields = BlockFields(hp_change=-1, items_gained=(ItemAmount(f"구슬 {self.turns}", 1),))
        reply = begun.replies[0]
        reply.feed(f"{told}\n\n{render_block(fields)}")
        reply.finish()
        begun.billed(Usage(5_000, 300), model=MODEL, provider="anthropic")
        await begun.commit()
        assert begun.planned is not None
        if begun.planned.reason:
            self.reasons[begun.id] = begun.planned.reason
        self.chat.append((words, reply.text))

    def check(
        self,
        begun: PendingTurn,
        messages: list[dict[str, Any]],
        before: tuple[list[dict[str, Any]], PendingTurn] | None,
    ) -> None:
        assert begun.planned is not None
        if before is None:
            assert begun.planned.reason == "first"
            return
        sent, last = before
        old, new = ([evolve(b, breakpoint=None) for b in each.plan.blocks] for each in (last, begun))
        marked = [at for at, block in enumerate(last.plan.blocks) if block.breakpoint]
        same = next(
            (at for at, (a, b) in enumerate(zip(sent, messages, strict=False)) if a != b),
            min(len(sent), len(messages)),
        )
        ours = sum(block.stability is Stability.STABLE for block in old) - 1  # behind the client's system prompt
        for at in range(max(marked, default=-1) + 1):
            if (at == 0 and same == 0) or at - ours >= max(same, 1):
                return  # from here on the client's own text is another
            if old[at] != new[at]:
                # A branch goes on with the newest prefix of its own path: the reason may be that of a turn it turns its
                # back on. Where what was said before `last` is another by now, `last` is such a turn itself.
                edited = same < len(sent) - 2
                turned = {why for turn, why in self.reasons.items() if turn > last.id or (edited and turn == last.id)}
                since = turned | {begun.planned.reason}
                assert since & {"expired", "cut", "curation", "cost", "full"}, (at, old[at], new[at])
                return


STEPS = st.sampled_from(["say", "say", "say", "swipe", "back", "edit reply", "edit system", "pause", "long pause"])


async def played(steps: list[str], lengths: list[int]) -> None:
    clock = PlayClock()
    async with Saga.open(memory_config(), clock=clock) as saga:
        player = Player(saga, clock)
        for number, step in enumerate(steps):
            clock.at += 20
            if step == "swipe" and player.chat:
                words, _ = player.chat.pop()
                await player.say(words)
                continue
            if step == "back":
                del player.chat[-lengths[number % len(lengths)] :]
            elif step == "edit reply" and player.chat:
                words, reply = player.chat[len(player.chat) // 2]
                player.chat[len(player.chat) // 2] = words, reply.replace("조용", "고요")
            elif step == "edit system":
                player.system = f"규칙 {number}은 새로 쓴 것이다.\n{SYSTEM}"
            elif step == "pause":
                clock.at += 400
            elif step == "long pause":
                clock.at += 40_000
            await player.say("OK, go." if number % 3 == 2 else f"나는 {number}번째로 숲을 걷는다.")
            await saga.background.drain_views(5)
        bills = await saga.sessions.cost("play") if player.before else []
        assert {bill.turn: bill.pinned for bill in bills if bill.pinned} == player.reasons
        assert len(bills) == player.turns


@settings(max_examples=settings().max_examples // 6, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@example(["say", "edit system", "long pause", "say", "back"], [3])
@example(["say", "say", "long pause", "edit reply", "back"], [2])
@given(st.lists(STEPS, min_size=2, max_size=14), st.lists(st.integers(1, 5), min_size=1, max_size=3))
def test_no_byte_before_a_breakpoint_changes_without_a_reason(steps: list[str], lengths: list[int]) -> None:
    asyncio.run(played(steps, lengths))


def test_a_long_steady_play_pins_once() -> None:
    async def play() -> None:
        clock = PlayClock()
        async with Saga.open(memory_config(), clock=clock) as saga:
            player = Player(saga, clock)
            for number in range(30):
                clock.at += 20
                await player.say(f"나는 {number}번째로 숲을 걷는다.")
                await saga.background.drain_views(5)
            assert list(player.reasons.values()) == ["first"]
            clock.at += 40_000
            await player.say("다음 날 아침이다.")
            assert list(player.reasons.values()) == ["first", "expired"]

    asyncio.run(play())
