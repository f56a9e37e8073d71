"""Plays whose truth is known: what the state says of each field, with clean and with malformed blocks."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from attrs import define, field

from saga_core import Saga
from saga_core.model.world_state import WorldState
from saga_core.ports import ChatRequest
from saga_core.state_block import BlockFields
from saga_core.state_block.fields import ItemAmount
from tests.blocks import render_block
from tests.core.extraction.scripted import Scripted
from tests.core.frontend import Frontend, memory_config
from tests.patterns.padding import DEEP

TURNS = 200 if DEEP else 60
PLACES = ("마을 광장", "세 닢 여관", "대장간", "어둠의 숲", "고블린 야영지", "고대 유적")
PEOPLE = ("에르겐", "마렌", "타비", "고블린 족장 바르가")
THINGS = ("밧줄", "횃불", "은빛 열쇠", "낡은 지도", "사과")
FIELDS = ("location", "hp", "inventory", "present", "mood")


@define
class Truth:
    """What is so, kept by hand beside the play."""

    location: str = "마을 광장"
    hp: int = 100
    mood: str = "neutral"
    inventory: Counter[str] = field(factory=Counter)
    present: list[str] = field(factory=list)

    def turn(self, dice: random.Random) -> dict[str, Any]:
        """The next turn's changes, taken in."""
        told: dict[str, Any] = {}
        if dice.random() < 0.3:
            self.location = dice.choice([place for place in PLACES if place != self.location])
            told |= {"location": self.location, "location_moved": True}
        if dice.random() < 0.3:
            change = dice.choice((-12, -7, -3, 4, 9))
            told["hp_change"], self.hp = change, max(0, min(100, self.hp + change))
        if dice.random() < 0.3:
            thing, count = dice.choice(THINGS), dice.randint(1, 3)
            told["items_gained"] = (ItemAmount(thing, count),)
            self.inventory[thing] += count
        elif self.inventory and dice.random() < 0.3:
            thing = dice.choice(sorted(self.inventory))
            told["items_lost"] = (ItemAmount(thing, 1),)
            self.inventory[thing] -= 1
            self.inventory = +self.inventory
        if dice.random() < 0.25:
            who = dice.choice(PEOPLE)
            if who in self.present:
                self.present.remove(who)
                told["npc_separated"] = (who,)
            else:
                self.present.append(who)
                told["npc_met"] = (who,)
        if dice.random() < 0.3:
            self.mood = dice.choice(("긴장", "안도", "분노", "고요"))
            told["mood"] = self.mood
        return told


def dressed(block: str, dice: random.Random) -> str:
    """The block as a careless model writes it; the last four kinds say nothing that can be read."""
    kinds = (
        lambda text: text.replace(": ", "： "),
        lambda text: text.replace("location:", "위치:").replace("mood:", "기분:").replace("npc_met:", "만난 인물:"),
        lambda text: text.replace("```state\n", "```state\nyaml\n"),
        lambda text: "\n".join(f"> {line}" for line in text.splitlines()),
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("hp_change: -", "hp_change: −"),
        lambda text: text.replace("```state", "```STATE").replace("null", "없음"),
        lambda text: "<think>```state\nhp_change: -99\n```</think>\n" + text,
        lambda text: text.replace("location:", "**location:**"),
        lambda text: text.replace("```state", "```yaml"),
        lambda text: text.replace("```state\n", "state:\n").replace("```", ""),
        lambda text: _lined(text, lambda key, value: f"| {key} | {value} |"),
        lambda text: _lined(text, lambda key, value: f"<{key}>{value}</{key}>"),
        lambda text: _lined(text, lambda key, value: f"[{key}] {value}"),
        lambda text: _lined(text, lambda key, value: f"### {key}: {value}"),
        lambda text: _lined(text, lambda key, value: f"- [x] **{key}** — {value}"),
        lambda text: _lined(text, lambda key, value: f"{key}\t{value}<br>"),
        lambda text: _lined(text, lambda key, value: f"\u200e{key} = {value};"),
        lambda _: "",
        lambda _: "```state\n이번에는 별일이 없었다고 한다\n```",
        lambda _: "상태는 위와 같다.",
        lambda _: "```json\n[1, 2, 3]\n```",
    )
    return dice.choice(kinds)(block)


def _lined(block: str, dress: Callable[[str, str], str]) -> str:
    """The block with each of its lines in another dress."""
    first, *lines, last = block.splitlines()
    return "\n".join([first, *(dress(*line.split(": ", 1)) for line in lines), last])


