"""A long chat with swipes and branches: it is imported in bounded time, and every end of it is found at once."""

from __future__ import annotations

import random
import time
from functools import partial
from typing import Any

import pytest

from saga_core import Saga
from saga_core.journal import records
from saga_core.maintenance import ImportOptions
from saga_core.model import TurnKind
from tests.core.imports import samples

WORDS = (
    "lamp road bridge salt gate keeper rain winter river mill cart horse letter key tower crypt song fire coat debt "
    "promise knife bread fog harbour ship bell candle stone garden wolf star door window stair market thief"
).split()
CPU_SECONDS = 5.0
"""For 500 turns with 20 branches of 25 turns and 600 swipes."""


def tale(turn: int, where: str) -> str:
    dice = random.Random(f"{turn} {where}")
    return f"In {where}, on day {turn}, " + " ".join(dice.choice(WORDS) for _ in range(110)) + "."


def chat(turns: int, where: str = "the vale", *, leaves: int = 0, swiped: bool = True) -> bytes:
    """A chat; from turn ``leaves`` on it is played elsewhere, and its header says that it was branched off."""
    meta = {"main_chat": "main"} if leaves else {}
    rows: list[Any] = [{**samples.HEADER, "chat_metadata": meta}]
    rows.append(samples.message("Ysolde", "A long road lies ahead of you, {{user}}, and the lamp is lit."))
    for turn in range(1, turns + 1):
        place = where if leaves and turn > leaves else "the vale"
        rows.append(samples.message("Alex", f"On with me, for the {turn}th time, {place}.", user=True))
        reply, other = tale(turn, place), tale(turn, f"{place} that nobody saw")
        both: dict[str, Any] = {"swipes": [other, reply], "swipe_id": 1} if swiped and turn % 2 else {}
        rows.append(samples.message("Ysolde", reply, **both))
    return samples.jsonl(*rows)


def history(turns: int, where: str = "the vale", leaves: int = 0, last: str = "") -> list[dict[str, Any]]:
    """What the frontend sends of such a chat, up to a turn; ``last`` stands for the last reply."""
    told = [{"role": "system", "content": "Write Ysolde's next reply."}]
    told.append({"role": "assistant", "content": "A long road lies ahead of you, Alex, and the lamp is lit."})
    for turn in range(1, turns + 1):
        place = where if leaves and turn > leaves else "the vale"
        told.append({"role": "user", "content": f"On with me, for the {turn}th time, {place}."})
        told.append({"role": "assistant", "content": last if last and turn == turns else tale(turn, place)})
    return [*told, {"role": "user", "content": "And now something quite new."}]


async def every_end_is_found(turns: int, branches: int, seconds: float) -> None:
    forks = {f"branch {number}": turns * number // (branches + 1) for number in range(1, branches + 1)}
    files = [("main.jsonl", chat(turns))]
    files += [(f"{name}.jsonl", chat(fork + 25, name, leaves=fork)) for name, fork in forks.items()]
    async with Saga.open({"storage": {"profile": "memory"}}) as saga:
        began = time.process_time()
        found = await saga.maintenance.import_files(files, ImportOptions())
        spent = time.process_time() - began
        sessions = {thing.session for thing in found.things}
        assert len(sessions) == 1 and found.things[0].counts["branches"] == branches
        (session,) = sessions
        assert session is not None
        live = await saga.parts.live.get(session)
        count = len(live.tree.nodes)
        ends = [("the vale", turns, 0), *((name, fork + 25, fork) for name, fork in forks.items())]
        for name, length, fork in ends:
            pending = await saga.begin(history(length, name, fork))
            assert pending.session.id == session, "played on at once, in the session that was imported"
            node = live.tree.get(pending.parent.id)
            assert node.depth == length
            if fork:
                assert live.timelines[name].head == node.id
        for turn in range(1, turns + 1, 2 * max(1, turns // 40)):
            swipe = tale(turn, "the vale that nobody saw")
            pending = await saga.begin(history(turn, last=swipe))
            assert pending.session.id == session
            assert pending.parent.reply == swipe, "a swipe that was not taken is found as well"
        assert len(live.tree.nodes) == count, "every one of them was known, so nothing is adopted"
        kinds = {node.kind for node in live.tree.nodes.values()}
        assert kinds == {TurnKind.ROOT, TurnKind.IMPORTED}
        assert spent < seconds, f"the import took {spent:.1f} s of CPU time"


async def test_every_end_of_a_chat_is_found() -> None:
    await every_end_is_found(60, 4, CPU_SECONDS)


@pytest.mark.deep
async def test_every_end_of_a_chat_of_500_turns_is_found() -> None:
    await every_end_is_found(500, 20, CPU_SECONDS)


async def test_a_message_that_is_too_long_for_a_record_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "cut", partial(records.cut, most=100_000))
    rows = [samples.HEADER, samples.message("Alex", "On.", user=True), samples.message("Ysolde", "w " * 100_000)]
    async with Saga.open({"storage": {"profile": "memory"}}) as saga:
        found = await saga.maintenance.import_files([("main.jsonl", samples.jsonl(*rows))], ImportOptions())
        (session,) = [each.session for each in found.things if each.session]
        live = await saga.parts.live.get(session)
        (turn,) = await live.turns([live.head])
    assert len(turn.reply) < 100_000 and "are not recorded; sha256" in turn.reply
