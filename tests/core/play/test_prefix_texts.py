"""The texts in front of a history are rendered once, and stay as they were pinned."""

from __future__ import annotations

from attrs import evolve

from saga_core.config import load_config
from saga_core.counters import Counters
from saga_core.model import Delta, ReportStatus, Source, WorldState
from saga_core.model.deltas import HpChanged, StatusChanged
from saga_core.play import PrefixTexts, PromptMemories
from saga_core.sessions import LiveSession, amend
from saga_core.stores import StateKV
from saga_core.world import World
from tests.core.sessions.stage import Stage, tell


class Characters:
    """Counts characters, and how often it was asked."""

    id = "characters"
    asked = 0

    def count(self, text: str) -> int:
        self.asked += 1
        return len(text)


def texts(kv: StateKV) -> PrefixTexts:
    budget = load_config({"token_budget": {"world_max": 30}}).token_budget
    return PrefixTexts(budget, Characters(), PromptMemories(kv, Counters()))


async def of_pages(found: PrefixTexts, live: LiveSession, turn: str, language: str) -> tuple[str, WorldState]:
    return await found.of_pages(live, await found.memories.of(live.session.id), turn, language)


async def test_a_world_is_rendered_once_in_whole_lines_that_fit() -> None:
    found = texts(Stage().journal.kv)
    world = World("ersia", "에르시아", description="첫 줄은 짧다.\n" + "둘째 줄은 길다. " * 9)
    assert found.of_world(world) == "첫 줄은 짧다."
    asked = found.counter.asked  # type: ignore[attr-defined]
    assert found.of_world(evolve(world)) == "첫 줄은 짧다." and found.counter.asked == asked  # type: ignore[attr-defined]
    assert found.of_world(evolve(world, description="다른 세계")) == "다른 세계"
    found.forget()
    found.of_world(world)
    assert found.counter.asked > asked + 1  # type: ignore[attr-defined]


async def test_pages_stay_as_they_were_pinned_when_their_turn_is_amended() -> None:
    stage = Stage()
    live = await stage.begin()
    await tell(live, "t1")
    found = texts(stage.journal.kv)
    text, state = await of_pages(found, live, "t1", "ko")
    assert "죽음" not in text and state == await live.state("t1")
    died = Delta((StatusChanged(live.prepared.opening.player, "dead"),), Source.EDIT, ReportStatus.OK)
    await amend(live, "t1", died, "0")
    assert await of_pages(found, live, "t1", "ko") == (text, state)
    found.forget()
    assert await of_pages(found, live, "t1", "ko") == (text, state), "what is to be stored is at hand"
    assert "Dead:" in (await of_pages(found, live, "t1", "en"))[0], "it did not stand in a prompt before"


async def test_what_was_stored_is_read_after_a_restart() -> None:
    stage = Stage()
    live = await stage.begin()
    await tell(live, "t1")
    found = texts(stage.journal.kv)
    before = await of_pages(found, live, "t1", "ko")
    batch = found.memories.changes(live.session.id, lambda _: True)
    await stage.journal.kv.commit(batch)
    await amend(live, "t1", Delta((HpChanged(live.prepared.opening.player, -58),), Source.EDIT, ReportStatus.OK), "0")
    assert await of_pages(texts(stage.journal.kv), live, "t1", "ko") == before
