"""The simulated frontend with a narrator that often reports nothing, and a model that knows what its replies told."""

from __future__ import annotations

from pathlib import Path

from saga_core import Saga
from saga_core.errors import UpstreamError
from saga_core.play.pending_turn import PendingTurn
from saga_core.ports import ChatRequest
from saga_core.state_block import ItemAmount
from tests.core.extraction.scripted import NOTHING, Scripted, changes
from tests.model.machine import CANNED, SHORT, ChatMachine
from tests.model.story import Beat, Change


def bare(text: str) -> str:
    """A text without white space, and without its last characters, which a small edit replaces."""
    return "".join(text.split())[:-3]


class SilentMachine(ChatMachine):
    """What nobody reported is known as soon as the background work is done, on every path that a history proves."""

    def __init__(self) -> None:
        super().__init__()
        self.told: dict[str, Change] = {}
        self.asked: set[str] = set()
        self.oracle = Scripted(otherwise=self.answer)

    def open(self) -> Saga:
        config = {
            "storage": {"profile": "lite", "path": str(Path(self.folder.name) / "data")},
            "session": {"checkpoint_every": 4, "live_timelines": 3},
            "prompt_caching": {"repin_every": 3},
            "recall": {"extraction_wait_ms": 0},
        }

        async def opened() -> Saga:
            return await Saga.open(config, extractor=self.oracle)

        return self.runner.run(opened())

    def answer(self, request: ChatRequest) -> str:
        """What happened in the reply that is asked about. Some calls fail once, some answers are prose once."""
        lines = str(request.plan.blocks[1].content).splitlines()
        start = max(at for at, line in enumerate(lines) if line in ("응답:", "The reply:"))
        text = bare("".join(line.removeprefix("| ") for line in lines[start + 1 :] if line.startswith("| ")))
        if text not in self.asked:
            self.asked.add(text)
            if len(self.asked) % 5 == 0:
                raise UpstreamError("out of reach")
            if len(self.asked) % 5 == 1:
                return "I would rather tell a story."
        change = self.told.get(text)
        if change is None:
            return NOTHING
        return changes(
            hp_change=-change.damage if change.damage else None,
            items_gained=(ItemAmount(change.item),) if change.item else (),
            location=change.place or None,
        )

    def request(
        self, words: str | None, reply: str, change: Change, *, stop: int | None = None, skip: int = 0, note_: str = ""
    ) -> PendingTurn:
        """Every other reply has no block, where its text is its own."""
        if stop is not None or reply in (*SHORT, *CANNED) or self.fresh() % 2:
            return super().request(words, reply, change, stop=stop, skip=skip, note_=note_)
        if words is not None:
            self.told[bare(reply)] = change
        elif "Continue" in note_:
            before = self.chat.lines[-1]
            whole = Change(before.beat.change.damage + change.damage, before.beat.change.item, before.beat.change.place)
            self.told[bare(before.text + reply)] = whole

        async def play() -> PendingTurn:
            turn = await self.saga.begin(self.chat.messages(words, skip, note_))
            turn.replies[0].feed(reply)
            await turn.commit()
            return turn

        return self.runner.run(play())

    def expect(self, turn: PendingTurn, beat: Beat | None) -> None:
        self.runner.run(self.saga.drain(20))
        super().expect(turn, beat)
