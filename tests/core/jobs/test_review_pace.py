"""A path is reviewed every so many turns, or sooner where its turns are long."""

from __future__ import annotations

import pytest

from saga_core import Saga
from saga_core.jobs.reviews import LONGEST, Pace, long_enough
from tests.core.sessions.stage import Stage, tell
from tests.core.strategies.stage import config, model


@pytest.mark.parametrize(
    ("turn", "since", "tokens", "enough"),
    [
        ("t3", 0, 39, True),
        ("t3", 0, 40, False),
        ("t3", 1, 26, True),
        ("t3", 1, 27, False),
        ("t2", 0, 27, False),
        ("t3", 3, 1, False),
    ],
)
async def test_the_turns_below_the_last_review_count_with_words_and_reply(
    turn: str, since: int, tokens: int, enough: bool
) -> None:
    live = await Stage().begin()
    for name in ("t1", "t2", "t3"):
        await tell(live, name, reply="열 글자가 되는 말.")
    assert await long_enough(live, turn, since, tokens, len) is enough


def test_without_more_words_long_turns_do_not_hurry_it_and_gaps_are_allowed() -> None:
    assert Pace(8) == Pace(8, 0, False)


@pytest.mark.parametrize(("every", "turns", "runs"), [(1, 12, 3), (3, 40, 3)])
async def test_a_strategy_reads_a_long_path_from_its_beginning_in_several_runs(
    every: int, turns: int, runs: int
) -> None:
    small, history = model(), [{"role": "user", "content": "I set out."}]
    for number in range(1, turns + 1):
        history += [{"role": "assistant", "content": f"Milestone {number} stands in the grass."}]
        history += [{"role": "user", "content": f"I pass {number}."}]
    async with Saga.open(config(every=every, facts=None), extractor=small) as saga:
        await saga.background.drain_views(5)
        turn = await saga.begin(history)
        turn.replies[0].feed("The road goes on.")
        await turn.commit()
        await saga.drain(10)
        reviews = await saga.memory.reviews(turn.session.id)
        learned = [(each["since"], each["turn"]) for each in reviews if each["curator"] == "memory.facts"]
        most = LONGEST * every
        assert [since for since, _ in learned] == [most * number for number in range(runs)]
        assert all(depth - since <= most for since, depth in learned) and learned[-1][1] >= turns
        asked = "\n".join(each.plan.text() for each in small.asked)
        assert all(f"[{number}]" in asked for number in range(1, turns + 1))
