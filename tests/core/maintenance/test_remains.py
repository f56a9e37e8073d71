"""What is left of a journal that lost entries is made a whole journal again, smaller and without a hole."""

from __future__ import annotations

from attrs import evolve

from saga_core.journal import keys
from saga_core.maintenance.remains import Remains, make_whole
from saga_core.model import Timeline
from saga_core.stores import Batch, Key
from saga_core.transcript import identity_key
from saga_core.world import World
from tests.core.transcript.known import EN, KO, Shelf

MORE = "The road goes on along the river, and nobody is in sight."


async def rows(shelf: Shelf) -> dict[Key, bytes]:
    return dict(await shelf.journal.kv.scan((), limit=10_000))


async def lose(shelf: Shelf, *gone: Key) -> Remains:
    await shelf.journal.kv.commit(Batch(deletes=frozenset(gone)))
    return await make_whole(shelf.journal.kv)


async def test_a_whole_journal_stays_as_it_is() -> None:
    shelf = Shelf()
    await shelf.story("가자", KO[0], "더", KO[1])
    before = await rows(shelf)
    assert await lose(shelf) == Remains(1, (), 0)
    assert await rows(shelf) == before


async def test_below_a_lost_turn_nothing_stays_and_nothing_leads_there() -> None:
    shelf = Shelf()
    root, first, second, third = await shelf.story("go", EN[0], "on", EN[1], "and on", MORE)
    branch = await shelf.tell(root, "go", MORE)
    beside = {(name, "s1", turn, "x"): b"x" for name in ("bill", "review", "amend") for turn in (first, third)}
    follows = {(name, "s1", first): b"x" for name in ("terms", "prompt", "known")}
    await shelf.journal.kv.commit(Batch({**beside, **follows}))
    for timeline in (Timeline("gone", second, third), Timeline("kept", root, branch)):
        await shelf.journal.change_timelines("s1", [timeline])
    assert await lose(shelf, keys.turn("s1", second)) == Remains(1, (), 2)
    tree = await shelf.tree("s1")
    assert set(tree.nodes) == {root, first, branch}
    left = await rows(shelf)
    assert not any({second, third} & set(key) for key in left)
    assert await shelf.journal.replies("", identity_key(EN[1])) == []
    assert await shelf.journal.replies("", identity_key(MORE)) == [("s1", branch)]
    assert follows.keys().isdisjoint(left), "what follows from the tree is made anew"
    assert "gone" not in await shelf.journal.timelines("s1")
    assert (await shelf.journal.session("s1")).head == branch


async def test_a_head_that_is_gone_goes_to_a_turn_that_is_left() -> None:
    shelf = Shelf()
    _, first, second = await shelf.story("go", EN[0], "on", EN[1])
    assert await lose(shelf, keys.node("s1", second)) == Remains(1, (), 1)
    assert (await shelf.journal.session("s1")).head == first


async def test_a_session_without_its_record_or_opening_is_gone_as_a_whole() -> None:
    for lost in (keys.session("s1"), keys.turn("s1", "s1-root"), keys.node("s1", "s1-root")):
        shelf = Shelf()
        await shelf.story("go", EN[0])
        other = await shelf.story("가자", KO[0], session="s2")
        kept = {key: raw for key, raw in (await rows(shelf)).items() if "s1" not in key and b"s1" not in raw}
        assert await lose(shelf, lost) == Remains(1, ("s1",), 0)
        left = await rows(shelf)
        assert left.keys() == {key for key in kept if "s1-t001" not in key} and set(
            (await shelf.tree("s2")).nodes
        ) == set(other)


async def test_a_lost_world_is_put_back_where_it_is_at_hand_as_it_was() -> None:
    shelf = Shelf()
    world = World("ersia", "Ersia")
    await shelf.begin("s1", world="ersia")
    await shelf.begin("s2", world="vale")
    session = evolve(shelf.sessions["s1"], digest=world.digest)
    await shelf.journal.put_session(session)
    await shelf.journal.kv.commit(Batch(deletes=frozenset({keys.world("ersia"), keys.world("vale")})))
    assert await make_whole(shelf.journal.kv, [world]) == Remains(1, ("s2",), 0)
    assert await shelf.journal.world(world.digest) == world
    assert [each.id for each in await shelf.journal.sessions()] == ["s1"]
