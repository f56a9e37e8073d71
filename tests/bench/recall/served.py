"""Measure what the narrator is told when a chat is served.

``Saga.begin`` adopts a dialogue as a frontend sends it, in pairs of words and reply, without speakers or dates. Each
question is sent as the player's next words. Three shares are measured for it, independently of how recall works:

- ``answer``: the answer's words are in one line of what SAGA adds to the prompt
- ``line``: the turns of the evidence have a line in the context
- ``held``: such a line of one of these turns has the answer's words

For words for which no earlier turn matters, ``idle`` is the number of earlier turns that are told all the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import evolve, frozen

from saga_core import PendingTurn, Saga
from saga_core.config import Config
from saga_core.context import Section, TurnContext, default_reader
from tests.bench.recall.figures import BUDGETS, compared, mean, shrunk, summary

SHOWN = 10
"""Turns at the end that the frontend still sends when a question is asked."""
MEASURES = ("answer", "held", "line")
_PATIENCE_MS = 60_000.0
_PATIENCE = 300.0
_SYSTEM = {
    "en": "You are the narrator.",
    "ko": "너는 이야기꾼이다.",
    "ja": "あなたは語り手です。",
    "zh": "你是讲故事的人。",
}
_OWN = frozenset({"world", "pages"})
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff]")
_PUNCTUATION = "\"'“”‘’「」『』()[]*,.!?…:; "


@frozen
class Asked:
    """A question in the player's words."""

    text: str
    evidence: tuple[int, ...]
    """The turns that answer it, by their index in the chat."""
    answer: str = ""
    """What the narrator must be told to answer it; "" if it is not known."""
    group: str = ""


@frozen
class Chat:
    """A chat as a frontend has it."""

    id: str
    language: str
    pairs: tuple[tuple[str, str], ...]
    """The player's words and the reply of each turn."""
    asked: tuple[Asked, ...]
    idle: tuple[str, ...] = ()
    """Words of the player for which no earlier turn matters."""

    def messages(self, words: str, shown: int | None = None) -> list[dict[str, Any]]:
        """The messages of a request with ``words`` after the last ``shown`` turns, or after all turns if it is None."""
        pairs = self.pairs if shown is None else self.pairs[-shown:]
        history = [
            {"role": role, "content": text}
            for pair in pairs
            for role, text in zip(("user", "assistant"), pair, strict=True)
        ]
        system = {"role": "system", "content": _SYSTEM.get(self.language, _SYSTEM["en"])}
        return [system, *history, {"role": "user", "content": words}]

    @property
    def answerable(self) -> tuple[Asked, ...]:
        """The questions whose evidence the history no longer shows."""
        first = len(self.pairs) - SHOWN
        return tuple(each for each in self.asked if all(at < first for at in each.evidence))


@frozen
class Served:
    """The measurements of one chat."""

    asked: dict[int, list[dict[str, float]]]
    """By budget, for each answerable question: every measure, and ``first``. Values are 0 or 1, but ``line`` is a
    share if there are several pieces of evidence."""
    idle: list[int]
    """For each of the chat's idle words, the number of earlier turns told with the largest budget."""


async def served_shares(chat: Chat, chosen: Config, budgets: Sequence[int] = BUDGETS) -> Served:
    """Serve the chat, and ask its questions with each of ``budgets``, in tokens."""
    recall = evolve(chosen.recall, deadline_ms=_PATIENCE_MS)
    base = evolve(chosen, storage=evolve(chosen.storage, profile="memory"), recall=recall)
    found: dict[int, list[dict[str, float]]] = {}
    idle: list[int] = []
    async with Saga.open(base) as saga:
        begun = await saga.begin(chat.messages("…"))
        await begun.abandon()
        report = await saga.drain(_PATIENCE)
        if report.waiting:
            raise RuntimeError(f"background work did not end: {report.waiting}")
        tree = (await saga.parts.live.get(begun.session.id)).tree
        path = tree.followed(begun.parent.id)
        if len(path) != len(chat.pairs) + 1:
            raise RuntimeError(f"{chat.id}: {len(chat.pairs)} turns were adopted as {len(path) - 1}")
        for most in budgets:
            config = evolve(base, token_budget=shrunk(base.token_budget, most))
            stores = saga.stores
            saga.play.reading.reader = default_reader(
                config, stores.counter, clock=saga.parts.clock, vectors=stores.vector, embedder=stores.embedder
            )
            found[most] = []
            for asked in chat.answerable:
                turn = await saga.begin(chat.messages(asked.text, SHOWN))
                if turn.parent.id != path[-1]:
                    raise RuntimeError(f"{chat.id}: the chat was not found again for {asked.text!r}")
                found[most].append(_measured(turn, asked, path))
                await turn.abandon()
            if most == max(budgets):
                for words in chat.idle:
                    turn = await saga.begin(chat.messages(words, SHOWN))
                    idle.append(sum(piece.section is Section.EARLIER for piece in turn.context.pieces))
                    await turn.abandon()
            await saga.play.reading.reader.aclose()
    return Served(found, idle)


