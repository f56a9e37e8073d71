"""A frontend for engine tests: keeps a chat, sends it, swipes, cuts and edits it."""

from __future__ import annotations

from typing import Any

from attrs import define, field

from saga_core import Saga
from saga_core.config import Config, load_config
from saga_core.play.pending_turn import PendingTurn
from saga_core.state_block import BlockFields
from tests.blocks import render_block

MEMORY = {"storage": {"profile": "memory"}, "session": {"default_world": "ersia"}}


def memory_config(**session: Any) -> Config:
    """Everything in memory, in the example world."""
    return load_config({**MEMORY, "session": {**MEMORY["session"], **session}})


def block(**fields: Any) -> str:
    """A state block."""
    return "\n\n" + render_block(BlockFields(**fields))


@define
class Frontend:
    """A chat as a frontend keeps it: system prompts, greeting, messages, a note after the history."""

    saga: Saga
    greeting: str = "장이 서는 날, 마을 광장이 소란하다."
    system: str = "너는 에르시아의 이야기꾼이다."
    note: str = "짧게 답한다."
    owner: str = ""
    session: str | None = None
    history: list[dict[str, Any]] = field(factory=list)
    last: PendingTurn | None = None

    def messages(self, words: str | None) -> list[dict[str, Any]]:
        """The request's messages for the player's ``words``."""
        said = [{"role": "user", "content": words}] if words is not None else []
        greeting = [{"role": "assistant", "content": self.greeting}] if self.greeting else []
        note = [{"role": "system", "content": self.note}] if self.note else []
        return [{"role": "system", "content": self.system}, *greeting, *self.history, *said, *note]

    async def begin(self, words: str | None, **options: Any) -> PendingTurn:
        """Send ``words`` and give the turn as begun."""
        self.last = await self.saga.begin(self.messages(words), owner=self.owner, session=self.session, **options)
        return self.last

    async def say(self, words: str, reply: str, **fields: Any) -> PendingTurn:
        """One whole turn: the model answers ``reply`` with a state block of ``fields``; the chat keeps it."""
        turn = await self.begin(words)
        shown = await answer(turn, reply, **fields)
        self.history += [{"role": "user", "content": words}, {"role": "assistant", "content": shown}]
        return turn

    async def swipe(self, reply: str, **fields: Any) -> PendingTurn:
        """Ask for another reply to the last words; the chat keeps the new one."""
        words = self.history[-2]["content"]
        del self.history[-2:]
        return await self.say(words, reply, **fields)


async def answer(turn: PendingTurn, reply: str, **fields: Any) -> str:
    """Feed a model's reply in small pieces, commit, and give what the player saw."""
    whole = reply + (block(**fields) if fields else "")
    choice = turn.replies[0]
    shown = "".join(choice.feed(whole[start : start + 5]) for start in range(0, len(whole), 5)) + choice.finish()
    await turn.commit()
    return shown
