"""SAGA as a memory of the fork test, through ``Saga.open``."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from typing import Any

from saga_core import Saga
from saga_core.language import language_of
from tests.fork.engine import Event
from tests.fork.memories import SHOWN
from tests.fork.runner import Message

_CONFIG = {
    "storage": {"profile": "memory"},
    "extraction": {"reporting": "block", "automatic": "never"},
    # On a busy machine, a source that misses the deadline would be missing from the figures.
    "recall": {"deadline_ms": 10_000},
}
_PATIENCE = 60.0
_WELL = {"en": "well", "ko": "건강함", "ja": "健康", "zh": "健康"}


class SagaWithReports:
    """A narrator that ends each reply with a truthful state block."""

    reports = True
    budget: Mapping[str, int] = {}
    """The settings under ``token_budget``."""

    def __init__(self, story: Mapping[str, Any]) -> None:
        self.player, self.language = story["player"], story["language"]
        self.chat: Sequence[Message] = ()
        self.narrated: set[str] = set()
        self.loop = asyncio.Runner()
        self.saga = self.loop.run(self._open())

    async def _open(self) -> Saga:
        return await Saga.open({**_CONFIG, "token_budget": self.budget})

    def add(self, messages: Sequence[Message]) -> None:
        """Narrate the last reply if it is new. What a player does by hand is only seen in the next request."""
        self.chat = messages
        last = messages[-1]
        if last["id"] in self.narrated or last.get("edited") or len(messages) < 3:
            return
        self.narrated.add(last["id"])
        self.loop.run(self._narrate(messages[:-1], last))

    async def _narrate(self, history: Sequence[Message], reply: Message) -> None:
        turn = await self.saga.begin(_sent(history), player=self.player)
        raw = reply["content"] + (f"\n\n{self._block(history, reply)}" if self.reports else "")
        shown = turn.replies[0].feed(raw) + turn.replies[0].finish()
        if shown != reply["content"]:
            raise RuntimeError(f"SAGA showed {shown!r} of {reply['content']!r}")
        await turn.commit()
        report = await self.saga.drain(_PATIENCE)
        if report.waiting:
            raise RuntimeError(f"background work did not end: {report.waiting}")

    def context(self, question: str) -> str:
        """SAGA's rules, pages and context, and the end of the chat."""
        return self.loop.run(self._context(question))

    async def _context(self, question: str) -> str:
        turn = await self.saga.begin([*_sent(self.chat), {"role": "user", "content": question}], player=self.player)
        await turn.abandon()
        blocks = [(block.origin.value, block.text) for block in turn.plan.blocks]
        history = [text for origin, text in blocks if origin == "history"]
        own = [text for origin, text in blocks if origin not in ("client", "history", "words")]
        return "\n".join(_by_turn(own, history, turn.context.text, self.language))

    def close(self) -> None:
        """Close the engine."""
        self.loop.run(self.saga.aclose())
        self.loop.close()

    def _block(self, history: Sequence[Message], reply: Message) -> str:
        """What a careful narrator reports. What no field is for stands in the notes, in the words of the reply."""
        present = reply["scene"]["present"]
        before = next((each["scene"]["present"] for each in reversed(history) if "scene" in each), [])
        fields: dict[str, list[str]] = {}
        noted: list[Event] = []
        events = [event for message in history for event in message.get("events", ())]
        for event in reply["events"]:
            match event["do"]:
                case "hold":
                    giver, taker = self._holder(events, event["thing"]), event["by"]
                    if giver is None and taker == self.player:
                        fields.setdefault("items_gained", []).append(event["thing"])
                    else:
                        _hand(fields, event["thing"], self._name(giver), self._name(taker))
                case "lay":
                    noted.append(event)
                    giver = self._holder(events, event["thing"])
                    if giver == self.player:
                        fields.setdefault("items_lost", []).append(event["thing"])
                    elif giver is not None:
                        _hand(fields, event["thing"], giver, "unknown")
                case "wound":
                    row = f"{{name: {event['who']}, status: {event['with']}}}"
                    fields.setdefault("status_changes", []).append(row)
                case "heal":
                    row = f"{{name: {event['who']}, status: {_WELL[self.language]}}}"
                    fields.setdefault("status_changes", []).append(row)
                case "move":
                    if event["who"] not in (self.player, *present):
                        noted.append(event)
                        if event["who"] in before:
                            fields.setdefault("npc_separated", []).append(event["who"])
                case _:
                    noted.append(event)
            events.append(event)
        lines = [f"location: {reply['scene']['place']}", f"present: [{', '.join(present)}]"]
        lines += [f"{name}: [{', '.join(values)}]" for name, values in fields.items()]
        if notes := [text for text in _sentences(reply["content"]) if any(_says(text, event) for event in noted)]:
            lines.append(f"notes: {' '.join(notes)}")
        return "\n".join(["```state", *lines, "```"])

    def _name(self, who: str | None) -> str:
        return "unknown" if who is None else "Player" if who == self.player else who

    def _holder(self, events: Sequence[Event], thing: str) -> str | None:
        """Who has ``thing`` after ``events``; None if nobody has."""
        last = next((event for event in reversed(events) if event.get("thing") == thing), None)
        return last.get("by") if last else None


