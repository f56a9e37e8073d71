"""Recorded journals: data directories as released formats wrote them, and what is known in them.

``python -m tests.replay.recorded_journals`` records one of the format of today, beside those that are there. A format
that was released is never recorded again: its file is what old data is.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from attrs import define, field

from saga_core import Saga
from saga_core.journal import PendingWork, keys
from tests.core.frontend import Frontend

FOLDER = Path(__file__).parent / "journals"


@define
class Fixed:
    """A clock and a source of chance that are always the same."""

    at: float = 1_767_225_600.0
    count: int = field(default=0)

    def now(self) -> float:
        self.at += 1.0
        return self.at

    def monotonic(self) -> float:
        return self.at

    def token(self, size: int) -> bytes:
        self.count += 1
        return self.count.to_bytes(size)


def formats() -> list[int]:
    """Those that are recorded."""
    return sorted(int(path.name.split("-")[1].split(".")[0]) for path in FOLDER.glob("format-*.db.gz"))


def unpack(number: int, data: Path) -> dict[str, Any]:
    """Lay a recorded data directory out in ``data``, and give what is known in it."""
    (data / "state.db").write_bytes(gzip.decompress((FOLDER / f"format-{number}.db.gz").read_bytes()))
    found: dict[str, Any] = json.loads((FOLDER / f"format-{number}.json").read_text(encoding="utf-8"))
    return found


async def known(saga: Saga) -> dict[str, Any]:
    """What is known at every turn of every session, in the words of the admin API."""
    found: dict[str, Any] = {}
    for summary in await saga.sessions.list():
        session = summary.session
        tree = await saga.parts.journal.tree(session.id)
        found[session.id] = {
            "label": session.label,
            "head": session.head,
            "timelines": sorted(each["name"] for each in await saga.timelines.list(session.id) if each["name"]),
            "turns": {turn: await _told(saga, session.id, turn) for turn in sorted(tree.nodes)},
        }
    return found


async def _told(saga: Saga, session: str, turn: str) -> dict[str, Any]:
    told = await saga.describe(session, turn)
    names = ("turn", "player", "location", "hp", "mood", "inventory", "npcs_present", "npcs_met", "relationships")
    (*_, last) = await saga.views.turns(session, head=turn)
    return {"reply": last.reply, "user": last.user, **{name: told[name] for name in names}}


async def record() -> None:
    """Play, and keep the journal: two languages, swipes, a branch, a correction, checkpoints, work that waits."""
    clock = Fixed()
    with tempfile.TemporaryDirectory() as place:
        config = {"storage": {"path": place}, "session": {"default_world": "ersia", "checkpoint_every": 4}}
        async with Saga.open(config, clock=clock, entropy=clock) as saga:
            korean = Frontend(saga, session="나의 모험", owner="k1")
            for number in range(9):
                await korean.say(f"{number}. 숲으로 간다.", f"{number}번째 길이 열린다. 바람이 분다.", hp_change=-1)
            await korean.swipe("크룩이 나타난다. 낮게 웃는다.", npc_met=("크룩",), location="어둠의 숲")
            turn = await korean.say("“누구냐?”", "대답이 없다. 나뭇잎만 구른다.", mood="tense")
            await saga.timelines.fork(turn.session.id, None, "어두운 끝")
            await saga.memory.correct(turn.session.id, "note", {"text": "크룩은 거짓말을 했다"})
            del korean.history[-6:]
            await korean.say("돌아선다.", "마을이 보인다. 연기가 오른다.", location="마을 광장")
            english = Frontend(saga, greeting="Rain.", system="You narrate.", note="")
            await english.say("I go in.", "The old mill is dark. It smells of rope.", location="the old mill")
            waits = await english.say("I wait.", "Nobody comes. The rain goes on.")
            await saga.drain(30)
            wanted = PendingWork(True, 2, "ExtractionFailed: it answered nonsense")
            await saga.parts.journal.change_jobs(waits.session.id, (), {waits.id: wanted})
            told = await known(saga)
        FOLDER.mkdir(exist_ok=True)
        packed = gzip.compress(Path(place, "state.db").read_bytes(), mtime=0)  # noqa: ASYNC240 - nobody else runs
        (FOLDER / f"format-{keys.FORMAT}.db.gz").write_bytes(packed)
        text = json.dumps(told, ensure_ascii=False, indent=1) + "\n"
        (FOLDER / f"format-{keys.FORMAT}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    if keys.FORMAT in formats():
        sys.exit(f"format {keys.FORMAT} is recorded, and stays as it is")
    asyncio.run(record())
