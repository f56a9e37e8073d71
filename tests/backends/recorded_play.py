"""A play of some dozens of turns through the real engine, with swipes and branches: the same whenever it is played."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from attrs import define, field

from saga_core import Saga
from saga_core.play.pending_turn import PendingTurn
from tests.bench.play import PlayOptions, prepare
from tests.bench.story.cast import make_cast
from tests.bench.story.storyteller import Storyteller, Told

SHOWN = 12
"""Turns that the frontend still sends."""


def options(lang: str, turns: int) -> PlayOptions:
    return PlayOptions(turns, entities=60, lore=60, lang=lang, seed=3)


@define
class Ticking:
    """A clock that goes on by the call."""

    at: float = 1_790_000_000.0

    def now(self) -> float:
        self.at += 1.0
        return self.at

    def monotonic(self) -> float:
        self.at += 0.001
        return self.at


@define
class Counting:
    """Entropy that repeats itself."""

    drawn: int = 0

    def token(self, size: int) -> bytes:
        self.drawn += 1
        return self.drawn.to_bytes(size)


@define
class Chat:
    """A chat as a frontend keeps it, and every request that it made."""

    lang: str
    turns: int
    system: str = field(init=False)
    lines: list[tuple[str, str]] = field(factory=list)
    teller: Storyteller = field(init=False)

    def __attrs_post_init__(self) -> None:
        told = options(self.lang, self.turns)
        self.teller = Storyteller(
            make_cast(self.lang, told.entities, told.lore, told.seed), self.lang, self.turns, told.seed
        )
        self.system = self.teller.system_prompt(40)

    def messages(self, lines: list[tuple[str, str]], words: str) -> list[dict[str, Any]]:
        history = [
            {"role": role, "content": text}
            for line in lines[-SHOWN:]
            for role, text in zip(("user", "assistant"), line, strict=True)
        ]
        return [{"role": "system", "content": self.system}, *history, {"role": "user", "content": words}]


async def play(saga: Saga, chat: Chat, note: Callable[[list[dict[str, Any]], PendingTurn], None]) -> None:
    """Play all turns; ``note`` is given every request and what came of it."""

    async def turn(lines: list[tuple[str, str]], told: Told) -> None:
        messages = chat.messages(lines, told.words)
        begun = await saga.begin(messages, session=chat.lang)
        note(messages, begun)
        begun.replies[0].feed(told.raw)
        begun.replies[0].finish()
        await begun.commit()
        report = await saga.drain(60)
        assert not report.waiting, report.waiting

    for number in range(1, chat.turns + 1):
        told = chat.teller.next()
        if number % 6 == 0:  # a first try, swiped away
            again = chat.teller.again()
            await turn(chat.lines, Told(told.words, again.reply, again.fields))
        await turn(chat.lines, told)
        chat.lines.append((told.words, told.reply))
        if number % 9 == 0:  # a branch that is left again
            away = chat.teller.again()
            await turn(chat.lines[:-5], Told(chat.teller.wish(number), away.reply, away.fields))


def made(folder: Path, lang: str, turns: int) -> Path:
    """A new folder with the world of such a play, and a configuration of the profile ``lite``."""
    folder.mkdir(parents=True)
    prepare(folder, options(lang, turns))
    return folder / "saga.yaml"
