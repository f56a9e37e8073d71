"""A tree in runs: rows without a branch are one, swipes end none, and ten thousand turns are a few rows."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from saga_core.catalog.timelines import runs_of
from saga_core.model import Timeline, Tree, TurnKind, TurnNode

TURNS = 10_000


def grown(*, swiped_every: int, branched_every: int) -> tuple[Any, str]:
    """A long path with swipes and branches of two turns beside it; its head."""
    tree, last = Tree("s"), "t0"
    tree.add(TurnNode(last, None, 0, 0.0, TurnKind.ROOT))
    for at in range(1, TURNS):
        turn = f"t{at:06}"
        tree.add(TurnNode(turn, last, at, float(at), TurnKind.NARRATION))
        if at % swiped_every == 0:
            tree.add(TurnNode(f"s{at:06}", last, at, float(at), TurnKind.NARRATION))
        if at % branched_every == 0:
            tree.add(TurnNode(f"b{at:06}", last, at, float(at), TurnKind.NARRATION))
            tree.add(TurnNode(f"c{at:06}", f"b{at:06}", at + 1, float(at), TurnKind.NARRATION))
        last = turn

    async def turns(ids: list[str]) -> list[Any]:
        live.asked += len(ids)
        return [SimpleNamespace(id=turn, user="I go on.", reply="The tide turns.") for turn in ids]

    live = SimpleNamespace(tree=tree, timelines={}, head=last, session=SimpleNamespace(id="s"), asked=0, turns=turns)
    return live, last


async def test_a_long_story_is_a_few_runs_that_hold_every_turn() -> None:
    live, head = grown(swiped_every=7, branched_every=1_000)
    found = await runs_of(live)
    runs = found["runs"]
    assert len(runs) == 1 + 2 * 9 and live.asked <= 2 * len(runs)
    assert sum(run["turns"] + run["swipes"] for run in runs) == found["turns"] == len(live.tree)
    assert sum(sum(run["beside"].values()) for run in runs) >= sum(run["swipes"] for run in runs) > 0
    assert [run["id"] for run in runs if run["head"]] == [runs[[run["last_id"] for run in runs].index(head)]["id"]]
    known = {run["id"] for run in runs}
    assert all(run["parent"] in known for run in runs[1:]) and runs[0]["parent"] is None
    seen: set[str] = set()
    for run in runs:  # a parent before its children
        assert run["parent"] is None or run["parent"] in seen
        seen.add(run["id"])


async def test_a_swipe_that_has_a_name_or_is_the_head_is_a_run_of_its_own() -> None:
    live, _ = grown(swiped_every=5_000, branched_every=TURNS)
    assert len((await runs_of(live))["runs"]) == 1
    live.timelines = {"kept": Timeline("kept", "s005000", "s005000", 0.0)}
    runs = (await runs_of(live))["runs"]
    assert [(run["id"], run["names"]) for run in runs if run["names"]] == [("s005000", ["kept"])]
    assert len(runs) == 3
