"""Measure how much of what a turn needs is in its context.

Measures chats as they are served, and each part of recall alone and added to the others. Every method but the first is
the product's own reader with some of its parts. The share of a question's evidence that is in the context is averaged
over the questions. What a part adds is the mean of the differences, question by question, with a 95 % interval from
2,000 bootstrap samples of the questions. ``first`` is how often the turn with the best fused score is evidence, whether
it is told or not.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import evolve, field, frozen

from saga_backends.tokens.estimate import EstimateCounter
from saga_core.config import Config, TokenBudget
from saga_core.context import (
    NOTHING_GIVEN,
    USEFUL_HOPS,
    Connections,
    ContextReader,
    ContextSource,
    Given,
    Lorebook,
    Piece,
    Recollection,
    Scene,
    Section,
    TurnContext,
    default_reader,
)
from saga_core.ports import Embedder
from saga_core.recall import Ranking
from saga_core.storage import open_embedder
from tests.bench.recall.chats import make_chats
from tests.bench.recall.dialogue_set import LANGUAGES, Dialogue, MalformedSet
from tests.bench.recall.figures import BUDGETS, interval, mean, shrunk
from tests.bench.recall.plays import stage_play
from tests.bench.recall.served import best_turn, measure_served, served_table
from tests.bench.recall.served_sets import SERVED, chat_of_dialogue, served_chats
from tests.bench.recall.stage import Evidence, Stage, stage_dialogue
from tests.bench.recall.times import stage_times

Say = Callable[[str], None]

_PATIENCE_MS = 60_000.0


@frozen
class LatestTurns:
    """The baseline without recall: as many of the newest turns as fit."""

    name: str = "latest"
    needs: tuple[str, ...] = ()

    async def gather(self, scene: Scene, given: Given = NOTHING_GIVEN) -> Sequence[Piece]:
        """Those of the newest hundred turns that the history does not show."""
        episodes = scene.request.episodes
        if episodes is None:
            return []
        pieces: list[Piece] = []
        for depth in range(episodes.last, max(0, episodes.last - 100), -1):
            turn = episodes.at(depth)
            if turn is None or turn in scene.request.shown:
                continue
            text = " ".join(episodes.text(turn).split())
            pieces.append(Piece(self.name, f"turn:{turn}", Section.EARLIER, text, depth / 1e6, order=depth))
        return pieces


@frozen
class Method:
    """A way to recall: a name, and the reader for a budget of tokens."""

    name: str
    sources: Callable[[int], tuple[ContextSource, ...]] = field(default=lambda most: ())
    over: str = ""
    """The name of the method that it is compared with. Without a name, it is the previous one."""
    whole: bool = False
    """Whether it is the reader as served with default settings, instead of ``sources``."""

    def reader(self, most: int, stage: Stage, embedder: Embedder) -> ContextReader:
        """The reader of a stage, whose block has at most ``most`` tokens."""
        counter = EstimateCounter()
        config = Config()
        if self.whole:
            budget = shrunk(config.token_budget, most)
            recall = evolve(config.recall, deadline_ms=_PATIENCE_MS)
            config = evolve(config, token_budget=budget, recall=recall)
            return default_reader(config, counter, vectors=stage.vectors, embedder=embedder)
        return ContextReader(
            self.sources(most),
            counter,
            budget=TokenBudget(dynamic_context_max=most, recall_max=most, lorebook_max=most, graph_context_max=most),
            deadline_ms=_PATIENCE_MS,
            vectors=stage.vectors,
            embedder=embedder,
            hops=USEFUL_HOPS,
        )


def recalling(**parts: Any) -> Callable[[int], tuple[ContextSource, ...]]:
    """Sources of earlier turns alone, with the settings ``parts`` of the ranking."""
    return lambda most: (Recollection(room=most, most=most, ranking=Ranking(**parts)),)


_PLAIN: Mapping[str, Any] = {
    "reach": 0,
    "speaker_boost": 1.0,
    "close": 0.0,
    "timed": 0.0,
    "feedback": 0.0,
    "adapt": False,
}

TALK = (
    Method("last turns", lambda most: (LatestTurns(),)),
    Method("BM25", recalling(**{**_PLAIN, "dense": 0.0})),
    Method("dense", recalling(**{**_PLAIN, "lexical": 0.0})),
    Method("fusion", recalling(**_PLAIN), over="BM25"),
    Method("+ smoothing", recalling(speaker_boost=1.0, close=0.0, timed=0.0, feedback=0.0, adapt=False)),
    Method("+ by length", recalling(speaker_boost=1.0, close=0.0, timed=0.0, feedback=0.0)),
    Method("+ names", recalling(close=0.0, timed=0.0, feedback=0.0)),
    Method("+ time words", recalling(close=0.0, feedback=0.0)),
    Method("+ feedback", recalling(close=0.0)),
    Method("default", whole=True),
)
"""The methods for dialogues, which have no world and so no graph and no lore."""

PLAY = (
    *TALK[:-1],
    Method("+ closeness", recalling()),
    Method("+ graph", lambda most: (Recollection(most=most), Connections())),
    Method("+ lorebook", lambda most: (Recollection(most=most), Connections(), Lorebook())),
    Method("default", whole=True),
)


TIMES = (
    Method("last turns", lambda most: (LatestTurns(),)),
    Method("without time words", recalling(timed=0.0)),
    Method("+ time words", recalling()),
    Method("default", whole=True),
)
"""The methods for questions that say when something happened."""


def found(context: TurnContext, evidence: Sequence[Evidence]) -> float:
    """The share of the evidence that is in the context."""
    lines = {piece.key: _plain(piece.text) for piece in context.pieces}
    text = _plain(context.text)
    return sum(_has(lines, text, each) for each in evidence) / len(evidence)


def _has(lines: Mapping[str, str], text: str, evidence: Evidence) -> bool:
    words = _plain(evidence.words)
    if not evidence.turn:
        return words in text
    line = lines.get(f"turn:{evidence.turn}")
    return line is not None and words in line


def _plain(text: str) -> str:
    return " ".join(text.split())


async def shares(
    method: Method, most: int, stages: Iterable[Stage], embedder: Embedder, first: list[bool] | None = None
) -> list[float]:
    """The share of each case's evidence, stage by stage. Appends to ``first`` whether the best turn is evidence."""
    values: list[float] = []
    for stage in stages:
        reader = method.reader(most, stage, embedder)
        for case in stage.cases:
            context = await reader.read(case.request)
            values.append(found(context, case.evidence))
            if first is not None:
                best = best_turn(context)
                first.append(any(each.turn == best for each in case.evidence if best))
        await reader.aclose()
    return values


