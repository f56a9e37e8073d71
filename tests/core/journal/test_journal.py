"""The journal: what is written in one commit, and how it is found again."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from saga_backends.memory import MemoryState
from saga_core import codec
from saga_core.errors import Conflict, NewerSchema, NotFound, StoreCorrupt
from saga_core.journal import Journal, PendingWork, TurnEntry, delete_below, keys, make_root
from saga_core.model import Delta, Review, Session, Timeline, Turn, TurnKind, WorldState
from saga_core.model.deltas import HpChanged
from saga_core.stores import Batch
from saga_core.transcript import identity, identity_key, prefix_keys
from saga_core.world import World
from tests.core.transcript.known import EN, KO

ROOT = make_root("s1", "t0", 5.0, "어서 오세요.")
SESSION = Session("s1", "t0", "mina", "모험", "ersia", "d1", 5.0, "t0")
WORLD = World("ersia", "에르시아")
DELTA = Delta((HpChanged("p", -3),))


def turn(number: int, parent: str = "t0", reply: str = KO[0], **fields: Any) -> Turn:
    return Turn(f"t{number}", "s1", parent, fields.pop("depth", 1), 6.0, "가자", reply, **fields)


@pytest.fixture
async def journal() -> Journal:
    found = Journal(MemoryState())
    await found.open()
    await found.create_session(SESSION, ROOT, WORLD)
    return found


async def everything(journal: Journal) -> dict[tuple[str, ...], bytes]:
    return dict(await journal.kv.scan(()))


async def test_an_empty_store_gets_the_format_and_a_journal_keeps_it() -> None:
    journal = Journal(MemoryState())
    await journal.open()
    assert await everything(journal) == {("meta", "format"): b'{"format":1}'}
    await journal.open()


async def test_a_later_format_is_refused_and_nothing_is_changed() -> None:
    journal = Journal(MemoryState())
    await journal.kv.commit(Batch({keys.FORMAT_KEY: b'{"format":3}'}))
    with pytest.raises(NewerSchema, match=r"format 3, this SAGA knows up to 2: install a newer SAGA"):
        await journal.open()
    assert await everything(journal) == {("meta", "format"): b'{"format":3}'}


@pytest.mark.parametrize("raw", [b"[]", b'{"format":"1"}', b"{}"])
async def test_what_is_no_format_is_not_sagas(raw: bytes) -> None:
    journal = Journal(MemoryState())
    await journal.kv.commit(Batch({keys.FORMAT_KEY: raw}))
    with pytest.raises(StoreCorrupt, match="not SAGA's"):
        await journal.open()


async def test_a_session_is_there_with_its_root_its_world_and_its_name(journal: Journal) -> None:
    assert await journal.session("s1") == SESSION and await journal.sessions() == [SESSION]
    assert await journal.world("d1") == WORLD
    assert await journal.labelled("mina", "모험") == "s1"
    assert await journal.labelled("jun", "모험") is None
    node = await journal.node("s1", "t0")
    assert (node.kind, node.depth, node.reply_key) == (TurnKind.ROOT, 0, identity_key("어서 오세요."))
    assert await journal.turns("s1", ["t0"]) == [ROOT]


async def test_a_taken_name_is_told_and_nothing_of_the_second_session_is_kept(journal: Journal) -> None:
    before = await everything(journal)
    second = evolve(SESSION, id="s2", root="u0")
    with pytest.raises(Conflict, match=r"there is a session '모험' already; choose another label"):
        await journal.create_session(second, make_root("s2", "u0", 6.0, ""), WORLD)
    assert await everything(journal) == before
    with pytest.raises(Conflict, match="precondition"):
        await journal.create_session(evolve(SESSION, label=""), ROOT, WORLD)
    await journal.create_session(evolve(second, owner="jun"), make_root("s2", "u0", 6.0, ""), WORLD)
    assert [each.id for each in await journal.sessions()] == ["s1", "s2"]


async def test_a_session_without_a_greeting_has_a_root_that_nothing_equals(journal: Journal) -> None:
    await journal.create_session(Session("s2", "u0", digest="d1"), make_root("s2", "u0", 6.0, ""), WORLD)
    assert (await journal.node("s2", "u0")).reply_key == ""


@pytest.mark.parametrize("reply", [KO[0], EN[0]])
async def test_a_turn_is_found_by_its_reply_its_beginnings_and_its_words(journal: Journal, reply: str) -> None:
    await journal.append(SESSION, [TurnEntry(turn(1, reply=reply), "w1"), TurnEntry(turn(2, reply=reply), "w2")])
    both = [("s1", "t1"), ("s1", "t2")]
    assert await journal.replies("mina", identity_key(f"*{reply}*")) == both
    assert await journal.replies("mina", identity_key(reply), 1) == both[1:]
    assert await journal.replies("", identity_key(reply)) == []
    assert prefix_keys(identity(reply))
    for prefix in prefix_keys(identity(reply)):
        assert await journal.beginnings("mina", prefix) == both
    assert await journal.said("mina", "w2") == both[1:]


async def test_no_turn_is_found_by_what_it_has_not(journal: Journal) -> None:
    silent = evolve(turn(1, reply=""), user="")
    aside = turn(2, kind=TurnKind.SIDE)
    await journal.append(SESSION, [TurnEntry(silent, "w1"), TurnEntry(aside, "w2")])
    assert await journal.said("mina", "w1") == await journal.said("mina", "w2") == []
    assert await journal.replies("mina", identity_key("")) == []
    assert await journal.replies("mina", identity_key(KO[0])) == [("s1", "t2")]


async def test_the_head_moves_where_it_is_named_and_stays_otherwise(journal: Journal) -> None:
    moved = await journal.append(SESSION, [TurnEntry(turn(1), "w")], head="t1")
    assert moved.head == "t1" == (await journal.session("s1")).head
    assert (await journal.append(moved, [TurnEntry(turn(2, kind=TurnKind.SIDE), "w")])).head == "t1"


async def test_all_that_comes_with_a_turn_is_one_commit(journal: Journal) -> None:
    await journal.kv.commit(Batch({("prompt", "s1", "old"): b"x"}))
    commits: list[Batch] = []
    commit = journal.kv.commit

    async def counted(batch: Batch, **options: Any) -> None:
        commits.append(batch)
        await commit(batch, **options)

    journal.kv.commit = counted  # type: ignore[method-assign]
    tower = Timeline("탑", "t0", "t1")
    beside = Batch({("prompt", "s1", "memory"): b"{}"}, frozenset({("prompt", "s1", "old")}))
    await journal.append(SESSION, [TurnEntry(turn(1), "w")], head="t1", opening="k", timelines=[tower], beside=beside)
    assert len(commits) == 1
    assert await journal.openings("mina", "k") == ["s1"]
    assert await journal.timelines("s1") == {"탑": tower}
    assert [key for key in await everything(journal) if key[0] == "prompt"] == [("prompt", "s1", "memory")]


async def test_a_settled_turn_needs_no_work(journal: Journal) -> None:
    await journal.append(SESSION, [TurnEntry(turn(1), "w"), TurnEntry(turn(2), "w", settled=True)])
    assert await journal.jobs() == [("s1", "t1", None)]


async def test_a_tree_puts_parents_first_also_where_a_clock_was_set_back(journal: Journal) -> None:
    await journal.append(
        SESSION, [TurnEntry(turn(9), "w"), TurnEntry(turn(1, "t9", EN[0], depth=2), "w", "일이 있었다", ("c1",))]
    )
    tree = await journal.tree("s1")
    assert [node.id for node in tree.path("t1")] == ["t0", "t9", "t1"]
    assert (tree.get("t1").episode, tree.get("t1").present, tree.get("t9").user_key) == ("일이 있었다", ("c1",), "w")


async def test_what_is_not_there_is_told(journal: Journal) -> None:
    with pytest.raises(NotFound, match="no session 's7'"):
        await journal.session("s7")
    with pytest.raises(NotFound, match="no session 's7'"):
        await journal.tree("s7")
    with pytest.raises(NotFound, match="session s1 has no turn 't7'"):
        await journal.node("s1", "t7")
    with pytest.raises(StoreCorrupt, match="no world 'd7'"):
        await journal.world("d7")
    with pytest.raises(StoreCorrupt, match=r"lost the turns t7, t8, t9; restore a backup with "):
        await journal.turns("s1", ["t0", "t7", "t8", "t9", "t10"])


async def test_an_index_entry_that_cannot_be_read_is_told(journal: Journal) -> None:
    await journal.kv.commit(Batch({keys.reply("mina", "k", "t1"): b"[1]"}))
    with pytest.raises(StoreCorrupt, match="index entry"):
        await journal.replies("mina", "k")


async def test_turns_come_in_the_order_in_which_they_are_asked_for(journal: Journal) -> None:
    await journal.append(SESSION, [TurnEntry(turn(1), "w"), TurnEntry(turn(2), "w")])
    assert [each.id for each in await journal.turns("s1", ["t2", "t0", "t1", "t2"])] == ["t2", "t0", "t1", "t2"]


async def test_an_amendment_stands_behind_its_turn_and_takes_stale_states_with_it(journal: Journal) -> None:
    await journal.append(SESSION, [TurnEntry(turn(1), "w", settled=True)])
    for name in ("t0", "t1"):
        await journal.put_checkpoint("s1", WorldState(turn=name))
    node = evolve(await journal.node("s1", "t1"), episode="다르게 되었다")
    review = Review("rules", "t1", 7.0, 0, 1)
    second, third = Delta((HpChanged("p", 1),)), Delta((HpChanged("p", 2),))
    await journal.amend("s1", "2", second, node, ["t1"], more=[("3", third)], review=review)
    await journal.amend("s1", "1", DELTA, node)
    assert await journal.amendments("s1") == {"t1": (DELTA, second, third)}
    assert await journal.reviews("s1") == {"t1": (review,)}
    assert (await journal.node("s1", "t1")).episode == "다르게 되었다"
    assert await journal.jobs() == [("s1", "t1", None)]
    assert await journal.checkpoint("s1", ["t1"]) is None
    assert await journal.checkpoint("s1", ["t1", "t0"]) == WorldState(turn="t0")


async def test_a_review_that_changed_nothing_is_kept_in_its_order(journal: Journal) -> None:
    one, two = (Review("rules", "t0", at, 0, 1) for at in (7.0, 8.0))
    await journal.put_review("s1", "2", two)
    await journal.put_review("s1", "1", one)
    assert await journal.reviews("s1") == {"t0": (one, two)}
    assert await journal.amendments("s1") == {}


async def test_the_first_stored_state_of_those_asked_for_is_given(journal: Journal) -> None:
    for name in ("t1", "t2"):
        await journal.put_checkpoint("s1", WorldState(turn=name))
    found = await journal.checkpoint("s1", ["t3", "t2", "t1"])
    assert found is not None and found.turn == "t2"
    await delete_below(journal.kv, ("state", "s1"))
    assert await journal.checkpoint("s1", ["t2", "t1"]) is None


async def test_parts_of_an_index_come_oldest_first_and_a_new_one_replaces_stale_ones(journal: Journal) -> None:
    for number in range(40):
        await journal.put_segment("s1", f"t{number:02}", bytes([number]))
    assert [first for first, _ in await journal.segments("s1")] == [f"t{number:02}" for number in range(40)]
    await journal.put_segment("s1", "t00", b"all", [f"t{number:02}" for number in range(39)])
    assert await journal.segments("s1") == [("t00", b"all"), ("t39", bytes([39]))]


async def test_work_is_noted_changed_and_crossed_off(journal: Journal) -> None:
    await journal.add_jobs("s1", ["t1", "t2", "t3"])
    wanted = PendingWork(extract=True, tries=2, reason="timed out")
    await journal.change_jobs("s1", ["t1", "t2"], {"t2": wanted})
    assert await journal.jobs() == [("s1", "t2", wanted), ("s1", "t3", None)]
    await journal.finish_jobs("s1", ["t3"])
    assert await journal.jobs() == [("s1", "t2", wanted)]


async def test_a_long_list_of_work_is_read_to_the_end(journal: Journal) -> None:
    await journal.add_jobs("s1", [f"t{number:05}" for number in range(4_100)])
    jobs = await journal.jobs()
    assert len(jobs) == 4_100 and jobs == sorted(jobs)
    await journal.finish_jobs("s1", [each for _, each, _ in jobs])
    assert await journal.jobs() == []


async def test_named_timelines_are_written_and_forgotten_together(journal: Journal) -> None:
    tower, river = Timeline("탑", "t0", "t0"), Timeline("강", "t0", "t0")
    await journal.change_timelines("s1", [tower], fresh="탑")
    with pytest.raises(Conflict):
        await journal.change_timelines("s1", [evolve(tower, head="t9")], fresh="탑")
    assert await journal.timelines("s1") == {"탑": tower}
    await journal.change_timelines("s1", [river], gone=["탑"])
    assert await journal.timelines("s1") == {"강": river}


async def test_a_sessions_record_is_replaced(journal: Journal) -> None:
    await journal.put_session(evolve(SESSION, head="t5"))
    assert (await journal.session("s1")).head == "t5"
    raw = (await everything(journal))[keys.session("s1")]
    assert codec.decode(raw, Session).head == "t5"
