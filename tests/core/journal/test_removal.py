"""Removal takes turns, or a session, out of the journal with all that stands beside them, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from saga_core import codec
from saga_core.errors import StoreUnavailable
from saga_core.journal import Removal, SharedTurn, keys, make_root
from saga_core.model import BLANK, Timeline, TurnKind, TurnNode
from saga_core.prompt.memory import StoredMemory
from saga_core.stores import Batch, Key
from saga_core.transcript import identity, identity_key, prefix_keys
from tests.core.transcript.known import EN, KO, Shelf

Rows = dict[Key, bytes]


async def rows(shelf: Shelf) -> Rows:
    return dict(await shelf.journal.kv.scan(()))


async def removal(shelf: Shelf, session: str = "s1") -> Removal:
    return Removal(shelf.journal.kv, shelf.sessions[session], await shelf.tree(session))


async def prune(shelf: Shelf, *doomed: str, **options: Any) -> None:
    known = {"timelines": (), "forgotten": (), "parts": ()}
    await (await removal(shelf)).prune(doomed, **{**known, **options})


def naming(found: Rows, turn: str) -> list[Key]:
    return [key for key, raw in found.items() if turn in key or turn.encode() in raw]


async def test_a_pruned_turn_goes_with_all_that_stands_beside_it() -> None:
    shelf = Shelf()
    root, kept = await shelf.story("가자", KO[0])
    before = await rows(shelf)
    gone = await shelf.tell(root, "멈추자", KO[1])
    of_turn, of_part = {"job", "state", "terms", "known"}, {"amend", "review", "bill", "prompt"}
    assert of_turn | of_part | {"shared"} == set(keys.BESIDE)
    of = {
        turn: [*((name, "s1", turn) for name in of_turn), *((name, "s1", turn, "1") for name in of_part)]
        for turn in (gone, kept)
    }
    beside, others = (dict.fromkeys(of[turn], b"x") for turn in (gone, kept))
    for number, (turn, found) in enumerate(((gone, beside), (kept, others)), 1):
        found[keys.shared("s1", turn)] = codec.encode(SharedTurn("w", (number,)))
        found[keys.publication("w", number)] = turn.encode()
    await shelf.journal.kv.commit(Batch({**beside, **others}))
    shelf.sessions["s1"] = evolve(shelf.sessions["s1"], head=kept)
    await shelf.journal.put_session(shelf.sessions["s1"])
    await prune(shelf, gone)
    assert naming(await rows(shelf), gone) == []
    assert await rows(shelf) == {**before, **others}


async def test_a_branch_goes_leaves_first_so_that_what_is_left_is_whole() -> None:
    shelf = Shelf()
    root, first, second, third = await shelf.story("a", EN[0], "b", EN[1], "c", "The end of that.")
    commits: list[Batch] = []
    commit = shelf.journal.kv.commit

    async def seen(batch: Batch, **options: Any) -> None:
        commits.append(batch)
        await commit(batch, **options)

    shelf.journal.kv.commit = seen  # type: ignore[method-assign]
    await prune(shelf, first, second, third)
    assert list((await shelf.tree("s1")).nodes) == [root]
    (batch,) = commits
    assert all(keys.turn("s1", turn) in batch.deletes for turn in (first, second, third))


async def test_an_interrupted_removal_leaves_a_tree_that_loads_and_is_finished_by_the_same_call() -> None:
    shelf = Shelf()
    root = await shelf.begin()
    ids = [root]
    for number in range(450):
        ids.append(await _quick(shelf, ids[-1], number))
    commit = shelf.journal.kv.commit
    allowed = 1

    async def breaks(batch: Batch, **options: Any) -> None:
        nonlocal allowed
        if allowed == 0:
            raise StoreUnavailable("the disk went away")
        allowed -= 1
        await commit(batch, **options)

    shelf.journal.kv.commit = breaks  # type: ignore[method-assign]
    with pytest.raises(StoreUnavailable):
        await prune(shelf, *ids[1:])
    left = await shelf.tree("s1")
    assert 1 < len(left) < 451 and set(left.nodes) == set(ids[: len(left)])
    shelf.journal.kv.commit = commit  # type: ignore[method-assign]
    await prune(shelf, *[turn for turn in left.nodes if turn != root])
    assert list((await shelf.tree("s1")).nodes) == [root]


async def _quick(shelf: Shelf, parent: str, number: int) -> str:
    """A turn of which only the slim form is there."""
    depth = number + 1
    node = TurnNode(f"s1-t{depth:03}", parent, depth, 0.0, TurnKind.NARRATION)
    await shelf.journal.kv.commit(Batch({keys.node("s1", node.id): codec.encode(node)}))
    return node.id


async def test_the_reply_of_a_pruned_turn_is_known_no_longer_and_the_same_one_elsewhere_is() -> None:
    shelf = Shelf()
    root, kept = await shelf.story("가자", KO[0])
    gone = await shelf.tell(root, "가자", KO[0])
    await prune(shelf, gone)
    journal = shelf.journal
    assert await journal.replies("", identity_key(KO[0])) == [("s1", kept)]
    for prefix in prefix_keys(identity(KO[0])):
        assert await journal.beginnings("", prefix) == [("s1", kept)]


async def test_beginnings_that_a_reply_had_before_a_name_was_forgotten_go_too() -> None:
    shelf = Shelf()
    root, kept = await shelf.story("go", EN[1])
    gone = await shelf.tell(root, "on", f"The wind and {BLANK} come in, and the lamp gutters again.")
    await shelf.journal.kv.commit(Batch({keys.beginning("", "12:before", turn): b'"s1"' for turn in (gone, kept)}))
    await prune(shelf, gone)
    assert await shelf.journal.beginnings("", "12:before") == [("s1", kept)]


async def test_timelines_parts_and_pages_change_before_the_turns_go() -> None:
    shelf = Shelf()
    root, kept = await shelf.story("a", EN[0])
    gone = await shelf.tell(root, "b", EN[1])
    journal = shelf.journal
    tower, river = Timeline("tower", root, gone), Timeline("river", gone, gone)
    await journal.change_timelines("s1", [tower, river])
    await journal.put_segment("s1", root, b"part")
    await journal.kv.commit(Batch({keys.pinned_page("s1", turn, "ko"): b"page" for turn in (gone, kept)}))
    await prune(shelf, gone, timelines=[evolve(tower, head=root)], forgotten=["river"], parts=[root])
    assert await journal.timelines("s1") == {"tower": evolve(tower, head=root)}
    assert await journal.segments("s1") == []
    assert [key for key in await rows(shelf) if key[0] == "prompt"] == [keys.pinned_page("s1", kept, "ko")]


async def test_what_is_remembered_of_prompts_loses_the_turns_and_goes_where_it_is_damaged() -> None:
    shelf = Shelf()
    root, kept = await shelf.story("a", EN[0])
    memory = keys.prompt("s1", "memory")
    gone = await shelf.tell(root, "b", EN[1])
    known = StoredMemory(pages=((gone, "ko"), (kept, "ko")), talked=7)
    await shelf.journal.kv.commit(Batch({memory: codec.encode(known)}))
    await prune(shelf, gone)
    assert codec.decode((await rows(shelf))[memory], StoredMemory) == evolve(known, pages=((kept, "ko"),))
    gone = await shelf.tell(root, "b", EN[1])
    await shelf.journal.kv.commit(Batch({memory: b"{"}))
    await prune(shelf, gone)
    assert memory not in await rows(shelf)


async def test_first_words_go_to_another_answer_and_are_forgotten_without_one() -> None:
    shelf = Shelf()
    _, first = await shelf.story("가자", KO[0])
    await shelf.tell("s1-root", "멈추자", KO[1])
    again = await shelf.tell("s1-root", "가자", KO[1])
    ((opening, raw),) = await shelf.journal.kv.scan(("open",))
    assert raw == codec.dumps(first)
    await prune(shelf, first)
    assert await shelf.journal.kv.scan(("open",)) == [(opening, codec.dumps(again))]
    await prune(shelf, again)
    assert await shelf.journal.kv.scan(("open",)) == []


async def test_first_words_stay_where_a_later_turn_goes() -> None:
    shelf = Shelf()
    _, first, second = await shelf.story("가자", KO[0], "더", KO[1])
    await prune(shelf, second)
    assert await shelf.journal.kv.scan(("open",)) != [] and first in (await shelf.tree("s1"))


async def test_deleting_leaves_the_world_and_other_sessions_alone() -> None:
    shelf = Shelf()
    await shelf.story("가자", KO[0], session="s2", world="other")
    others = await rows(shelf)
    await shelf.story("가자", KO[0], "더", KO[1], session="s1")
    named = evolve(shelf.sessions["s1"], label="모험")
    shelf.sessions["s1"] = named
    puts = {keys.session("s1"): codec.encode(named), keys.label("", "모험"): b'"s1"', keys.prompt("s1", "x"): b"x"}
    puts[keys.opening("", "of a turn that is gone", "s1")] = b'"t9"'
    await shelf.journal.kv.commit(Batch(puts))
    await shelf.journal.change_timelines("s1", [Timeline("탑", "s1-root", "s1-root")])
    await (await removal(shelf)).delete()
    left = await rows(shelf)
    assert left.pop(keys.world("ersia"))
    assert left == others


async def test_beginning_anew_leaves_the_session_with_a_new_root_and_its_name() -> None:
    shelf = Shelf()
    await shelf.story("go", EN[0], "on", EN[1])
    await shelf.journal.change_timelines("s1", [Timeline("tower", "s1-root", "s1-root")])
    root = make_root("s1", "s1-root2", 9.0, "Welcome back.")
    session = await (await removal(shelf)).begin_anew(root)
    assert (session.root, session.head, session.world) == (root.id, root.id, "ersia")
    assert await shelf.journal.session("s1") == session
    tree = await shelf.tree("s1")
    assert list(tree.nodes) == [root.id] == [tree.root]
    assert await shelf.journal.timelines("s1") == {} and await shelf.journal.jobs() == []
    assert {key[0] for key in await rows(shelf)} == {"session", "turn", "node", "world"}
