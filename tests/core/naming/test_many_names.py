"""What a new name costs does not grow with the names that are known: a reply may bring hundreds."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from saga_core.model import Entity, Kind, WorldState
from saga_core.naming import names as module
from saga_core.naming.names import Names

WORDS = "amber brass copper dusk ember frost gale hollow iron jade kelp lark moss night oak pine quill rust".split()
COMPARED = ("same_name", "may_be_called")


def english(dice: random.Random) -> str:
    return " ".join(dice.choice(WORDS).capitalize() for _ in range(6))


def korean(dice: random.Random) -> str:
    return "".join(chr(0xAC00 + dice.randrange(11_172)) for _ in range(6))


@pytest.mark.parametrize("make", [english, korean])
def test_few_of_the_known_names_are_compared_with_a_new_one(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    dice, asked = random.Random(3), Counter[str]()
    for name in COMPARED:
        real = getattr(module, name)
        monkeypatch.setattr(
            module, name, lambda *given, _name=name, _real=real: (asked.update([_name]), _real(*given))[1]
        )
    known = {f"c{number}": Entity(f"c{number}", Kind.CHARACTER, make(dice)) for number in range(2_000)}
    names = Names(WorldState(turn="t", player="c0", entities=known))
    for _ in range(20):
        names.ensure(Kind.CHARACTER, make(dice))
    assert len(names.introduced) == 20
    assert asked.total() <= 20 * 400, asked


def test_a_title_still_finds_who_alone_shares_a_word_with_it() -> None:
    dice = random.Random(4)
    known = {f"c{number}": Entity(f"c{number}", Kind.CHARACTER, english(dice)) for number in range(500)}
    known["v"] = Entity("v", Kind.CHARACTER, "Lucan Vey")
    assert Names(WorldState(turn="t", player="c0", entities=known)).find(Kind.CHARACTER, "Captain Vey") == "v"


def test_no_known_thing_is_compared_with_one_that_shares_no_word(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Counter[str]()
    for name in ("told_apart", "words_of_thing"):
        real = getattr(module, name)
        monkeypatch.setattr(
            module, name, lambda *given, _name=name, _real=real: (asked.update([_name]), _real(*given))[1]
        )
    known = {f"i{number}": Entity(f"i{number}", Kind.ITEM, f"relic {number}") for number in range(2_000)}
    names = Names(WorldState(turn="t", player="p", entities=known))
    for number in range(100):
        assert names.ensure(Kind.ITEM, f"lamp {number}") == names.ensure(Kind.ITEM, f"the lamps {number}")
    assert names.find(Kind.ITEM, "the relics 7") == "i7"
    assert asked.total() <= 2_000 + 100 * 10, asked
