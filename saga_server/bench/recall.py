"""``saga bench recall``: how much of what a turn needs is in its context, for each part of recall by itself and added.

Every method but the first is the product's own reader with some of its parts. The share of a question's evidence that
is in the context is averaged over questions; what a part adds is the mean of the differences, question by question,
with an interval of 95 % from 2,000 bootstrap samples of the questions.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from attrs import evolve, field, frozen

from saga_backends.tokens.estimate import EstimateCounter
from saga_core.config.model import Config, TokenBudget
from saga_core.context.model import Piece, Section, TurnContext
from saga_core.context.reader import USEFUL_HOPS, ContextReader, default_reader
from saga_core.context.scene import Scene
from saga_core.context.sources import Connections, ContextSource, Lorebook, Recollection
from saga_core.ports import Embedder
from saga_core.recall.fusion import Ranking
from saga_server.bench.recall_stage import Case, Evidence, Stage

BUDGETS = (600, 1_500)
SAMPLES = 2_000
_PATIENCE_MS = 60_000.0


@frozen
class LatestTurns:
    """What a prompt without recall has: the newest turns, as many as fit."""

    name: str = "latest"

    async def gather(self, scene: Scene) -> Sequence[Piece]:
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


_PLAIN = {"reach": 0, "lift": 1.0, "close": 0.0, "adapt": False}

TALK = (
    Method("last turns", lambda most: (LatestTurns(),)),
    Method("BM25", recalling(dense=0.0, **_PLAIN)),
    Method("dense", recalling(lexical=0.0, **_PLAIN)),
    Method("fusion", recalling(**_PLAIN)),
    Method("+ smoothing", recalling(lift=1.0)),
    Method("+ names", recalling()),
    Method("default", whole=True),
)
"""For dialogues: there is no world, and so no graph and no lore."""

PLAY = (
    *TALK[:-1],
    Method("+ graph", lambda most: (Recollection(room=most, most=most), Connections())),
    Method("+ lorebook", lambda most: (Recollection(room=most, most=most), Connections(), Lorebook())),
    Method("default", whole=True),
)


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


async def shares(method: Method, most: int, stages: Iterable[Stage], embedder: Embedder) -> list[float]:
    """The share of each case's evidence, stage by stage."""
    values: list[float] = []
    for stage in stages:
        reader = method.reader(most, stage, embedder)
        for case in stage.cases:
            values.append(found(await reader.read(case.request), case.evidence))
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
    before: dict[int, list[float]] = {}
    for method in methods:
        row: dict[str, Any] = {"method": method.name}
        for most in BUDGETS:
            values = await shares(method, most, stages, embedder)
            low, high = interval(values)
            entry: dict[str, Any] = {"share": mean(values), "low": low, "high": high}
            if most in before:
                differences = [value - old for value, old in zip(values, before[most], strict=True)]
                low, high = interval(differences)
                entry["adds"] = {"mean": mean(differences), "low": low, "high": high}
            entry["groups"] = {
                name: mean([value for value, group in zip(values, groups, strict=True) if group == name])
                for name in sorted(set(groups))
            }
            before[most] = values
            row[str(most)] = entry
        rows.append(row)
    return {**result, "methods": rows}


def mean(values: Sequence[float]) -> float:
    """The arithmetic mean; 0 of nothing."""
    return sum(values) / len(values) if values else 0.0


def cases_of(stages: Iterable[Stage]) -> list[Case]:
    """All cases."""
    return [case for stage in stages for case in stage.cases]
