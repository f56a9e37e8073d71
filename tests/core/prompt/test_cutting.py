from __future__ import annotations

from itertools import pairwise

from saga_core.messages import Block
from saga_core.model.tree import Tree, TurnKind, TurnNode
from saga_core.prompt.plan import client_blocks
from saga_core.prompt.prefix import Cuts


def tree(depth: int) -> Tree:
    found = Tree("s", "t0")
    for at in range(depth + 1):
        found.add(TurnNode(f"t{at}", f"t{at - 1}" if at else None, at, float(at), TurnKind.NARRATION, jump="t0"))
    return found


def request(turns: int, first: int = 0) -> tuple[Block, ...]:
    dialogue = [
        {"role": role, "content": f"{role} {turn} " + "x" * 84}
        for turn in range(first, turns)
        for role in ("user", "assistant")
    ]
    messages = [{"role": "system", "content": "rules"}, *dialogue, {"role": "user", "content": "and now?"}]
    return client_blocks(messages)


def play(lengths: range, *, room: int, told: int = 0, window: int = 0, sliding: bool = True) -> list[tuple[int, bool]]:
    """For each turn the words with which the history begins, and whether that was decided anew."""
    cuts, nodes = Cuts(), tree(lengths[-1])
    found = []
    for turns in lengths:
        blocks = request(turns, max(0, turns - window) if window else 0)
        cut = cuts.place(blocks, nodes, f"t{turns}", room=room, told=told, count=len, sliding=sliding)
        assert blocks[cut.start].role == "user"
        found.append((int(blocks[cut.start].text.split()[1]), cut.fresh))
    return found


def test_a_history_that_fits_is_whole() -> None:
    assert play(range(1, 20), room=100_000) == [(0, False)] * 19


def test_it_is_cut_seldom_and_by_much() -> None:
    found = play(range(1, 60), room=4_000)  # 20 turns
    cuts = [start for start, fresh in found if fresh]
    assert 3 <= len(cuts) <= 6
    assert all(later - earlier >= 6 for earlier, later in pairwise(cuts))
    assert all(turns - start <= 21 for turns, (start, _) in zip(range(1, 60), found, strict=True))
    assert [start for start, _ in found] == sorted(start for start, _ in found)


def test_it_is_cut_where_the_told_story_ends() -> None:
    (start,) = [start for start, fresh in play(range(1, 22), room=4_000, told=5) if fresh]
    (later,) = [start for start, fresh in play(range(1, 22), room=4_000) if fresh]
    assert start == 5 < later


def test_a_client_that_trims_gets_a_beginning_that_stands_still() -> None:
    found = play(range(1, 80), room=100_000, window=20)
    fresh = sum(fresh for _, fresh in found)
    assert 5 <= fresh <= 12
    starts = [start for start, _ in found[21:]]
    assert len(set(starts)) <= fresh


def test_a_swipe_keeps_the_cut() -> None:
    cuts, nodes = Cuts(), tree(30)
    one = cuts.place(request(30), nodes, "t30", room=4_000, told=0, count=len)
    two = cuts.place(request(30), nodes, "t30", room=4_000, told=0, count=len)
    assert one.fresh and not two.fresh and one.start == two.start


def test_a_history_that_fits_is_whole_though_the_client_trims_it() -> None:
    found = play(range(1, 80), room=100_000, window=20, sliding=False)
    assert found == [(max(0, turns - 20), False) for turns in range(1, 80)]


def test_another_first_message_cuts_nothing() -> None:
    for sliding in (False, True):
        cuts, nodes = Cuts(), tree(30)
        cuts.place(request(25), nodes, "t25", room=100_000, told=0, count=len, sliding=sliding)
        edited = client_blocks([{"role": "assistant", "content": "An edited greeting."}, *plain(request(26))])
        cut = cuts.place(edited, nodes, "t26", room=100_000, told=0, count=len, sliding=sliding)
        assert (cut.start, cut.fresh) == (0, False)


def plain(blocks: tuple[Block, ...]) -> list[dict[str, str]]:
    return [{"role": block.role, "content": block.text} for block in blocks if not block.is_system]


def test_a_history_that_fits_again_is_whole_again() -> None:
    cuts, nodes = Cuts(), tree(31)
    cut = cuts.place(request(30), nodes, "t30", room=4_000, told=0, count=len)
    assert cut.start > 1
    again = cuts.place(request(31), nodes, "t31", room=100_000, told=0, count=len)
    assert (again.start, again.fresh) == (1, False)
