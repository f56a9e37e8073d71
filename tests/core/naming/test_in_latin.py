"""Names in Hangul, kana and Han characters that a model spells in Latin letters."""

from __future__ import annotations

import pytest

from saga_core.model import Entity, Kind, WorldState
from saga_core.naming import Evidence, Names
from saga_core.naming.in_latin import is_spelled


@pytest.mark.parametrize(
    ("latin", "name"),
    [
        ("Mina", "미나"),
        ("Joon", "준"),
        ("Jun", "준"),
        ("Ji-young", "지영"),
        ("Park Seoyeon", "박서연"),
        ("Yuki", "ゆき"),
        ("Shinji", "シンジ"),
        ("Chika", "ちか"),
    ],
)
def test_the_usual_spellings_of_a_name_are_one(latin: str, name: str) -> None:
    assert is_spelled(latin, name)


@pytest.mark.parametrize(
    ("latin", "name"), [("Mona", "미나"), ("Minu", "미나"), ("Mina", "美奈"), ("Al", "알"), ("", "")]
)
def test_other_names_stay_others(latin: str, name: str) -> None:
    assert not is_spelled(latin, name)


def people(*names: str) -> WorldState:
    entities = {name: Entity(id=name, kind=Kind.CHARACTER, name=name) for name in names}
    return WorldState(entities=entities, present=names)


def test_a_spelled_name_is_the_known_person() -> None:
    assert Names(people("미나", "준")).find(Kind.CHARACTER, "Joon") == "준"
    assert Names(people("미나", "준"), evidence=Evidence("Joon kommt.")).find(Kind.CHARACTER, "Joon") is None
