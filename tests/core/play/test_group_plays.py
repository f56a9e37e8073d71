"""Group chats of 60 turns in four languages: no prompt tells a member what she cannot know, and who knows is told.

Members come and go, are told of what they missed, whisper, and are swiped. Each turn tells of something with a name of
its own, in the reply and in one field of the report, so that a prompt shows which turns it tells of. With each turn the
prompts of those who are away are read as well.
"""

from __future__ import annotations

import random
from typing import Any

import pytest
from attrs import define, field, frozen

from saga_core import Saga
from saga_core.play.pending_turn import PendingTurn
from saga_core.state_block import ItemAmount, ItemTransfer, RelationChange, StatusChange
from tests.core.frontend import answer, memory_config
from tests.core.play.test_knowledge import prompt

TURNS = 60
SHOWN = 12
"""Messages that the frontend sends when it trims its history."""


@frozen
class Tongue:
    """The sentences of a play in one language."""

    cast: tuple[str, ...]
    nudge: str
    words: str
    reply: str
    noted: str
    asks: str
    syllables: tuple[str, ...]


TONGUES = {
    "en": Tongue(
        ("Mina", "Tobin", "Hanne"),
        "[Write the next reply only as {name}.]",
        "I look around at hour {number}.",
        "{name} speaks of the {thing} that lies in the north tower.",
        "the {thing} is hidden in the tower",
        "What do you know of the {thing}?",
        tuple(
            "bor vel kin dru mas tol rep gan shi lon fer mok pul tez cad nim wyr hus jol bex qua dam sil oth".split()
        ),
    ),
    "ko": Tongue(
        ("미나", "토빈", "한네"),
        "[{name}의 다음 답변만 작성하세요.]",
        "{number}번째 시각에 주위를 둘러본다.",
        "{name}가 북쪽 탑에 놓인 {thing}을 말한다.",
        "{thing}은 탑에 숨겨져 있다",
        "{thing}에 대해 무엇을 알고 있나?",
        tuple("가노두리모바사오자차카타파하겐돌린몽별숲염종칼탑폰향금늘덕름"),
    ),
    "ja": Tongue(
        ("ミナ", "トビン", "ハンネ"),
        "[{name}の次の返答だけを書いてください。]",
        "{number}時に周りを見回す。",
        "{name}は北の塔にある{thing}について話す。",
        "{thing}は塔に隠されている",
        "{thing}について何を知っている？",
        tuple("アカサタナハマヤラワキシチニヒミリクスツヌフムユルケセテネヘメレコソト"),
    ),
    "zh": Tongue(
        ("米娜", "托宾", "汉妮"),
        "[只写{name}的下一条回复。]",
        "第{number}个时辰，我环顾四周。",
        "{name}说起北塔里的{thing}。",
        "{thing}藏在塔里",
        "关于{thing}，你知道什么？",
        tuple("金银铜铁玉石木竹兰菊梅松鹤龙虎鹿雁鲤灯镜钟鼓琴笛剑弓盾旗船桥井壶杯印"),
    ),
}


