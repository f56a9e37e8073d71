"""A path is reviewed every so many turns, or sooner where its turns are long."""

from __future__ import annotations

import pytest

from saga_core.jobs.reviews import Pace, long_enough
from tests.core.sessions.stage import Stage, tell


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
