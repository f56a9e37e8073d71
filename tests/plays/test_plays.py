"""The plays of the library hold.

Their authors had not read the code. Those in ``last`` were first played when the code was done. Four held 98.9 % of
4,642 checks. Two that came later, ``en_heist`` and ``ko_ghost``, held 94.7 % of 3,111, before two faults that they
showed were mended: a persona that only a heading of the card names, and notes that say who is the same person.

Those in ``fresh`` came last. As two authors wrote the first five, they held 92.0 % of 7,368 checks. 1.9 % were slips of
the authors, and the rest came down to some twenty faults. Worst were a heading of four people taken for one, an unknown
hand taken for the player's, names that only a note joins, and counts in Chinese words.

Then came ``en_post_office``, ``ko_island_clinic``, ``ja_theatre`` and ``zh_steppe``. As they were written they held
95.1 % of 7,710 checks. The worst faults were titles with a full stop, a family name and a title for a full name, and a
transfer that the next block repeats as a gain.

``en_outbreak``, ``ko_uinyeo``, ``ja_guild`` and ``zh_spy`` are chats in which the frontend sends no name, and the
player is named within the story. As they were written they held 82.2 % of 5,979 checks. Half of the rest was one fault:
the player became a second person. Others were a wrong member of a family, floors that differ in a Han number only, and
a heading of the card taken for a name. The last four, ``en_riverboat``, ``ko_mountain_rescue``, ``ja_mansion_maid`` and
``zh_cave_dig``, were written meanwhile. They held 91.7 % of 5,430 checks before that work, 92.6 % at first sight after
it, and 97.9 % once their own faults were mended.

``en_circus``, ``ko_hunter_gate``, ``ja_night_train`` and ``zh_palace`` were written while the core was being made
smaller, and held 85.3 % of 6,030 checks at first sight. Worst were models that repeat the whole inventory as gains, and
a persona whose nicknames only the card explains; both are understood now.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.plays.play import LIBRARY, load
from tests.plays.run import played

PLAYS = sorted(path for folder in ("library", "last", "fresh") for path in LIBRARY.with_name(folder).glob("*.yaml"))
LEAST = {
    "ko_romance": 0.96,
    "ja_ninja": 0.975,
    "ja_inn": 0.98,
    "en_group_house": 0.975,
    "ko_uinyeo": 0.89,  # half of its model's blocks translate names: Queen Yun
    "ja_guild": 0.975,
    "zh_spy": 0.975,
    "en_riverboat": 0.97,
    "ja_mansion_maid": 0.98,
    "zh_cave_dig": 0.965,
    "en_circus": 0.96,
    "ko_hunter_gate": 0.94,
    "ja_night_train": 0.92,
    "zh_palace": 0.915,
}
"""The share of checks that hold, where it is below 98.5 %. ``python -m tests.plays.run FILE`` tells what does not."""

LAWS = (
    "nobody is dead and present",
    "nobody is two",
    "nobody is at two places",
    "no fact is told twice",
    "nothing told contradicts what is true now",
)


def test_the_library_is_large_enough_to_say_something() -> None:
    assert len(PLAYS) >= 33
    assert {load(path).language[:2] for path in PLAYS} == {"en", "ja", "ko", "zh"}


@pytest.mark.parametrize("path", PLAYS, ids=lambda path: path.stem)
def test_a_play_holds(path: Path) -> None:
    tally = asyncio.run(played(load(path)))
    assert tally.all.total() > 900
    assert tally.share >= LEAST.get(path.stem, 0.985), tally.failed[:20]
    for law in LAWS:
        assert tally.held[f"law: {law}"] == tally.all[f"law: {law}"], tally.failed
    assert tally.held["kind of request"] == tally.all["kind of request"], tally.failed