async def compare(methods: Sequence[Method], stages: Sequence[Stage], embedder: Embedder) -> dict[str, Any]:
    """Each method's share at each budget, in all and by group, and what it adds to another method; ready for JSON."""
    groups = [case.group for stage in stages for case in stage.cases]
    result: dict[str, Any] = {"questions": len(groups), "turns": sum(len(stage.tree.nodes) - 1 for stage in stages)}
    rows: list[dict[str, Any]] = []
    measured: dict[tuple[str, int], list[float]] = {}
    last = ""
    for method in methods:
        first: list[bool] = []
        row: dict[str, Any] = {"method": method.name}
        for most in BUDGETS:
            values = await shares(method, most, stages, embedder, first)
            low, high = interval(values)
            entry: dict[str, Any] = {"share": mean(values), "low": low, "high": high}
            base = measured.get((method.over or last, most))
            if base is not None:
                differences = [value - old for value, old in zip(values, base, strict=True)]
                low, high = interval(differences)
                entry["adds"] = {"mean": mean(differences), "low": low, "high": high}
            entry["groups"] = {
                name: mean([value for value, group in zip(values, groups, strict=True) if group == name])
                for name in sorted(set(groups))
            }
            measured[method.name, most] = values
            row[str(most)] = entry
        last = method.name
        row["first"] = mean(first[: len(groups)])
        rows.append(row)
    return {**result, "methods": rows}