@define
class Stage:
    """The play, and what each member knows by the rules of the game."""

    saga: Saga
    tongue: Tongue
    dice: random.Random
    here: list[str]
    system: str
    history: list[dict[str, Any]] = field(factory=list)
    things: list[str] = field(factory=list)
    """The thing of each turn."""
    knows: dict[str, set[int]] = field(factory=dict)
    met: set[str] = field(factory=set)
    leaks: list[str] = field(factory=list)
    asked: int = 0
    told: int = 0
    session: str = ""
    place: int = 0
    """The turn that named the place where the story is. Whoever is there knows it."""

    def report(self, member: str, thing: str) -> dict[str, Any]:
        """A field that names the thing."""
        noted = self.tongue.noted.format(thing=thing)
        return self.dice.choice(
            (
                {"notes": noted},
                {"event_trigger": noted},
                {"location": thing},
                {"mood": thing},
                {"items_gained": (ItemAmount(thing),)},
                {"items_transferred": (ItemTransfer(thing, member, "Player"),)},
                {"status_changes": (StatusChange("Osric", thing),)},
                {"relationship_changes": (RelationChange(member, "Player", thing, 1),)},
                {"npc_met": (thing,), "npc_separated": (thing,)},
            )
        )

    def thing(self) -> str:
        while True:
            found = "".join(self.dice.sample(self.tongue.syllables, 4))
            if found not in self.things:
                return found

    async def begin(self, member: str, words: str, *, shown: int = 0) -> PendingTurn:
        history = self.history[-shown:] if shown else self.history
        said = [{"role": "user", "content": words}] if words else []
        nudge = {"role": "system", "content": self.tongue.nudge.format(name=member)}
        begun = await self.saga.begin([{"role": "system", "content": self.system}, *history, *said, nudge])
        text = prompt(begun).replace(words or "\0", "")
        for number, thing in enumerate(self.things, 1):
            if number not in self.knows[member] and thing in text:
                self.leaks.append(f"{member} is told of turn {number} at turn {len(self.things) + 1}: {thing}")
        return begun

    async def turn(self, number: int) -> None:
        member = self.dice.choice(self.here)
        words = self.tongue.words.format(number=number) if self.dice.random() < 0.7 else ""
        before = set(self.here) if number > 1 else set()  # no report says who was there before the first turn
        if len(self.here) > 1 and self.dice.random() < 0.25:
            self.here.remove(self.dice.choice([each for each in self.here if each != member]))
        elif len(self.here) < 3 and self.dice.random() < 0.5:
            self.here.append(next(each for each in self.tongue.cast if each not in self.here))
        thing = self.thing()
        fields = {"present": tuple(self.here), **self.report(member, thing)}
        reply = self.tongue.reply.format(name=member, thing=thing)
        begun = await self.begin(member, words)
        if self.dice.random() < 0.15:  # a swipe: what the reply told never happened
            lost = self.thing()
            swiped = {"present": tuple(self.here), **self.report(member, lost)}
            await answer(begun, self.tongue.reply.format(name=member, thing=lost), **swiped)
            begun = await self.begin(member, words)
            assert lost not in prompt(begun)
        shown = await answer(begun, reply, **fields)
        self.session = begun.session.id
        self.history += [{"role": "user", "content": words}] if words else []
        self.history.append({"role": "assistant", "content": shown})
        self.things.append(thing)
        for each in before | set(self.here):
            self.knows[each].add(number)
        self.met |= set(self.here)
        self.place = number if "location" in fields else self.place
        self.see_the_place(before | set(self.here))
        for each in sorted(self.met):
            await self.begin(each, "")
        await self.by_hand(number, member)
        self.see_the_place(set(self.here))

    def see_the_place(self, people: set[str]) -> None:
        for each in people if self.place else ():
            self.knows[each].add(self.place)

    async def by_hand(self, number: int, member: str) -> None:
        """Somebody is told of what she missed, or a turn was a whisper."""
        memory = self.saga.memory
        for each in sorted(self.met):
            missed = sorted(set(range(1, number)) - self.knows[each])
            if missed and self.dice.random() < 0.1:
                about = self.dice.choice(missed)
                await memory.correct(self.session, "told", {"who": each, "number": str(about), "by": member})
                self.knows[each].add(about)
        if self.dice.random() < 0.1 and member in self.met:
            await memory.correct(self.session, "audience", {"number": str(number), "audience": "only", "who": member})
            for each in self.knows:
                self.knows[each] -= {number} if each != member else set()

    async def ask(self, number: int) -> None:
        """Whoever knows an old turn is asked about it, with a history that no longer shows it."""
        for member in self.here:
            known = sorted(each for each in self.knows[member] if each < number - SHOWN)
            if not known:
                continue
            thing = self.things[self.dice.choice(known) - 1]
            words = self.tongue.asks.format(thing=thing)
            begun = await self.begin(member, words, shown=SHOWN)
            self.asked += 1
            self.told += thing in prompt(begun).replace(words, "")


@pytest.mark.parametrize(
    ("language", "seed"),
    [
        ("en", 1),
        *(pytest.param(*each, marks=pytest.mark.deep) for each in (("ko", 2), ("ja", 3), ("zh", 4), ("en", 5))),
    ],
)
async def test_nothing_leaks_and_who_knows_is_told(language: str, seed: int) -> None:
    tongue = TONGUES[language]
    async with Saga.open(memory_config(default_world=None)) as saga:
        stage = Stage(
            saga, tongue, random.Random(seed), [tongue.cast[0], tongue.cast[1]], f"A tale, {language} {seed}."
        )
        stage.knows = {name: set() for name in tongue.cast}
        for number in range(1, TURNS + 1):
            await stage.turn(number)
            if number % 5 == 0:
                await stage.ask(number)
        assert stage.leaks == []
        assert stage.asked >= 10
        assert stage.told >= 0.97 * stage.asked, f"{stage.told} of {stage.asked}"