def _hand(fields: dict[str, list[str]], thing: str, giver: str, taker: str) -> None:
    row = f"{{item: {thing}, from: {giver}, to: {taker}}}"
    fields.setdefault("items_transferred", []).append(row)


def _by_turn(own: Sequence[str], history: Sequence[str], context: str, tag: str) -> list[str]:
    """The lines of SAGA's prompt in the order of the turns that they speak of; what is true now comes last.

    SAGA dates its lines, which the reader does not see: it takes the last one. Who is present is told with the place,
    which SAGA tells in a cell of its own.
    """
    spoken = language_of(tag)
    labels = spoken.labels
    dated = [_pattern(each, "depth") for each in (labels.turn, labels.there_since)]
    until = _pattern(spoken.texts.pages["then"], "turn")
    told: list[tuple[tuple[int, int], str]] = []
    when = (-1, 0)  # the rules come first
    for line in "\n".join(own).split("\n"):
        if found := until.search(line):
            when = (int(found[1]), 1)
        told.append((when, line))
    now = []
    place = re.search(rf"{labels.place}: ([^|\n]+?) *(?:\||$)", context, re.M)
    for line in context.split("\n"):
        if found := next((at for each in dated if (at := each.search(line))), None):
            told.append(((int(found[1]), 0), line))
        else:
            now.append(line.replace(f"{labels.present}: ", f"{labels.present} ({place[1]}): ") if place else line)
    told.sort(key=lambda row: row[0])
    return [*(line for _, line in told), *history, *now]


def _pattern(label: str, slot: str) -> re.Pattern[str]:
    return re.compile(re.escape(label).replace(re.escape(f"{{{slot}}}"), r"(\d+)"))


def _sent(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """The system prompt and the last messages, as a frontend sends them."""
    rows = [messages[0], *messages[1:][-SHOWN:]]
    return [{"role": message["role"], "content": message["content"]} for message in rows]


def _sentences(text: str) -> list[str]:
    return [part for part in re.split(r"(?<=[.!?。！？])[\"”」』]?\s*(?=\S)", text) if part]


def _says(sentence: str, event: Event) -> bool:
    subject = event.get("fact") or event.get("thing") or event["who"]
    value = event.get("to") or event.get("in") or ""
    return subject in sentence and value in sentence


class SagaWithoutReports(SagaWithReports):
    """The same with a narrator that reports nothing, and no model that reads the replies."""

    reports = False


class SagaInBrief(SagaWithReports):
    """The same with reports and at most 600 tokens of context, instead of 1,500."""

    budget: Mapping[str, int] = {"dynamic_context_max": 600}