async def made_up(kind: str, language: str, seeds: Sequence[int], embedder: Embedder) -> list[Stage]:
    """Generated stages of the kind ``talk``, ``play`` or ``times``, one for each seed."""
    if kind == "times":
        return [await stage_times(language, seed, embedder) for seed in seeds]
    if kind == "talk":
        return [await stage_dialogue(dialogue, embedder) for dialogue in make_chats(language, seeds)]
    return [await stage_play(language, seed, embedder) for seed in seeds]


async def run_recall(
    seeds: Sequence[int],
    languages: Sequence[str],
    dialogues: Sequence[Dialogue],
    chosen: Config,
    say: Say,
    *,
    parts: bool = True,
) -> dict[str, Any]:
    """Measure the given dialogues, or generated ones of these seeds and languages if there are none.

    ``chosen`` names the embedder. Its other settings only apply to served chats, with stores in memory. Without
    ``parts``, only served chats are measured. Returns results ready for JSON. Raises ``SagaError`` if the embedder
    cannot be opened.
    """
    opened: Embedder = await open_embedder(chosen)
    try:
        sets: dict[str, Any] = {}
        served: dict[str, Any] = {}
        if dialogues:
            say("serving the dialogues")
            served["dialogues"] = await measure_served([chat_of_dialogue(each) for each in dialogues], chosen)
        else:
            for kind, spoken in SERVED.items():
                for language in filter(spoken.__contains__, languages):
                    say(f"serving {kind} in {language}")
                    chats = await served_chats(kind, language, seeds, opened)
                    served[f"{kind}-{language}"] = await measure_served(chats, chosen)
        if dialogues and parts:
            say("reading the dialogues")
            stages = [await stage_dialogue(dialogue, opened) for dialogue in dialogues]
            sets["dialogues"] = await compare(TALK, stages, opened)
        elif parts:
            for kind, methods in (("talk", TALK), ("play", PLAY), ("times", TIMES)):
                for language in filter(LANGUAGES.__contains__, languages):
                    say(f"{kind.removesuffix('s')}s in {language}")
                    stages = await made_up(kind, language, seeds, opened)
                    sets[f"{kind}-{language}"] = await compare(methods, stages, opened)
        which = [] if dialogues else list(seeds)
        return {"embedder": opened.id, "seeds": which, "budgets": BUDGETS, "served": served, "sets": sets}
    finally:
        await opened.aclose()


def read_former(file: Path) -> dict[str, Any]:
    """Read the results of an earlier ``run_recall`` from a file. Raises ``MalformedSet`` for any other file."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise MalformedSet(f"{file}: no JSON: {error}") from error
    if not isinstance(found, dict) or not isinstance(found.get("served"), dict):
        raise MalformedSet(f"{file}: has nothing served; give what `python -m tests.bench recall --json` wrote")
    return found


def table(result: Mapping[str, Any], against: Mapping[str, Any] | None = None) -> list[str]:
    """The results as Markdown: a table of the served chats, with differences from ``against``, and one for each set."""
    lines = served_table(result["served"], (against or {}).get("served"))
    for name, found_ in result["sets"].items():
        lines += [f"**{name}**: {found_['questions']:,} questions, {found_['turns']:,} turns", ""]
        lines.append("| method | " + " | ".join(f"{most:,} tokens | adds" for most in BUDGETS) + " | first |")
        lines.append("| --- |" + " ---: | --- |" * len(BUDGETS) + " ---: |")
        for row in found_["methods"]:
            cells = [_cell(row[str(most)]) for most in BUDGETS]
            lines.append(f"| {row['method']} | {' | '.join(cells)} | {row['first'] * 100:.1f} |")
        lines.append("")
    return lines


def _cell(entry: Mapping[str, Any]) -> str:
    adds = entry.get("adds")
    added = f"{adds['mean'] * 100:+.1f} [{adds['low'] * 100:+.1f}, {adds['high'] * 100:+.1f}]" if adds else ""
    return f"{entry['share'] * 100:.1f} | {added}"
