"""A play on stage: a frontend keeps the chat and sends it, SAGA answers, and every turn is compared with its truth."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attrs import define, evolve, field, frozen

from saga_core import PendingTurn, Saga
from saga_core.model import WorldState
from tests.plays.play import Beat, Play, Truth

CONTINUE = "[Continue your last message without repeating its original content.]"


@frozen
class Exchange:
    """The player's words, the reply as the chat has it, and what is true after it."""

    words: str
    by: str
    reply: str
    speaker: str
    truth: Truth


@frozen
class Seen:
    """What SAGA made of a turn."""

    at: int
    """The entry of the play, from 1."""
    beat: Beat
    truth: Truth
    state: WorldState
    shown: str
    """What the player saw of the reply."""
    pages: str
    graph: dict[str, Any]
    sent: list[dict[str, Any]]
    """The request's messages, as the frontend sent them."""
    begun: PendingTurn

    @property
    def own(self) -> str:
        """What SAGA added to the prompt, but for the instruction to write a block."""
        blocks = (block.text for block in self.begun.plan.blocks if block.origin.value in OWN)
        return "\n".join([*blocks, self.begun.context.text])


OWN = frozenset({"world", "pages"})


@define
class Stage:
    """Plays one play."""

    play: Play
    saga: Saga
    watch: Callable[[Seen], None]
    chat: list[Exchange] = field(factory=list)

    async def run(self) -> None:
        """Every entry of the play, in order."""
        for at, beat in enumerate(self.play.turns, 1):
            if beat.delete:
                del self.chat[-beat.delete :]
            elif beat.edit:
                old = self.chat[-beat.edit]
                truth = beat.truth.applied(old.truth, self.play.player)
                self.chat[-beat.edit] = evolve(old, reply=beat.reply.strip(), truth=truth)
            else:
                await self._ask(at, beat)

    @property
    def truth(self) -> Truth:
        """What is true where the chat ends."""
        return self.chat[-1].truth if self.chat else self.play.start.applied(Truth(), self.play.player)

    async def _ask(self, at: int, beat: Beat) -> None:
        last: Exchange | None = None
        if beat.swipe or beat.continue_:
            last = self.chat.pop()
        before = last.truth if last and beat.continue_ else self.truth
        words, by = (last.words, last.by) if last else (beat.say.strip(), beat.by)
        begun_with = last.reply if last and beat.continue_ else None
        messages = self._messages(words, by, begun_with, beat)
        begun = await self.saga.begin(messages, model="test-model", provider="openai")
        reply = begun.replies[0]
        sent = beat.sent if beat.stop is None else beat.sent[: beat.stop]
        shown = "".join(reply.feed(sent[start : start + 7]) for start in range(0, len(sent), 7)) + reply.finish()
        # A reply with two readings is two turns; the first is the likelier one.
        turn, *_ = await begun.commit(finish="aborted" if beat.stop is not None else "")
        truth = beat.truth.applied(before, self.play.player)
        if beat.aside:
            if last:
                self.chat.append(last)
        else:
            whole = shown.strip() if begun_with is None else f"{begun_with}{shown.rstrip()}"
            self.chat.append(Exchange(words, by, whole, beat.speaker, truth))
        await self.saga.drain(20)
        session = begun.session.id
        pages, _ = await self.saga.views.pages(session)
        state = await self.saga.views.state(session, begun.parent.id if beat.aside else turn.id)
        graph = await self.saga.views.graph(session)
        text = "\n".join(pages.files.values()) if pages else ""
        self.watch(Seen(at, beat, truth, state, shown, text, graph, messages, begun))

    # -- the request, as the frontend makes it -------------------------------------------------------------------

    def _messages(self, words: str, by: str, begun_with: str | None, beat: Beat) -> list[dict[str, Any]]:
        front = self.play.frontend
        greeting = [("assistant", front.character, front.greeting.strip())] if front.greeting else []
        said = [
            line
            for each in self.chat
            for line in (("user", self._name(each.by), each.words), ("assistant", each.speaker, each.reply))
            if line[2]
        ]
        lines = [*greeting, *said]
        if not beat.aside and words:
            lines.append(("user", self._name(by), words))
        if begun_with is not None:
            lines.append(("assistant", beat.speaker, begun_with))
        if front.history is not None:
            lines = lines[-front.history :]
        after = [{"role": "system", "content": front.after.strip()}] if front.after else []
        if beat.aside:
            after = [{"role": "system", "content": words}]
        elif begun_with is not None and front.names != "one-message":
            after = [*after, {"role": "system", "content": CONTINUE}]
        if front.names == "one-message":
            chat = "\n".join(f"{name or front.character}: {text}" for _, name, text in lines)
            tail = "" if begun_with is not None or beat.aside else f"\n{beat.speaker or front.character}:"
            parts = (front.system.strip(), chat + tail, *(each["content"] for each in after))
            return [{"role": "user", "content": "\n\n".join(part for part in parts if part)}]
        system = [{"role": "system", "content": front.system.strip()}] if front.system else []
        return [*system, *(self._message(*line) for line in lines), *after]

    def _message(self, role: str, name: str, text: str) -> dict[str, Any]:
        name = name or self.play.frontend.character
        match self.play.frontend.names:
            case "field":
                return {"role": role, "name": name, "content": text}
            case "prefix":
                return {"role": role, "content": f"{name}: {text}"}
            case _:
                return {"role": role, "content": text}

    def _name(self, by: str) -> str:
        return self.play.cast[by].names[0] if by else self.play.frontend.persona
