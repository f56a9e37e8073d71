"""Measure how long it takes to find the turn that a long history continues, in one of many sessions."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from attrs import evolve, frozen

from saga_core import Saga
from saga_core.journal import TurnEntry
from saga_core.model import Session, Turn, node_of
from saga_core.transcript import Match, identity_key, read_transcript, words_key
from saga_core.transcript import identities as identity
from tests.bench.meters import Stopwatch, calibrate, percentile
from tests.bench.play import PlayOptions, prepare
from tests.bench.processes import run_python
from tests.bench.story.cast import make_cast
from tests.bench.story.storyteller import Storyteller

REPEATS = 300
_BATCH = 500
_AROUND = 40
"""Turns of each other session."""
_FILE = "matching.json"


@frozen
class Shelf:
    """The sessions in the data directory, and the history that is matched against them."""

    turns: int = 10_000
    """Turns of the session that the history belongs to."""
    sessions: int = 200
    messages: int = 2_000
    """Messages of the history, which are the last of the session."""
    lang: str = "ko"
    seed: int = 1


async def write_shelf(folder: Path, shelf: Shelf) -> None:
    """Write the sessions into ``folder``, which must be empty, and the history beside them."""
    options = PlayOptions(shelf.turns, entities=200, lore=8, lang=shelf.lang, seed=shelf.seed)
    prepare(folder, options)
    cast = make_cast(shelf.lang, options.entities, options.lore, shelf.seed)
    async with Saga.open(folder / "saga.yaml") as saga:
        for number in range(shelf.sessions):
            # The long session is in the middle of the others.
            turns = shelf.turns if number == shelf.sessions // 2 else _AROUND
            session = await saga.sessions.create(label=str(number))
            teller = Storyteller(cast, shelf.lang, turns, shelf.seed + number)
            chat, last = await _write(saga, session, teller, turns)
            if turns == shelf.turns:
                kept = {"chat": chat[-shelf.messages // 2 :], "parent": last}
    (folder / _FILE).write_text(json.dumps(kept, ensure_ascii=False), encoding="utf-8")


async def _write(saga: Saga, session: Session, teller: Storyteller, turns: int) -> tuple[list[tuple[str, str]], str]:
    tree = (await saga.parts.live.get(session.id)).tree
    parent, chat, entries = tree.root, [], []
    for number in range(turns):
        told = teller.next()
        user_key = words_key(read_transcript([{"role": "user", "content": told.words}]).words)
        depth, episode = tree.get(parent).depth + 1, f"{told.words}\n{told.reply}"
        turn = Turn(saga.parts.ids.new("t"), session.id, parent, depth, saga.parts.clock.now(), told.words, told.reply)
        turn = evolve(turn, jump=tree.jump_for(parent))
        tree.add(node_of(turn, user_key=user_key, reply_key=identity_key(turn.reply), episode=episode))
        entries.append(TurnEntry(turn, user_key, episode, settled=True))
        chat.append((told.words, told.reply))
        parent = turn.id
        if len(entries) == _BATCH or number == turns - 1:
            session = await saga.parts.journal.append(session, entries, head=parent)
            entries.clear()
    saga.parts.live.forget(session.id)
    return chat, parent


async def measure_matching(folder: Path, repeats: int = REPEATS) -> dict[str, Any]:
    """Measure reading and matching the history, in milliseconds.

    The order is: the first request, a request whose texts are not in the cache, ``repeats`` requests of a warm process,
    a history changed by a script, and a chat that was played elsewhere.
    """
    kept = json.loads((folder / _FILE).read_text(encoding="utf-8"))
    bench = _Bench(kept["chat"], kept["parent"])
    before = calibrate()
    async with Saga.open(folder / "saga.yaml") as saga:
        first = await bench.run(saga, bench.as_it_was)
        _forget()
        cold = await bench.run(saga, bench.as_it_was)
        warm = [await bench.run(saga, bench.as_it_was) for _ in range(repeats)]
        scripted = await bench.run(saga, bench.scripted)
        unknown = await bench.run(saga, bench.unknown)
    return {
        "bytes": bench.size,
        "first": first.figures(),
        "cold": cold.figures(),
        "warm": _together(warm),
        "scripted": scripted.figures(),
        "unknown": unknown.figures(),
        "calibration": [before, calibrate()],
    }


def _forget() -> None:
    """Clear the cache of text identities."""
    identity._KEYS.young.clear()
    identity._KEYS.old.clear()


@frozen
class _Taken:
    """The measurements of one request."""

    read: Stopwatch
    match: Stopwatch

    def figures(self) -> dict[str, float]:
        return {
            "read": self.read.taken.cpu,
            "match": self.match.taken.cpu,
            "cpu": self.read.taken.cpu + self.match.taken.cpu,
            "wall": self.read.taken.wall + self.match.taken.wall,
        }


def _together(taken: list[_Taken]) -> dict[str, float]:
    found: dict[str, float] = {}
    rows = [each.figures() for each in taken]
    for name in ("read", "match", "cpu", "wall"):
        values = [row[name] for row in rows]
        found[f"{name}_p50"], found[f"{name}_p99"] = percentile(values, 50), percentile(values, 99)
    return found


class _Bench:
    """The history, and the turn that it must match."""

    def __init__(self, chat: list[tuple[str, str]], parent: str) -> None:
        self.chat, self.parent, self.asked = chat, parent, 0
        self.size = sum(len(text.encode()) for pair in chat for text in pair)

    async def run(self, saga: Saga, history: Callable[[], tuple[list[dict[str, str]], str | None]]) -> _Taken:
        messages, how = history()
        # New string objects, as from a client: Python has not cached their hashes yet.
        messages = json.loads(json.dumps(messages))
        with Stopwatch() as read:
            transcript = read_transcript(messages)
        with Stopwatch() as match:
            found = await saga.parts.matcher.match(transcript, owner="")
        self._check(found, how)
        return _Taken(read, match)

    def _check(self, found: Match, how: str | None) -> None:
        if found.how != how or (how == "reply" and found.parent != self.parent):
            raise RuntimeError(f"the history was matched by {found.how!r}, at {found.parent!r}")

    def _messages(self, change: Callable[[str], str], say: Callable[[str], str]) -> list[dict[str, str]]:
        self.asked += 1
        told = [{"role": "system", "content": "You are the narrator."}]
        for words, reply in self.chat:
            told += [{"role": "user", "content": say(words)}, {"role": "assistant", "content": change(reply)}]
        return [*told, {"role": "user", "content": f"And then, {self.asked}?"}]

    def as_it_was(self) -> tuple[list[dict[str, str]], str]:
        """The history as it was played."""
        return self._messages(str, str), "reply"

    def scripted(self) -> tuple[list[dict[str, str]], str]:
        """The history with a small change in every reply, as by a script that was switched on since."""
        return self._messages(lambda text: text[:4] + "…" + text[5:], str), "words"

    def unknown(self) -> tuple[list[dict[str, str]], str]:
        """A history that was played elsewhere."""
        return self._messages(lambda text: f"~{text[::-1]}", lambda text: text[::-1]), "none"


def run_matching(shelf: Shelf, folder: Path, repeats: int = REPEATS) -> dict[str, Any]:
    """Write the sessions into ``folder``, and measure in a process of its own. The results are ready for JSON."""
    asyncio.run(write_shelf(folder, shelf))
    found: dict[str, Any] = json.loads(run_python(["-m", "tests.bench.matching", str(folder), str(repeats)]))
    return found


def rows(found: dict[str, Any]) -> list[tuple[str, str]]:
    """The rows of the table in docs/performance.md: figure, and milliseconds of CPU."""
    warm = found["warm"]
    return [
        ("reading the messages, median", f"{warm['read_p50']:.1f}"),
        ("matching, median", f"{warm['match_p50']:.1f}"),
        ("both, median", f"{warm['cpu_p50']:.1f}"),
        ("both, 99 %", f"{warm['cpu_p99']:.1f}"),
        ("both, texts not seen since the start", f"{found['cold']['cpu']:.0f}"),
        ("both, the session not in memory either", f"{found['first']['cpu']:,.0f}"),
        ("both, every reply changed by a script", f"{found['scripted']['cpu']:.0f}"),
        ("both, a chat that nobody knows", f"{found['unknown']['cpu']:.0f}"),
    ]


if __name__ == "__main__":
    import sys

    json.dump(asyncio.run(measure_matching(Path(sys.argv[1]), int(sys.argv[2]))), sys.stdout)
