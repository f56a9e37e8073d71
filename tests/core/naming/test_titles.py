"""Names in Latin script with titles: whom they may mean, and whom not."""

from __future__ import annotations

from typing import Any

import pytest

from saga_core.model.entities import Entity, Kind
from saga_core.model.world_state import WorldState
from saga_core.naming import Evidence, Names, doubts


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
        ("Maestro Anselmi", "Maestro Bruno Anselmi"),
        ("Maestro Bruno Anselmi", "Maestro Anselmi"),
        ("the Maestro", "Maestro Bruno Anselmi"),
    ],
)
def test_they_are_one(name: str, known: str) -> None:
    assert found(name, known)


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("Constable Hicks", "Mrs Hicks"),
        ("Young Sal", "Old Sal"),
        ("Konrad Taschler", "Konrad Plattner"),
        ("Maestro Carlo Anselmi", "Maestro Bruno Anselmi"),
        ("Old Man", "Old Blind Man"),
        ("the man in the gloves", "the man in the yellow gloves"),
    ],
)
def test_they_are_two(name: str, known: str) -> None:
    assert not found(name, known)


def test_a_name_between_is_told_apart_from_the_given_name_of_who_has_the_rest() -> None:
    sister = {"a": Entity("a", Kind.CHARACTER, "Theodora", ("Miss Winslow",))}
    names = Names(WorldState(turn="t", player="p", entities=sister))
    assert names.find(Kind.CHARACTER, "Miss Cecily Winslow") is None
    captain = {"a": Entity("a", Kind.CHARACTER, "Captain Voss")}
    assert Names(WorldState(turn="t", player="p", entities=captain)).find(Kind.CHARACTER, "Captain Emil Voss") == "a"


@pytest.mark.parametrize("name", ["Maestro Anselmi", "the Maestro", "Maestro Carlo Anselmi"])
def test_what_fits_two_or_is_told_apart_from_one_is_neither(name: str) -> None:
    brothers = {
        "a": Entity("a", Kind.CHARACTER, "Maestro Bruno Anselmi"),
        "b": Entity("b", Kind.CHARACTER, "Maestro Ugo Anselmi"),
    }
    assert Names(WorldState(turn="t", player="p", entities=brothers)).find(Kind.CHARACTER, name) is None
    one = {"a": Entity("a", Kind.CHARACTER, "Maestro Bruno Anselmi", ("Maestro Anselmi",))}
    names = Names(WorldState(turn="t", player="p", entities=one))
    assert names.find(Kind.CHARACTER, name) == (None if "Carlo" in name else "a")


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


def people_of(*known: str, here: tuple[str, ...] = (), player: str = "p", **attributes: str) -> WorldState:
    people = {each: Entity(each, Kind.CHARACTER, each, (), attributes) for each in known}
    return WorldState(turn="t", player=player, entities=people, present=here)


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("Sergeant", "Sergeant Kubas"),
        ("the Sergeant", "Sgt. Kubas"),
        ("Captain", "Captain Lucan Vey"),
        ("the doctor", "Dr. Weiss"),
        ("Dr.", "Doctor Weiss"),
        ("the priest", "Father Anton"),
    ],
)
def test_a_title_alone_is_the_only_one_here_who_has_it(name: str, known: str) -> None:
    def find(*people: str, told: str = "", lists: tuple[tuple[str, ...], ...] = (), **given: Any) -> str | None:
        return Names(people_of(*people, **given), None, Evidence(told), lists=lists).find(Kind.CHARACTER, name)

    other = f"{known.split()[0]} Brandt"
    assert find(known, "Mara", here=(known, "Mara")) == known
    assert find(known, told=f"{known} nods.") == known
    assert find(known) is None, "elsewhere there may be another"
    assert find(known, other, here=(known, other)) is None
    assert find(known, here=(known,), status="dead") is None
    assert find(known, here=(known,), player=known) is None
    assert find(known, here=(known,), lists=((known, name),)) is None
    names = Names(people_of(known, here=(known,)))
    names.ensure(Kind.CHARACTER, name)
    assert not names.introduced, "it is no name of hers: a second one may come"


@pytest.mark.parametrize("name", ["guard", "a doctor", "Mother"])
def test_a_title_that_several_have_is_nobodys(name: str) -> None:
    known = ("Guard Tom", "Doctor Weiss", "Mother Ines")
    assert Names(people_of(*known, here=known)).find(Kind.CHARACTER, name) is None


def test_whether_the_sergeant_was_the_one_who_is_elsewhere_is_asked() -> None:
    assert [(each.late, each.early) for each in doubts(people_of("Sergeant Kubas", "the sergeant"))] == [
        ("the sergeant", "Sergeant Kubas")
    ]
    assert not list(doubts(people_of("Sergeant Kubas", "the guard")))
