"""Recorded prompts: long plays whose every prompt, and every question to a small model, is known byte for byte.

``python -m tests.replay.recorded_prompts`` plays them anew and keeps what was sent. That is for a change that is meant
to change prompts; a change of the house leaves the recording alone, and the test says so.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import json
import random
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path
from typing import Any

from attrs import define, evolve, field, frozen

from saga_core import ChatRequest, PendingTurn, Saga
from saga_core.ports import ChatPart, FinishPart, TextPart, Usage, UsagePart
from saga_core.state_block import BlockFields
from saga_core.state_block.fields import ItemAmount, RelationChange, StatusChange
from saga_core.world import World, WorldLibrary
from tests.blocks import render_block

FOLDER = Path(__file__).parent / "prompts"
WORLDS = Path(__file__).parents[2] / "worlds"
SHOWN = 24
"""Messages of its chat that the frontend sends."""


@frozen
class Play:
    """One play: where, in which language, through which model, and how long."""

    name: str
    world: str
    language: str
    model: str
    provider: str
    seed: int
    turns: int = 45


PLAYS = (
    Play("ersia-ko", "ersia", "ko", "", "", 1),
    Play("ersia-ko-claude", "ersia", "ko", "claude-sonnet-5-5", "anthropic", 2),
    Play("ersia-en-gpt", "ersia", "en", "gpt-5.6", "openai", 3),
    Play("harrow-en", "harrow", "en", "", "", 4),
    Play("harrow-en-claude", "harrow", "en", "claude-opus-4-5", "anthropic", 5),
    Play("harrow-ko", "harrow", "ko", "gemini-2.5-pro", "google", 6),
)


@define
class Ticking:
    """A clock that the play moves on, so that nothing hangs on how often somebody looks at it."""

    at: float = 1_790_000_000.0

    def now(self) -> float:
        return self.at

    def monotonic(self) -> float:
        return self.at


@define
class Counting:
    """Entropy that repeats itself."""

    drawn: int = 0

    def token(self, size: int) -> bytes:
        self.drawn += 1
        return self.drawn.to_bytes(size)


@define(eq=False)
class SmallModel:
    """Answers extraction, curation and learning alike, as the number of the question says; keeps each question."""

    language: str
    asked: list[str] = field(factory=list)
    name: str = "small"

    async def stream(self, request: ChatRequest, *, streaming: bool = True) -> AsyncIterator[ChatPart]:
        told = request.plan.text()
        self.asked.append(told)
        yield TextPart(self._answer(told, len(self.asked)))
        yield FinishPart("stop")
        yield UsagePart(Usage(700, 60))

    def _answer(self, told: str, number: int) -> str:
        korean = self.language == "ko"
        if '"contradictions"' in told:
            text = f"{number}번째 검토: 길이 이어졌다." if korean else f"Review {number}: the road went on."
            lore = {"entry": f"소문 {number}" if korean else f"Rumour {number}", "text": text, "turns": [number]}
            return json.dumps({"story": [], "lore": [lore], "contradictions": []})
        if '"records"' in told:
            fact = f"{number}번째 약속은 지켜져야 한다" if korean else f"Promise number {number} must be kept"
            record = {"do": "add", "record": None, "kind": "fact", "text": fact, "turns": [number]}
            return json.dumps({"records": [record]})
        return render_block(BlockFields(mood=f"{number}", hp_change=-1))

    async def models(self) -> list[str]:
        return [self.name]

    async def aclose(self) -> None:
        return None


WORDS = {
    "ko": (
        "{place}에서 {who}에게 {lore}에 대해 묻는다.",
        "조심스럽게 {place} 쪽으로 간다. “{who}, 거기 있나?”",
        "전에 {who}와 나눈 이야기를 기억하는가? {item}은 어디에 두었지?",
        "잠시 쉬면서 {item}을 살펴본다.",
        "3턴 전에 무슨 일이 있었지? {who}의 말이 마음에 걸린다.",
    ),
    "en": (
        "I ask {who} about {lore} while we stand at {place}.",
        'I walk slowly towards {place}. "{who}, are you there?"',
        "Do you remember what {who} told me before? Where did I put {item}?",
        "I rest for a while and look at {item}.",
        "What happened three turns ago? Something {who} said troubles me.",
    ),
}
REPLIES = {
    "ko": (
        "{who}는 한참 말이 없다가 {lore} 이야기를 꺼낸다. {number}번째 종이 울린다. 바람이 {place}를 지난다.",
        "{place}의 공기는 차갑다. {who}가 {item}을 내려놓으며 웃는다. “{number}일만 기다리게.”",
        "발소리가 {number}번 울리고 멎는다. {item} 위로 먼지가 내려앉는다. {lore}의 그림자가 길다.",
    ),
    "en": (
        "{who} says nothing for a long time, then speaks of {lore}. The bell strikes {number}. Wind crosses {place}.",
        'The air at {place} is cold. {who} sets down {item} and smiles. "Wait {number} days," they say.',
        "Footsteps sound {number} times and stop. Dust settles on {item}. The shadow of {lore} is long.",
    ),
}


@define(eq=False)
class Chat:
    """A frontend that plays: says, swipes, continues, branches, edits; its card changes now and then."""

    saga: Saga
    play: Play
    world: World
    clock: Ticking
    chance: random.Random
    sent: list[dict[str, Any]] = field(factory=list)
    history: list[dict[str, str]] = field(factory=list)
    number: int = 0
    session: str = ""

    def _names(self) -> dict[str, str]:
        lore = [entry for entry in self.world.lore if entry.type not in ("location", "item")]
        return {
            "place": self.chance.choice([entry.name for entry in self.world.lore if entry.type == "location"]),
            "who": self.chance.choice([sheet.name for sheet in self.world.characters if not sheet.player]),
            "item": self.chance.choice([entry.name for entry in self.world.lore if entry.type == "item"]),
            "lore": self.chance.choice([entry.name for entry in lore]),
            "number": str(self.number),
        }

    def _fields(self, names: Mapping[str, str]) -> dict[str, Any]:
        chosen: dict[str, Any] = {}
        chance = self.chance
        if chance.random() < 0.4:
            chosen |= {"location": names["place"], "location_moved": True}
        if chance.random() < 0.4:
            chosen["npc_met"] = (names["who"],)
        elif chance.random() < 0.3:
            chosen["npc_separated"] = (names["who"],)
        if chance.random() < 0.3:
            chosen["items_gained"] = (ItemAmount(names["item"], chance.randint(1, 3)),)
        elif chance.random() < 0.2:
            chosen["items_lost"] = (ItemAmount(names["item"], 1),)
        if chance.random() < 0.3:
            chosen["hp_change"] = chance.randint(-9, 4)
        if chance.random() < 0.25:
            player = self.world.player.name if self.world.player else "Player"
            chosen["relationship_changes"] = (RelationChange(player, names["who"], "trusts", chance.choice((-1, 1))),)
        if chance.random() < 0.05:
            chosen["status_changes"] = (StatusChange(names["who"], "dead"),)
        if chance.random() < 0.2:
            chosen["event_trigger"] = f"{names['lore']} {self.number}"
        if chance.random() < 0.2:
            chosen["notes"] = f"{names['item']}: {self.number}"
        chosen["mood"] = chance.choice(("tense", "calm", "uneasy"))
        return chosen

    def messages(self, history: list[dict[str, str]], words: str | None) -> list[dict[str, Any]]:
        korean = self.play.language == "ko"
        card = (
            f"너는 {self.world.title}의 이야기꾼이다. 길게 쓰지 않는다."
            if korean
            else f"You narrate {self.world.title}. You keep it short."
        )
        info = f"\n[World info]\n{self.world.lore[self.number % 5].text}" if self.number % 4 == 1 else ""
        said = [{"role": "user", "content": words}] if words is not None else []
        brief = "짧게 답한다." if korean else "Keep it brief."
        note = [{"role": "system", "content": brief}] if self.number % 2 else []
        greeting = [{"role": "assistant", "content": self.world.greeting or "…"}] if len(history) < SHOWN else []
        return [{"role": "system", "content": card + info}, *greeting, *history[-SHOWN:], *said, *note]

    async def ask(self, history: list[dict[str, str]], words: str | None) -> PendingTurn:
        begun = await self.saga.begin(
            self.messages(history, words),
            owner="k1",
            world=self.play.world,
            model=self.play.model,
            provider=self.play.provider,
        )
        plan = [
            [block.role, block.content, str(block.stability), block.lead, block.breakpoint, dict(block.extra)]
            for block in begun.plan.blocks
        ]
        whole = json.dumps(plan, ensure_ascii=False)
        told = [block.lead or block.content for block in begun.plan.blocks if block.lead or block.role == "system"]
        self.sent.append({"digest": hashlib.sha256(whole.encode()).hexdigest(), "told": told, "kind": begun.kind.value})
        return begun

    async def turn(self, words: str | None, *, history: list[dict[str, str]] | None = None) -> str:
        names = self._names()
        reply = self.chance.choice(REPLIES[self.play.language]).format(**names)
        silent = self.chance.random() < 0.12
        block = "" if silent else "\n\n" + render_block(BlockFields(**self._fields(names)))
        begun = await self.ask(self.history if history is None else history, words)
        begun.replies[0].feed(reply + block)
        begun.replies[0].finish()
        if self.play.model:
            begun.billed(Usage(6_000 + 40 * self.number, 240), model=self.play.model, provider=self.play.provider)
        await begun.commit()
        report = await self.saga.drain(60)
        assert not report.waiting, report.waiting
        self.session = begun.session.id
        return begun.replies[0].text.strip()

    async def run(self) -> None:
        for number in range(1, self.play.turns + 1):
            self.number = number
            self.clock.at += 60.0
            words = self.chance.choice(WORDS[self.play.language]).format(**self._names())
            if number % 13 == 0:
                self.clock.at += 4_000.0
            if number % 6 == 0:  # a first try, swiped away
                await self.turn(words)
            shown = await self.turn(words)
            self.history += [{"role": "user", "content": words}, {"role": "assistant", "content": shown}]
            if number % 10 == 0:  # the reply is continued
                more = await self.turn(None)
                self.history[-1] = {"role": "assistant", "content": f"{shown} {more}"}
            if number % 14 == 0:  # a branch, left again
                away = self.history[:-8]
                branched = await self.turn(words, history=away)
                await self.turn(
                    words,
                    history=[
                        *away,
                        {"role": "user", "content": words},
                        {"role": "assistant", "content": branched},
                    ],
                )
            if number % 11 == 0:  # the player edits the last reply
                edited = self.history[-1]["content"].replace(".", "!", 1)
                self.history[-1] = {"role": "assistant", "content": edited}
            if number % 16 == 0:
                await self.saga.memory.correct(self.session, "note", {"text": f"note {number}"})
                await self.saga.memory.correct(self.session, "mood", {"mood": f"mood {number}"})
            if number == 20:
                await self.saga.timelines.fork(self.session, None, "aside")
            if number == 30:
                self.history = [*self.history[:20], *self.history[-16:]]  # messages in the middle are deleted
        await self.ask(self.history, None)


def config(play: Play) -> dict[str, Any]:
    return {
        "storage": {"profile": "memory"},
        "session": {"default_world": play.world},
        "curator": {"interval": 6, "backend": "direct", "compress_story_after_turns": 12},
        "memory_strategies": {"facts": {"every": 7}},
        "models": {"extraction": "small", "curator": "small"},
        "extraction": {"cards": False},
        "recall": {"deadline_ms": 60_000, "extraction_wait_ms": 0},
    }


async def record(play: Play) -> dict[str, Any]:
    """Play it; every prompt and every question, in order."""
    world = evolve(WorldLibrary((WORLDS,)).get(play.world))
    clock, small = Ticking(), SmallModel(play.language)
    async with Saga.open(config(play), extractor=small, curator=small, clock=clock, entropy=Counting()) as saga:
        chat = Chat(saga, play, world, clock, random.Random(play.seed))
        await chat.run()
        degraded = dict(saga.counters.degraded)
    assert not degraded, degraded
    return {"prompts": chat.sent, "questions": small.asked}


def path_of(play: Play) -> Path:
    return FOLDER / f"{play.name}.json.gz"


def recorded(play: Play) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(gzip.decompress(path_of(play).read_bytes()))
    return found


def write(play: Play, told: Mapping[str, Any]) -> None:
    FOLDER.mkdir(exist_ok=True)
    text = json.dumps(told, ensure_ascii=False, indent=1)
    path_of(play).write_bytes(gzip.compress(text.encode(), mtime=0))


_FINDING = re.compile(r"(?<=[a-z]:)[0-9a-f]{12}(?=:)")
"""The end of a finding's id. It follows from the ids of turns, and so from how often somebody looked at the clock."""


def _told(question: str) -> str:
    return _FINDING.sub("…", question)


def differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """Where two recordings part, in words."""
    for name in ("prompts", "questions"):
        if len(before[name]) != len(now[name]):
            yield f"{len(before[name])} {name} before, {len(now[name])} now"
        for number, (old, new) in enumerate(zip(before[name], now[name], strict=False)):
            if old != new and (name == "prompts" or _told(old) != _told(new)):
                yield f"{name}[{number}]:\n--- before\n{_text(old)}\n--- now\n{_text(new)}"


def _text(told: Any) -> str:
    if isinstance(told, str):
        return told
    return "\n".join([told["kind"], told["digest"], *map(str, told["told"])])


if __name__ == "__main__":
    for each in PLAYS:
        write(each, asyncio.run(record(each)))