def _measured(turn: PendingTurn, asked: Asked, path: Sequence[str]) -> dict[str, float]:
    # The path begins with the root, which is no turn of the chat.
    evidence = [path[at + 1] for at in asked.evidence]
    lines = {piece.key.removeprefix("turn:"): piece.text for piece in turn.context.pieces}
    own = (block.text for block in turn.plan.blocks if block.origin.value in _OWN)
    told = "\n".join([*own, turn.context.text]).splitlines()
    values = {
        "line": mean([float(id_ in lines) for id_ in evidence]),
        "first": float(best_turn(turn.context) in evidence),
    }
    if asked.answer:
        values["answer"] = float(any(has_words(line, asked.answer) for line in told))
        values["held"] = float(any(has_words(lines.get(id_, ""), asked.answer) for id_ in evidence))
    return values


def has_words(line: str, answer: str) -> bool:
    """Whether each word of ``answer`` begins a word of ``line``. Korean words continue with their particles.

    Japanese and Chinese words may be anywhere in the line, because no space marks where they begin.
    """
    folded = line.casefold()
    words = filter(None, (word.strip(_PUNCTUATION) for word in answer.casefold().split()))
    return all(
        word in folded if _UNSPACED.match(word) else re.search(rf"(?<!\w){re.escape(word)}", folded) is not None
        for word in words
    )


def best_turn(context: TurnContext) -> str:
    """The earlier turn with the best fused score, told or not; "" for none. The older one wins a tie."""
    earlier = [
        (piece.why.get("fused", piece.score), -piece.order, piece.key)
        for piece in (*context.pieces, *context.skipped)
        if piece.section is Section.EARLIER
    ]
    return max(earlier)[2].removeprefix("turn:") if earlier else ""


async def measure_served(chats: Sequence[Chat], chosen: Config) -> dict[str, Any]:
    """The shares of all questions by measure, budget and group, ready for JSON. ``values`` has one per question."""
    groups: list[str] = []
    values: dict[int, list[dict[str, float]]] = {most: [] for most in BUDGETS}
    idle: list[int] = []
    for chat in chats:
        groups += [asked.group for asked in chat.answerable]
        served = await served_shares(chat, chosen)
        idle += served.idle
        for most, found in served.asked.items():
            values[most] += found
    result: dict[str, Any] = {
        "questions": len(groups),
        "turns": sum(len(chat.pairs) for chat in chats),
    }
    if idle:
        result["idle"] = mean(idle)
    for most in BUDGETS:
        row: dict[str, Any] = {}
        for name in (*MEASURES, "first"):
            having = [(each[name], group) for each, group in zip(values[most], groups, strict=True) if name in each]
            if having:
                row[name] = summary([value for value, _ in having], [group for _, group in having])
        result[str(most)] = row
    return result


def served_table(sets: Mapping[str, Any], against: Mapping[str, Any] | None = None) -> list[str]:
    """The served sets as one Markdown table, with the differences from ``against`` on the same questions."""
    columns = [f"{name}, {most:,}" for name in MEASURES for most in BUDGETS]
    lines = [f"| served | questions | {' | '.join(columns)} | first |", "| --- |" + " ---: |" * (len(columns) + 2)]
    for title, found in sets.items():
        old = (against or {}).get(title)
        cells = [
            compared(found[str(most)].get(name), old[str(most)].get(name) if old else None)
            for name, most in (*((name, most) for name in MEASURES for most in BUDGETS), ("first", BUDGETS[0]))
        ]
        lines.append(f"| {title} | {found['questions']:,} | {' | '.join(cells)} |")
    for title, found in sets.items():
        if "idle" in found:
            lines += ["", f"{title}: {found['idle']:.2f} earlier turns are told with words for which nothing matters."]
    return [*lines, ""]
