"""``saga bench recall``: how much of what a turn needs is in its context, for each part of recall by itself and added.

Every method but the first is the product's own reader with some of its parts. The share of a question's evidence that
is in the context is averaged over questions; what a part adds is the mean of the differences, question by question,
with an interval of 95 % from 2,000 bootstrap samples of the questions. ``first`` is how often the turn that is ranked
best is evidence.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
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
from saga_server.bench.recall.chats import make_chats
from saga_server.bench.recall.dialogue_set import Dialogue
from saga_server.bench.recall.plays import stage_play
from saga_server.bench.recall.stage import Evidence, Stage, stage_dialogue
from saga_server.bench.recall.times import stage_times

BUDGETS = (600, 1_500)
SAMPLES = 2_000
Say = Callable[[str], None]

_PATIENCE_MS = 60_000.0


@frozen
class LatestTurns:
    """What a prompt without recall has: the newest turns, as many as fit."""

    name: str = "latest"
    needs: tuple[str, ...] = ()

    async def gather(self, scene: Scene, given: Given = NOTHING_GIVEN) -> Sequence[Piece]:
        """The newest hundred turns that the history does not show."""
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
    """The method to which it is compared; the one before it without a name."""
    whole: bool = False
    """The reader as it is served with default settings, instead of ``sources``."""

    def reader(self, most: int, stage: Stage, embedder: Embedder) -> ContextReader:
        """The reader of a stage: a block of ``most`` tokens at most."""
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


def shrunk(budget: TokenBudget, most: int) -> TokenBudget:
    """The budget with a whole of ``most`` tokens, as a configuration file that names nothing else gives it."""
    inside = ("lorebook_max", "state_briefing_max", "graph_context_max", "recall_max", "md_cache_max")
    return evolve(budget, dynamic_context_max=most, **{name: min(most, getattr(budget, name)) for name in inside})


def recalling(**parts: Any) -> Callable[[int], tuple[ContextSource, ...]]:
    """Earlier turns alone, ranked by so many parts of the ranking."""
    return lambda most: (Recollection(room=most, most=most, ranking=Ranking(**parts)),)


_PLAIN: Mapping[str, Any] = {"reach": 0, "lift": 1.0, "close": 0.0, "timed": 0.0, "adapt": False}

TALK = (
    Method("last turns", lambda most: (LatestTurns(),)),
    Method("BM25", recalling(**{**_PLAIN, "dense": 0.0})),
    Method("dense", recalling(**{**_PLAIN, "lexical": 0.0})),
    Method("fusion", recalling(**_PLAIN), over="BM25"),
    Method("+ smoothing", recalling(lift=1.0, close=0.0, timed=0.0, adapt=False)),
    Method("+ by length", recalling(lift=1.0, close=0.0, timed=0.0)),
    Method("+ names", recalling(close=0.0, timed=0.0)),
    Method("+ time words", recalling(close=0.0)),
    Method("default", whole=True),
)
"""For dialogues: there is no world, and so no graph and no lore."""

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
"""For questions that say when it was."""


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
    """The share of each case's evidence, stage by stage. ``first`` takes in whether the best turn is evidence."""
    values: list[float] = []
    for stage in stages:
        reader = method.reader(most, stage, embedder)
        for case in stage.cases:
            context = await reader.read(case.request)
            values.append(found(context, case.evidence))
            if first is not None:
                best = next((piece.key for piece in context.pieces if piece.section is Section.EARLIER), "")
                first.append(any(f"turn:{each.turn}" == best for each in case.evidence))
        await reader.aclose()
    return values


def interval(differences: Sequence[float], seed: int = 0) -> tuple[float, float]:
    """The 95 % interval of the mean, by bootstrap."""
    dice = random.Random(seed)
    size = len(differences)
    means = sorted(sum(dice.choices(differences, k=size)) / size for _ in range(SAMPLES))
    return means[int(SAMPLES * 0.025)], means[int(SAMPLES * 0.975) - 1]


async def compare(methods: Sequence[Method], stages: Sequence[Stage], embedder: Embedder) -> dict[str, Any]:
    """Each method's share at each budget, by group too, and what it adds to the method before it; JSON-able."""
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


def mean(values: Sequence[float]) -> float:
    """The arithmetic mean; 0 of nothing."""
    return sum(values) / len(values) if values else 0.0


async def made_up(kind: str, language: str, seeds: Sequence[int], embedder: Embedder) -> list[Stage]:
    """``talk``, ``play`` or ``times``, one for each seed, ready to be asked."""
    if kind == "times":
        return [await stage_times(language, seed, embedder) for seed in seeds]
    if kind == "talk":
        return [await stage_dialogue(dialogue, embedder) for dialogue in make_chats(language, seeds)]
    return [await stage_play(language, seed, embedder) for seed in seeds]


async def run_recall(
    seeds: Sequence[int], languages: Sequence[str], dialogues: Sequence[Dialogue], chosen: Config, say: Say
) -> dict[str, Any]:
    """Measure the given dialogues, or made-up ones of these seeds and languages when there are none; JSON-able.

    ``chosen`` names the embedder; nothing else of it counts. Raises ``SagaError`` for one that cannot be opened.
    """
    opened: Embedder = await open_embedder(chosen)
    try:
        sets: dict[str, Any] = {}
        if dialogues:
            say("reading the dialogues")
            stages = [await stage_dialogue(dialogue, opened) for dialogue in dialogues]
            sets["dialogues"] = await compare(TALK, stages, opened)
        else:
            for kind, methods in (("talk", TALK), ("play", PLAY), ("times", TIMES)):
                for language in languages:
                    say(f"{kind.removesuffix('s')}s in {language}")
                    stages = await made_up(kind, language, seeds, opened)
                    sets[f"{kind}-{language}"] = await compare(methods, stages, opened)
        return {"embedder": opened.id, "seeds": [] if dialogues else list(seeds), "budgets": BUDGETS, "sets": sets}
    finally:
        await opened.aclose()


def table(result: Mapping[str, Any]) -> list[str]:
    """What was measured as Markdown: a table for each set."""
    lines: list[str] = []
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
