"""What the model is told over several stores: ``python -m tests.backends.same_context FOLDER GRAPH …``.

Every combination of the named graph engines with all vector engines plays once, in alternating languages; the first
combination plays in both. Then each combination rebuilds its stores from the journal that the first one left, without a
layer in memory, and is read at the end and on the way. Prints JSON: combination -> play -> digests of what was told.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import shutil
import sys
from pathlib import Path
from typing import Any

from attrs import evolve

from saga_backends.embedder.ngram import NgramEmbedder
from saga_core import Saga
from saga_core.config import Config, load_config
from saga_core.config.model import StoreConfig
from saga_core.play.pending_turn import PendingTurn
from tests.backends.recorded_play import Chat, Counting, Ticking, made, play

TURNS = 14
VECTORS = ("sqlite", "chroma", "lancedb")
LANGUAGES = ("ko", "en")


def configured(file: Path, graph: str, vector: str, resident_mb: int) -> Config:
    config = load_config(file, environ={})
    stores = {
        "graph": StoreConfig(backend=graph, resident_mb=resident_mb),
        "vector": StoreConfig(backend=vector, resident_mb=resident_mb),
    }
    return evolve(config, storage=evolve(config.storage, **stores))


def told(begun: PendingTurn) -> list[Any]:
    """The text, for a person who looks for the difference; who said it; and the bytes of all that goes upstream."""
    assert not begun.context.late
    assert begun.context.pieces
    plan = json.dumps(begun.plan.to_openai(), ensure_ascii=False)
    sources = [piece.source for piece in begun.context.pieces]
    return [begun.context.text, sources, hashlib.sha256(plan.encode()).hexdigest()]


async def played(file: Path, lang: str, graph: str, vector: str) -> tuple[list[Any], list[Any]]:
    """Play, and give what was told at every request, and the requests."""
    requests: list[Any] = []
    heard: list[Any] = []

    def note(messages: list[dict[str, Any]], begun: PendingTurn) -> None:
        requests.append(messages)
        heard.append(told(begun))

    config = configured(file, graph, vector, resident_mb=64)
    async with Saga.open(config, clock=Ticking(), entropy=Counting()) as saga:
        await play(saga, Chat(lang, TURNS), note)
        assert not saga.counters.degraded, saga.counters.degraded
        for each in await saga.sessions.list():
            assert await saga.maintenance.differences(each.session.id) == []
    return heard, requests


async def shown(file: Path, lang: str, graph: str, vector: str, requests: list[Any]) -> list[Any]:
    """Show the journal in the stores, and give what is told to those who go on from its end and from the way."""
    heard = []
    config = configured(file, graph, vector, resident_mb=0)
    async with Saga.open(config, clock=Ticking(), entropy=Counting()) as saga:
        (summary,) = await saga.sessions.list()
        await saga.maintenance.rebuild(summary.session.id)
        assert await saga.maintenance.differences(summary.session.id) == []
        # The last first: its parent is what the stores show.
        for messages in [*requests[::-7], *requests[-3:]]:
            begun = await saga.begin(messages, session=lang)
            heard.append(told(begun))
            await begun.abandon()
    return heard


def combinations(folder: Path, graphs: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    pairs = [(graph, vector) for graph in graphs for vector in VECTORS]
    for turn, lang in enumerate(LANGUAGES):
        journal: Path | None = None
        requests: list[Any] = []
        for at, (graph, vector) in enumerate(pairs):
            if at == 0 or at % len(LANGUAGES) == turn:
                file = made(folder / f"{lang}-{graph}-{vector}", lang, TURNS)
                heard, requests = asyncio.run(played(file, lang, graph, vector))
                journal = journal or file.parent / "data" / "state.db"
                file = made(folder / f"{lang}-{graph}-{vector}-shown", lang, TURNS)
                (file.parent / "data").mkdir()
                shutil.copy(journal, file.parent / "data" / "state.db")
                again = asyncio.run(shown(file, lang, graph, vector, requests))
                found.setdefault(f"{graph} and {vector}", {})[lang] = {"played": heard, "shown": again}
    return found


if __name__ == "__main__":
    # Turns get vectors too, as for an embedder that sees meaning: they are asked of each engine.
    NgramEmbedder.semantic = property(lambda _self: True)  # type: ignore[assignment, method-assign]
    json.dump(combinations(Path(sys.argv[1]), sys.argv[2:]), sys.stdout, ensure_ascii=False)
