"""A data directory as SAGA 0.1 left it after a play: journal, pages, vectors, and what was known and asked next.

``python -m tests.replay.recorded_data`` recorded it. It is never recorded again: it is what old data is.
"""

from __future__ import annotations

import asyncio
import io
import json
import random
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

from attrs import evolve

from saga_core import Saga
from saga_core.world import WorldLibrary
from tests.replay.recorded_journals import known
from tests.replay.recorded_prompts import PLAYS, WORLDS, Chat, Counting, SmallModel, Ticking, config

FILE = Path(__file__).parent / "journals" / "data-0.1.tar.gz"
PLAY = evolve(PLAYS[1], turns=18)
NEXT = "에르겐에게 은빛 성채의 소식을 묻는다."


def configured(data: Path) -> dict[str, Any]:
    return {**config(PLAY), "storage": {"profile": "lite", "path": str(data)}}


async def told(saga: Saga) -> dict[str, Any]:
    """Everything that can be asked about the one session."""
    ((session, about),) = (await known(saga)).items()
    return {
        "known": {session: about},
        "memories": [each["text"] for each in (await saga.memory.records(session))["memories"]],
        "reviews": await saga.memory.reviews(session),
        "changes": await saga.memory.changes(session),
        "bills": [[bill.turn, bill.purpose, bill.input, bill.output] for bill in await saga.sessions.cost(session)],
        "pages": dict(found.files) if (found := (await saga.views.pages(session))[0]) is not None else None,
    }


def unpack(data: Path) -> dict[str, Any]:
    """Lay the directory out in ``data``, and give what was recorded of it."""
    with tarfile.open(FILE) as packed:
        packed.extractall(data, filter="data")
    about = data / "recorded.json"
    found: dict[str, Any] = json.loads(about.read_text(encoding="utf-8"))
    about.unlink()
    return found


async def ask_next(saga: Saga, clock: Ticking, history: list[dict[str, str]]) -> dict[str, Any]:
    """The prompt for the next words."""
    chat = Chat(saga, PLAY, WorldLibrary((WORLDS,)).get(PLAY.world), clock, random.Random(1))
    chat.number = 100
    begun = await chat.ask(history, NEXT)
    await begun.abandon()
    return chat.sent[-1]


async def record() -> None:
    """Play, and keep the directory."""
    with tempfile.TemporaryDirectory() as place:
        data, small, clock = Path(place), SmallModel(PLAY.language), Ticking()
        async with Saga.open(configured(data), extractor=small, curator=small, clock=clock, entropy=Counting()) as saga:
            chat = Chat(saga, PLAY, WorldLibrary((WORLDS,)).get(PLAY.world), clock, random.Random(PLAY.seed))
            await chat.run()
            await saga.drain(60)
            found = await told(saga)
        async with Saga.open(configured(data), clock=Ticking(clock.at), entropy=Counting(10_000)) as saga:
            await saga.drain(60)
            found |= {"at": clock.at, "history": chat.history, "next": await ask_next(saga, clock, chat.history)}
        text = json.dumps(found, ensure_ascii=False, indent=1).encode()
        with tarfile.open(FILE, "w:gz") as packed:
            for path in sorted(each for each in data.rglob("*") if each.is_file()):  # noqa: ASYNC240 - nobody else runs
                packed.add(path, path.relative_to(data).as_posix())
            entry = tarfile.TarInfo("recorded.json")
            entry.size = len(text)
            packed.addfile(entry, io.BytesIO(text))


if __name__ == "__main__":
    if FILE.exists():
        sys.exit(f"{FILE.name} is recorded, and stays as it is")
    asyncio.run(record())
