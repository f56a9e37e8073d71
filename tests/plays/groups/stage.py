"""A group play on stage: every prompt that a member gets is read for what the member knows and does not know."""

from __future__ import annotations

from typing import Any

from attrs import define, field, frozen

from saga_core import PendingTurn, Saga
from tests.plays.groups.play import Entry, Fact, Play

EVERY = 5
"""Turns between two rounds of questions."""


@frozen
class Exchange:
    """What the chat shows of a turn, and what each member knows after it."""

    words: str
    who: str
    reply: str
    knows: frozenset[tuple[str, str]]
    """(member, fact)."""


@define
class Findings:
    """What the prompts of a play held."""

    turns: int = 0
    kept: int = 0
    """Facts that a member does not know, over all prompts."""
    leaks: int = 0
    asked: int = 0
    """Facts that a member knows, over all questions, unless the messages that are shown tell them."""
    told: int = 0
    wrong: list[str] = field(factory=list)

    def __str__(self) -> str:
        share = self.told / max(1, self.asked)
        return f"{self.turns} turns, {self.leaks} leaks of {self.kept}, told {self.told} of {self.asked} ({share:.1%})"


@define
class Stage:
    """Plays one play."""

    play: Play
    saga: Saga
    chat: list[Exchange] = field(factory=list)
    found: Findings = field(factory=Findings)
    session: str = ""
    at: int = 0

    async def run(self) -> None:
        """Every entry in order, and the rounds of questions."""
        for entry in self.play.turns:
            self.at += 1
            if entry.delete:
                del self.chat[-entry.delete :]
                continue
            if entry.reply:
                await self._exchange(entry)
            await self._by_hand(entry)
            if entry.reply and not entry.swipe and self.found.turns % EVERY == 0:
                await self._questions()
        await self._questions()

    @property
    def knows(self) -> frozenset[tuple[str, str]]:
        """Who knows what where the chat ends."""
        return self.chat[-1].knows if self.chat else frozenset()

    async def _exchange(self, entry: Entry) -> None:
        last = self.chat.pop() if entry.swipe else None
        words = last.words if last else entry.say.strip()
        begun, messages = await self._begin(entry.who, words)
        self._read(entry.who, words, begun, messages)
        choice, sent = begun.replies[0], entry.sent
        shown = "".join(choice.feed(sent[start : start + 7]) for start in range(0, len(sent), 7)) + choice.finish()
        await begun.commit()
        await self.saga.drain(20)
        self.session = begun.session.id
        self.chat.append(Exchange(words, entry.who, shown.strip(), self.knows | _learned(entry)))
        self.found.turns += last is None

    async def _by_hand(self, entry: Entry) -> None:
        memory = self.saga.memory
        if entry.told is not None:
            told = {"who": entry.told.who, "number": str(entry.told.turn), "by": entry.told.by}
            await memory.correct(self.session, "told", {key: value for key, value in told.items() if value})
            last = self.chat.pop()
            self.chat.append(Exchange(last.words, last.who, last.reply, last.knows | _learned(entry)))
        if entry.whisper is not None:
            who = {"who": ", ".join(entry.whisper)} if entry.whisper else {}
            await memory.correct(self.session, "audience", {"number": str(len(self.chat)), "audience": "only", **who})

    async def _questions(self) -> None:
        """Ask every member about every fact. The answers are thrown away."""
        for member in self.play.members:
            for id_, fact in self.play.facts.items():
                begun, messages = await self._begin(member, fact.ask)
                self._read(member, fact.ask, begun, messages)
                shown = "\n".join(message["content"] for message in messages)
                if (member, id_) in self.knows and not fact.told_in(shown):
                    self.found.asked += 1
                    if fact.told_in(_text_of(begun)):
                        self.found.told += 1
                    else:
                        self.found.wrong.append(f"entry {self.at}: {member} is not told of {id_}")

    def _read(self, member: str, words: str, begun: PendingTurn, messages: list[dict[str, Any]]) -> None:
        """Look for what the member does not know. What the player says in this request is heard by her."""
        text = _text_of(begun).replace(words, "") if words else _text_of(begun)
        for id_, fact in self.play.facts.items():
            if (member, id_) in self.knows:
                continue
            self.found.kept += 1
            if fact.told_in(text):
                self.found.leaks += 1
                self.found.wrong.append(f"entry {self.at}: {member} is told of {id_}: {_around(fact, text)}")

    async def _begin(self, member: str, words: str) -> tuple[PendingTurn, list[dict[str, Any]]]:
        front, player = self.play.frontend, self.play.player
        lines = [("assistant", front.greeter, front.greeting.strip())] if front.greeting else []
        for each in self.chat:
            lines += [("user", player, each.words), ("assistant", each.who, each.reply)]
        if words:
            lines.append(("user", player, words))
        lines = [line for line in lines if line[2]]
        lines = lines if front.history is None else lines[-front.history :]
        nudge = {"role": "system", "content": front.nudge.format(name=member)}
        messages = [
            {"role": "system", "content": front.system.strip()},
            *(self._message(*line) for line in lines),
            nudge,
        ]
        return await self.saga.begin(messages, model="test-model", provider="openai"), messages

    def _message(self, role: str, name: str, text: str) -> dict[str, Any]:
        match self.play.frontend.names:
            case "field":
                return {"role": role, "name": name, "content": text}
            case "prefix":
                return {"role": role, "content": f"{name}: {text}"}
            case _:
                return {"role": role, "content": text}


async def played(play: Play, **session: bool) -> Findings:
    """What the prompts of a play held. ``session`` are settings."""
    async with Saga.open({"storage": {"profile": "memory"}, "session": {"default_world": None, **session}}) as saga:
        stage = Stage(play, saga)
        await stage.run()
    return stage.found


def _learned(entry: Entry) -> frozenset[tuple[str, str]]:
    return frozenset((who, id_) for id_, people in entry.learn.items() for who in people)


def _text_of(begun: PendingTurn) -> str:
    return "\n".join(f"{each.lead}\n{each.content}" for each in begun.plan.blocks)


def _around(fact: Fact, text: str) -> str:
    folded = text.casefold()
    at = min(start for word in fact.words if (start := folded.find(word.casefold())) >= 0)
    return " ".join(text[max(0, at - 60) : at + 60].split())
