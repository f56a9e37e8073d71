"""A session in memory: states are folded once, from the nearest that is known, and anew below an amendment."""

from __future__ import annotations

import pytest
from attrs import evolve

from saga_core.errors import NotFound
from saga_core.model import Delta, Review, Source, WorldState, fold
from saga_core.model.deltas import HpChanged, Moved
from tests.core.sessions.stage import Stage, tell


def hp(state: WorldState) -> object:
    return state.entities[state.player].attributes["hp"]


async def test_states_are_the_same_at_hand_and_folded_from_the_journal() -> None:
    stage = Stage()
    live = await stage.begin()
    player = (await live.state(live.head)).player
    for number in range(10):
        await tell(live, f"t{number}", HpChanged(player, -number))
    at_hand = {turn: await live.state(turn) for turn in live.tree.nodes}
    stage.restart()
    again = await stage.live.get(live.session.id)
    assert {turn: await again.state(turn) for turn in live.tree.nodes} == at_hand
    assert hp(at_hand["t9"]) == 55 and at_hand["t9"].depth == 10


async def test_the_opening_is_the_worlds_at_the_root() -> None:
    live = await Stage().begin()
    state = await live.state(live.tree.root)
    assert (state.turn, state.depth, hp(state), state.world) == (live.tree.root, 0, 100, live.world.digest)
    with pytest.raises(NotFound):
        await live.state("t9")


async def test_a_checkpoint_is_where_folding_begins() -> None:
    stage = Stage()
    live = await stage.begin()
    player = (await live.state(live.head)).player
    for number in range(1, 7):
        await tell(live, f"t{number}", HpChanged(player, -1))
    stored = fold(await live.state("t4"), Delta((HpChanged(player, -50),)), turn="t4", depth=4)
    await stage.journal.put_checkpoint(live.session.id, stored)
    stage.restart()
    again = await stage.live.get(live.session.id)
    assert hp(await again.state("t6")) == 44, "from the stored state of the fourth turn on"
    assert hp(await again.state("t3")) == 97


async def test_an_amended_turn_changes_what_is_below_it_and_nothing_else() -> None:
    stage = Stage()
    live = await stage.begin()
    player = (await live.state(live.head)).player
    root = live.head
    await tell(live, "t1", HpChanged(player, -10), episode="다쳤다")
    await tell(live, "t2", HpChanged(player, -1))
    await tell(live, "u1", HpChanged(player, -3), parent=root)
    aside = await live.state("u1")
    images = [await live.image(turn) for turn in ("t2", "u1")]
    node, later = live.tree.get("t1"), (Delta((HpChanged(player, 5),), Source.EDIT),)
    revision = live.revision
    live.amend(node, later)
    assert live.revision == revision + 1 and live.amendments == {"t1": later}
    assert (hp(await live.state("t1")), hp(await live.state("t2"))) == (95, 94)
    assert await live.state("u1") is aside
    assert (await live.image("t2")) is not images[0] and (await live.image("u1")) is images[1]


async def test_an_amended_root_is_folded_too() -> None:
    live = await Stage().begin()
    root = live.tree.root
    player = (await live.state(root)).player
    live.amend(live.tree.get(root), (Delta((HpChanged(player, -7),), Source.EDIT),))
    assert hp(await live.state(root)) == 93


async def test_an_amended_episode_is_found_by_its_new_text_alone() -> None:
    live = await Stage().begin()
    await tell(live, "t1", episode="등대에 올랐다")
    live.amend(evolve(live.tree.get("t1"), episode="우물에 내려갔다"), ())
    assert [hit for hit, _ in live.episodes.search("우물", k=5)] == ["t1"]
    assert list(live.episodes.search("등대", k=5)) == []


async def test_a_turn_is_read_from_the_journal_once() -> None:
    stage = Stage()
    live = await stage.begin()
    await tell(live, "t1")
    stage.restart()
    again = await stage.live.get(live.session.id)
    turn = await again.turn("t1")
    assert turn.reply == "t1: 간다." and await again.turn("t1") is turn
    with pytest.raises(NotFound):
        await again.turn("t9")


async def test_many_episodes_that_wait_are_indexed_when_one_of_them_is_asked_for() -> None:
    live = await Stage().begin()
    await tell(live, "t1", episode="탑에 올랐다")
    assert "t1" in live.episodes, "a few that wait are indexed when the index is used"
    node, state = live.tree.get("t1"), await live.state("t1")
    for number in range(2, 42):
        turn = evolve(await live.turn("t1"), id=f"t{number}", parent="t1", depth=2)
        live.record(turn, evolve(node, id=f"t{number}", parent="t1", depth=2), state)
    assert "t1" in live.episodes and "t2" not in live.episodes, "a reader does not wait for many"
    await live.index(["t1"])
    assert "t2" not in live.episodes, "nobody asked for them"
    await live.index(["t3"])
    assert live.unsealed == [f"t{number}" for number in range(1, 42)], "in order"
    assert "t41" in live.episodes


async def test_what_a_turn_changed_is_its_delta_with_the_later_ones() -> None:
    live = await Stage().begin()
    player = (await live.state(live.head)).player
    await tell(live, "t1", HpChanged(player, -1))
    turn = await live.turn("t1")
    assert live.effective(turn) is turn.delta and not live.extracted("t1")
    live.amend(live.tree.get("t1"), (Delta((Moved(player, "p1"),), Source.EXTRACTION),))
    assert Moved(player, "p1") in live.effective(turn).events and live.extracted("t1")


async def test_reviews_stand_at_their_turn_in_order() -> None:
    live = await Stage().begin()
    one, two = (Review("rules", "t1", at, 0, 1) for at in (1.0, 2.0))
    live.reviewed(one)
    live.reviewed(two)
    assert live.reviews == {"t1": (one, two)}


async def test_at_rest_only_the_last_image_is_kept() -> None:
    live = await Stage().begin()
    root = live.head
    await tell(live, "t1")
    first, last = await live.image(root), await live.image("t1")
    live.rest()
    assert await live.image("t1") is last and await live.image(root) is not first
    fresh = await Stage().begin()
    fresh.rest()


async def test_the_head_is_the_turn_recorded_last() -> None:
    live = await Stage().begin()
    assert live.head == live.tree.root
    await tell(live, "t1")
    assert live.head == "t1"


async def test_the_texts_that_a_session_holds_are_bounded() -> None:
    live = await Stage().begin()
    for number in range(30):
        await tell(live, f"t{number}", reply="비" * (1_000_000 if number % 7 == 0 else 30_000))
        held = sum(len(turn.reply) for turn in live._turns.values())
        assert held <= 256_000 or len(live._turns) == 1
    assert len((await live.turn("t28")).reply) == 1_000_000, "it is read again"
    live.rest()
    assert not live._turns, "the text of a long turn is let go"
    await live.turn("t29")
    live.rest()
    assert [*live._turns] == ["t29"]
