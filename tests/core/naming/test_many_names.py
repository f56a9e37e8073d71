"""What a new name costs does not grow with the names that are known: a reply may bring hundreds."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from saga_core.model import Entity, Kind, Stack, WorldState
from saga_core.naming import names as module
from saga_core.naming.names import Names

WORDS = "amber brass copper dusk ember frost gale hollow iron jade kelp lark moss night oak pine quill rust".split()
COMPARED = ("same_name", "may_be_called")


def english(dice: random.Random) -> str:
    return " ".join(dice.choice(WORDS).capitalize() for _ in range(6))


def korean(dice: random.Random) -> str:
    return "".join(chr(0xAC00 + dice.randrange(11_172)) for _ in range(6))


def mixed(dice: random.Random) -> str:
    return f"{'민수 소룡 美咲'.split()[dice.randrange(3)]}-{dice.randrange(10**6)} von der Berg"


@pytest.mark.parametrize("make", [english, korean, mixed])
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


def wine(dice: random.Random, number: int) -> str:
    return f"{number} bottles of {english(dice).split()[0]}{number} wine"


def apples(dice: random.Random, number: int) -> str:
    return f"사과 세 개 {korean(dice)}"


@pytest.mark.parametrize("make", [wine, apples])
def test_few_of_the_things_that_somebody_has_are_compared_with_another(
    make: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    dice, asked = random.Random(5), list[tuple[str, ...]]()
    real = module.may_be
    monkeypatch.setattr(module, "may_be", lambda *given: (asked.append(given), real(*given))[1])
    known = {f"i{number}": Entity(f"i{number}", Kind.ITEM, make(dice, number)) for number in range(400)}
    state = WorldState(turn="t", player="p", entities=known, belongings={"p": {id_: Stack(1) for id_ in known}})
    names = Names(state)
    for number, each in enumerate(known.values()):
        short = each.name.split(" of ")[-1].removeprefix("사과 ")
        assert names.held_by("p", short) == f"i{number}"
        names.held_by("p", make(dice, 1_000 + number))
    assert len(asked) <= 2_000


ENDINGS = ("", "s", "er", "ers")


def test_the_things_found_are_those_that_one_by_one_may_be_it() -> None:
    dice = random.Random(6)

    def name() -> str:
        if dice.random() < 0.3:
            return " ".join("".join(dice.choice("사과검집열쇠") for _ in range(dice.randrange(1, 4))) for _ in "ab")
        return " ".join(dice.choice((*WORDS[:6], "1", "B")) + dice.choice(ENDINGS) for _ in range(dice.randrange(1, 4)))

    for _ in range(40):
        known = [(name(), f"i{number}") for number in range(40)]
        held = module.Things(known)
        for asked in (name() for _ in range(20)):
            assert held.like(asked) == {id_ for each, id_ in known if module.may_be(asked, each)}, asked
