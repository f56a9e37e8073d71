"""Shared memories: what one session learned is told in the others of its owner, while its active path has it."""

from __future__ import annotations

from attrs import evolve

from saga_core.model import MemoryRecord, Remembered
from saga_core.sessions import LiveSession, SharedMemories
from saga_core.stores import Batch
from tests.core.sessions.stage import Stage, tell

FACT = MemoryRecord("m1", "facts", "fact", "/facts/{actor}", "미나는 비를 좋아한다", at=10.0, turns=("t1",))
OWN = MemoryRecord("m2", "facts", "fact", "/facts/{actor}/{session}", "She has the key.", at=10.0)


def shared(stage: Stage, *strategies: str) -> SharedMemories:
    return SharedMemories(stage.journal.kv, stage.live, stage.clock, frozenset(strategies or ("facts",)))


async def learned(stage: Stage, *records: MemoryRecord, owner: str = "mina", turn: str = "t1") -> LiveSession:
    live = await stage.begin(owner=owner)
    await tell(live, turn, *map(Remembered, records))
    return live


async def told(memories: SharedMemories, live: LiveSession) -> list[str]:
    return [each.text for each in await memories.at(live, await live.state(live.head))]


async def test_what_crosses_sessions_is_told_in_those_of_its_owner_alone() -> None:
    stage = Stage()
    memories = shared(stage)
    source = await learned(stage, FACT, OWN)
    await memories.publish(source)
    assert await told(memories, await stage.begin(owner="mina")) == [FACT.text]
    assert await told(memories, await stage.begin(owner="jun")) == []
    assert await told(memories, source) == [FACT.text, OWN.text], "its own are told from its state"
    assert await memories.of(source) == ()


async def test_nothing_is_told_where_no_strategy_is_configured_or_another_one() -> None:
    stage = Stage()
    source = await learned(stage, FACT)
    assert await told(SharedMemories(stage.journal.kv, stage.live, stage.clock), source) == []
    assert await told(shared(stage, "preferences"), source) == []
    by_hand = await learned(stage, evolve(FACT, strategy=""))
    assert await told(shared(stage, "preferences"), by_hand) == [FACT.text]
    assert await told(SharedMemories(stage.journal.kv, stage.live, stage.clock), by_hand) == []


async def test_what_has_expired_is_not_told() -> None:
    stage = Stage()
    source = await learned(stage, evolve(FACT, expires=stage.clock.now() + 60))
    assert await told(shared(stage), source) == [FACT.text]
    stage.clock.at += 60
    assert await told(shared(stage), source) == []


async def test_of_two_versions_the_later_is_told() -> None:
    stage = Stage()
    memories = shared(stage)
    await memories.publish(await learned(stage, FACT))
    later = await learned(stage, evolve(FACT, text="미나는 눈을 좋아한다", at=20.0), turn="u1")
    await memories.publish(later)
    assert await told(memories, await stage.begin(owner="mina")) == ["미나는 눈을 좋아한다"]


async def test_the_holder_of_a_record_is_another_session_of_the_owner() -> None:
    stage = Stage()
    memories = shared(stage)
    source, other = await learned(stage, FACT), await stage.begin(owner="mina")
    await memories.publish(source)
    assert await memories.holder(other.session, "m1") == source.session.id
    assert await memories.holder(other.session, "m9") is None
    assert await memories.holder(source.session, "m1") is None
    assert await memories.holder((await stage.begin(owner="jun")).session, "m1") is None


async def test_publishing_follows_the_active_path_and_writes_only_what_changed() -> None:
    stage = Stage()
    memories = shared(stage)
    live = await learned(stage, FACT)
    root = live.tree.root
    await memories.publish(live)
    rows = await stage.journal.kv.scan(("known",))
    assert [key for key, _ in rows] == [("known", live.session.id, "t1")]
    await tell(live, "t2")
    await memories.publish(live)
    assert await stage.journal.kv.scan(("known",)) == rows, "the same is told from the new head"
    await tell(live, "u1", parent=root)
    await memories.publish(live)
    assert await stage.journal.kv.scan(("known",)) == []
    assert await told(memories, await stage.begin(owner="mina")) == []


async def test_they_are_read_again_when_a_session_was_rewritten() -> None:
    stage = Stage()
    memories = shared(stage)
    source, other = await learned(stage, FACT), await stage.begin(owner="mina")
    await memories.publish(source)
    assert await shared(stage).of(other) == await memories.of(other) != ()
    ((key, _),) = await stage.journal.kv.scan(("known",))
    await stage.journal.kv.commit(Batch(deletes=frozenset({key})))
    assert await memories.of(other) != ()
    stage.live.forget(source.session.id)
    assert await memories.of(other) == ()


async def test_what_belongs_to_a_card_is_told_in_stories_of_that_card_alone() -> None:
    stage = Stage()
    memories = shared(stage)
    source = await stage.begin(owner="mina", greeting="The lamp over the ferry house is lit.")
    await tell(source, "t1", Remembered(evolve(FACT, namespace="/known/{actor}/{card}")), Remembered(OWN))
    await memories.publish(source)
    same = await stage.begin(owner="mina", greeting="The lamp over the ferry house is lit.")
    assert await told(memories, same) == [FACT.text]
    for owner, greeting in (
        ("mina", "The market is loud."),
        ("mina", ""),
        ("jun", "The lamp over the ferry house is lit."),
    ):
        assert await told(memories, await stage.begin(owner=owner, greeting=greeting)) == []
