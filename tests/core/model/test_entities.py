"""Entities, and what a state says of them."""

from __future__ import annotations

from saga_core.model import ALIVE, DEAD, Entity, Kind


def test_an_entity_has_its_name_first_among_its_names() -> None:
    entity = Entity("c1", Kind.CHARACTER, "에르겐", ("노인", "Ergen"), {"mood": "calm"})
    assert entity.names == ("에르겐", "노인", "Ergen")
    assert entity.get("mood") == "calm" and entity.get("hp") is None


def test_who_is_dead_is_told_by_the_status() -> None:
    assert Entity("c1", Kind.CHARACTER, "x", attributes={"status": DEAD}).dead
    assert not Entity("c1", Kind.CHARACTER, "x", attributes={"status": ALIVE}).dead
    assert not Entity("c1", Kind.CHARACTER, "x").dead


def test_kinds_are_stored_by_these_words() -> None:
    assert [kind.value for kind in Kind] == ["character", "location", "item", "event"]
    assert (ALIVE, DEAD) == ("alive", "dead")
