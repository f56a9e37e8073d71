"""Group plays hold: no prompt tells a member what she does not know, and who knows is told."""

from __future__ import annotations

from pathlib import Path

import pytest
from attrs import evolve

from tests.plays.groups.play import PLAYS, load
from tests.plays.groups.stage import played

BEGINNING = 16
"""Turns of the first play that are played in each test run."""


@pytest.mark.deep
@pytest.mark.parametrize("path", PLAYS, ids=lambda path: path.stem)
async def test_nothing_leaks_and_who_knows_is_told(path: Path) -> None:
    found = await played(load(path))
    assert found.turns >= 60
    assert found.leaks == 0, found.wrong
    assert found.asked >= 100
    assert found.told >= 0.97 * found.asked, found.wrong


async def test_the_beginning_of_one_and_without_group_knowledge_it_leaks() -> None:
    play = load(PLAYS[0])
    play = evolve(play, turns=play.turns[:BEGINNING])
    found = await played(play)
    assert (found.leaks, found.told) == (0, found.asked), found.wrong
    assert found.kept > 100
    leaky = await played(play, group_knowledge=False)
    assert leaky.leaks > 10
    assert any("Mina is told of forged" in each for each in leaky.wrong)


def test_an_author_is_told_what_contradicts_the_form() -> None:
    play = load(PLAYS[0])
    wrong = evolve(play, turns=(evolve(play.turns[0], learn={"nothing": ("Nobody",)}, number=2),))
    assert list(wrong.mistakes()) == [
        "entry 1: its number is 1, not 2",
        "entry 1: Nobody is no member",
        "entry 1: nothing is no fact",
    ]
