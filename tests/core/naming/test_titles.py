"""Names in Latin script with titles: whom they may mean, and whom not."""

from __future__ import annotations

import pytest

from saga_core.model.entities import Entity, Kind
from saga_core.model.world_state import WorldState
from saga_core.naming import Evidence, Names


def found(name: str, known: str, *, card: str = "", status: str = "", pairs: tuple[tuple[str, str], ...] = ()) -> bool:
    people = {"a": Entity("a", Kind.CHARACTER, known, (), {"status": status} if status else {})}
    names = Names(WorldState(turn="t", player="p", entities=people), None, Evidence("", card), pairs=pairs)
    return names.find(Kind.CHARACTER, name) == "a"


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("Professor Ilse Harrow", "Professor Ilse"),
        ("Taschler Konrad", "Konrad Taschler"),
        ("Friar Anselm", "Brother Anselm"),
        ("die Fanny", "Fanny"),
    ],
)
def test_they_are_one(name: str, known: str) -> None:
    assert found(name, known)


@pytest.mark.parametrize(
    ("name", "known"),
    [("Constable Hicks", "Mrs Hicks"), ("Young Sal", "Old Sal"), ("Konrad Taschler", "Konrad Plattner")],
)
def test_they_are_two(name: str, known: str) -> None:
    assert not found(name, known)


def test_who_deals_with_somebody_is_another() -> None:
    assert not found("Mrs. Rusk", "Josie Rusk", pairs=(("Mrs. Rusk", "Josie"),))


def test_a_name_that_the_card_gives_to_another_is_hers() -> None:
    card = "Tamsin Coe, 29, baker. Her uncle is Perran Coe, whom everyone calls Mr Coe."
    assert found("Mr Coe", "Tamsin Coe")
    assert not found("Mr Coe", "Tamsin Coe", card=card)


def test_another_names_of_one_family_letter_stay_hers() -> None:
    card = "奉行所の同心は片瀬の宗助親分、その手先が宗太（宗さん）。"
    assert found("宗助親分", "宗さん")
    assert not found("宗助親分", "宗さん", card=card)


def test_of_two_trades_are_two_people() -> None:
    assert not found("帳場の松さん", "料理場の松さん")
    assert found("松さん", "料理場の松さん")
