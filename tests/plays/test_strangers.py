"""Stories of authors who had not read the code hold as much as they have held."""

from __future__ import annotations

import os
import sys
from collections import Counter

import pytest

from tests.ablate.corpus import STRANGERS, OfOthers, strangers

PLAYS = {play.name: play for play in strangers(STRANGERS)}
LEAST = {
    "p0_kirinoyu": 0.95,
    "p0_wire": 0.93,
    "p1_nobody": 0.92,
    "p2_lampion": 0.94,
    "p3_wyrmgeld": 0.95,
    "p4_ayakashi": 0.94,
    "p4_jangdok": 0.94,
    "p4_seokryu": 0.95,
    "p5_skerrow": 0.83,
    "p6_tingyuxuan": 0.93,
    "p7_fusang": 0.94,
    "p7_shumei": 0.95,
    "p9_lumina": 0.93,
}
"""What holds of those that hold least; of each of the others 96 % hold."""
SOON = ("p1_yamabuki", "p3_damo", "p3_hochkar")
"""A form in another language, titles that only the card explains, and a name that stands in the persona alone."""


def share(play: OfOthers) -> float:
    result = play.play()
    return result.held.total() / result.all.total()


@pytest.mark.parametrize("name", SOON)
def test_three_of_them(name: str) -> None:
    assert share(PLAYS[name]) >= LEAST.get(name, 0.96)


def test_what_is_imported_after_them_is_compiled_once() -> None:
    assert sys.dont_write_bytecode == bool(os.environ.get("PYTHONDONTWRITEBYTECODE"))


@pytest.mark.deep
def test_all_of_them() -> None:
    held, every = Counter[str](), Counter[str]()
    for name, play in PLAYS.items():
        result = play.play()
        assert result.held.total() >= LEAST.get(name, 0.96) * result.all.total(), name
        held.update(result.held)
        every.update(result.all)
    assert len(PLAYS) == 70
    assert held.total() >= 0.975 * every.total()