def seen(state: WorldState, truth: Truth, carried: frozenset[str]) -> dict[str, bool]:
    player = state.entities[state.player]
    hands = {state.name(item): stack.quantity for item, stack in state.belongings.get(state.player, {}).items()}
    return {
        "location": state.name(state.location or "") == truth.location,
        "hp": player.get("hp") == truth.hp,
        "mood": player.get("mood") == truth.mood,
        "inventory": {name: count for name, count in hands.items() if name not in carried} == dict(truth.inventory),
        "present": {state.name(who) for who in state.present} == set(truth.present),
    }


async def played(malformed: float, seed: int, *, extracting: bool = True) -> tuple[dict[str, float], Scripted, Saga]:
    """The part of the turns at which each field was right, once everything was read."""
    dice, truth = random.Random(seed), Truth()
    answers: dict[str, str] = {}

    def extract(request: ChatRequest) -> str:
        text = request.plan.blocks[1].content
        assert isinstance(text, str)
        return next(answer for mark, answer in answers.items() if mark in text)

    small = Scripted(otherwise=extract)
    async with Saga.open(memory_config(), extractor=small if extracting else None) as saga:
        chat = Frontend(saga)
        expected: list[tuple[str, Truth]] = []
        carried: frozenset[str] = frozenset()
        for number in range(TURNS):
            told = truth.turn(dice)
            block = render_block(BlockFields(**told))
            answers[f"제{number:03d}장이 열린다"] = block
            shown = dressed(block, dice) if dice.random() < malformed else block
            words, reply = f"{number}번째로 나아간다.", f"제{number:03d}장이 열린다. 바람이 분다."
            if truth.present:
                reply += f" {', '.join(truth.present)}도 함께 있다."
            begun = await chat.begin(words)
            if not carried:
                opening = await saga.views.state(begun.session.id, begun.parent.id)
                hands = opening.belongings.get(opening.player, {})
                carried = frozenset(opening.name(item) for item in hands)
            choice = begun.replies[0]
            visible = choice.feed(f"{reply}\n\n{shown}") + choice.finish()
            (turn,) = await begun.commit()
            chat.history += [{"role": "user", "content": words}, {"role": "assistant", "content": visible}]
            kept = Truth(truth.location, truth.hp, truth.mood, Counter(truth.inventory), list(truth.present))
            expected.append((turn.id, kept))
        assert not (await saga.drain(60)).waiting
        right: Counter[str] = Counter()
        for turn_id, kept in expected:
            right.update(
                name for name, ok in seen(await saga.views.state(turn.session, turn_id), kept, carried).items() if ok
            )
        assert await saga.maintenance.differences(turn.session) == []
        return {name: right[name] / TURNS for name in FIELDS}, small, saga


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.deep)])
async def test_clean_blocks(seed: int) -> None:
    right, small, saga = await played(0.0, seed)
    assert min(right.values()) >= 0.99, right
    assert small.asked == [], "no block is paid for that parses"
    assert saga.counters.counts["block.ok"] == TURNS


@pytest.mark.parametrize("seed", [3, pytest.param(4, marks=pytest.mark.deep)])
async def test_thirty_percent_malformed_with_an_extractor(seed: int) -> None:
    right, small, saga = await played(0.3, seed)
    assert min(right.values()) >= 0.99, right
    assert len(small.asked) <= saga.counters.counts["block.fallback"], "at most one call a turn"


async def test_without_an_extractor_a_fallback_writes_nothing() -> None:
    dice = random.Random(5)
    async with Saga.open(memory_config()) as saga:
        chat = Frontend(saga)
        for number in range(40):
            begun = await chat.begin(f"{number}번째로 나아간다.")
            before = await saga.views.state(begun.session.id, begun.parent.id)
            choice = begun.replies[0]
            noise = dice.choice(
                ("", "```state\n별일 없었다\n```", "```state\n{[}]:\n```", "```state\nhp_change: 많이\n```")
            )
            visible = choice.feed(f"제{number}장. 고블린이 칼을 빼앗고 너를 숲에 버린다.\n{noise}") + choice.finish()
            (turn,) = await begun.commit()
            chat.history += [{"role": "user", "content": begun.id}, {"role": "assistant", "content": visible}]
            chat.history[-2]["content"] = f"{number}번째로 나아간다."
            after = await saga.views.state(turn.session, turn.id)
            assert (await saga.views.turns(turn.session))[-1].delta.status.value == "fallback"
            for name in ("entities", "whereabouts", "belongings", "relations", "present", "met", "notes", "happenings"):
                assert getattr(after, name) == getattr(before, name), name
