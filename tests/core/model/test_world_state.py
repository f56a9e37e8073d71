"""A world's state answers who is where."""

from __future__ import annotations

from attrs import evolve

from saga_core.model import Entity, Kind, Placement, WorldState

STATE = WorldState(
    player="p",
    entities={
        "p": Entity("p", Kind.CHARACTER, "아리아"),
        "l": Entity("l", Kind.LOCATION, "숲"),
        "c": Entity("c", Kind.CHARACTER, "Ergen"),
    },
    whereabouts={"p": Placement("l"), "d": Placement("l"), "c": Placement("l"), "b": Placement("m")},
    present=("b", "d"),
)


def test_an_entity_is_named_and_an_unknown_one_by_its_id() -> None:
    assert (STATE.name("c"), STATE.name("x")) == ("Ergen", "x")


def test_the_players_place_is_the_location_and_there_may_be_none() -> None:
    assert STATE.location == "l"
    assert evolve(STATE, whereabouts={}).location is None


def test_those_of_a_kind_come_as_they_entered() -> None:
    assert [each.id for each in STATE.of_kind(Kind.CHARACTER)] == ["p", "c"]


def test_at_a_place_are_all_but_the_player_by_id() -> None:
    assert STATE.at("l") == ["c", "d"] and STATE.at("m") == ["b"] and STATE.at("nowhere") == []


def test_nearby_are_those_present_and_then_those_at_the_place_each_once() -> None:
    assert STATE.nearby() == ["b", "d", "c"]
    assert evolve(STATE, whereabouts={}).nearby() == ["b", "d"]
