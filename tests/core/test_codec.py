"""Records to bytes and back: what is read equals what was written, and stored data keeps its bytes."""

from __future__ import annotations

import math
from typing import get_args

import pytest
from attrs import frozen

from saga_core import codec
from saga_core.errors import StoreCorrupt
from saga_core.model import Delta, Entity, Event, Kind, MemoryRecord, Relation, Source, Turn, WorldState, deltas
from saga_core.trackers import tracker_of


def made(kind: type) -> Event:
    """An event of a kind with something in each of its fields."""
    values = {"Kind": Kind.ITEM, "str": "숲", "int": 2, "Value": ("a", 1), "str | None": None, "int | None": 3}
    values |= {"tuple[str, ...] | None": ("a", "b")}
    values |= {"tuple[str, ...]": ("a", "b"), "Mapping[str, Value]": {"hp": 5, "tags": ("x", True, None)}}
    values |= {"bool": True, "tuple[Tracker, ...]": (tracker_of({"name": "gold", "range": "0..9"}),)}
    values |= {"MemoryRecord": MemoryRecord("m1", "s", "fact", "/facts", "비", {"k": "v"}, at=1.5)}
    values |= {"tuple[Introduced, ...]": (deltas.Introduced("i1", Kind.ITEM, "rope"),)}
    values |= {"tuple[Fact, ...]": (deltas.Fact("things", "held", "c1", "i1", 2), deltas.Fact("people", "place", "c1"))}
    found: Event = kind(**{name: values[annotation] for name, annotation in kind.__annotations__.items()})
    return found


@pytest.mark.parametrize("kind", get_args(Event), ids=lambda kind: kind.__name__)
def test_every_event_comes_back_as_it_was(kind: type) -> None:
    event = made(kind)
    delta = Delta((event, deltas.Noted("x")), Source.BLOCK)
    assert codec.decode(codec.encode(delta), Delta) == delta


def test_an_event_is_stored_under_its_name_in_small_letters() -> None:
    delta = Delta((deltas.HpChanged("p", -5), deltas.ItemTransferred("a", "b", "i")), Source.EDIT)
    assert codec.encode(delta) == (
        b'{"events":[{"who":"p","amount":-5,"t":"hp_changed"},'
        b'{"giver":"a","receiver":"b","item":"i","t":"item_transferred"}],"source":"edit"}'
    )


def test_a_state_comes_back_with_its_maps_in_their_order() -> None:
    state = WorldState(
        turn="t1",
        entities={
            "b": Entity("b", Kind.CHARACTER, "에르겐", attributes={"tags": ("x", "y"), "hp": 5}),
            "a": Entity("a", Kind.ITEM, "검"),
        },
        relations={("b", "a"): Relation("friend", 2, 3)},
        links=frozenset({("b", "CAUSED", "e"), ("a", "CAUSED", "e")}),
    )
    again = codec.decode(codec.encode(state), WorldState)
    assert again == state and list(again.entities) == ["b", "a"]
    assert codec.to_plain(state)["links"] == [["a", "CAUSED", "e"], ["b", "CAUSED", "e"]], "the same bytes each time"
    assert codec.to_plain(state)["relations"] == [["b", "a", {"type": "friend", "strength": 2, "since": 3}]]
    assert again.entities["b"].attributes["tags"] == ("x", "y")


def test_json_is_written_without_spaces_in_utf_8_and_in_order() -> None:
    assert codec.dumps({"b": "숲", "a": [1, None]}) == '{"b":"숲","a":[1,null]}'.encode()
    with pytest.raises(ValueError, match="JSON compliant"):
        codec.dumps(math.nan)


@pytest.mark.parametrize(
    "raw",
    [b"", b"{", b"[]", b"null", b'{"id":"t1"}', b'{"id":"t1","session":"s","parent":null,"depth":"x","at":1}', b"\xff"],
)
def test_anything_else_is_corrupt_and_names_the_record(raw: bytes) -> None:
    with pytest.raises(StoreCorrupt, match="a stored Turn cannot be read"):
        codec.decode(raw, Turn)


def test_a_damaged_relation_is_corrupt() -> None:
    for raw in (b'{"relations":[["a"]]}', b'{"relations":[5]}', b'{"entities":[1]}'):
        with pytest.raises(StoreCorrupt, match="a stored WorldState"):
            codec.decode(raw, WorldState)


def test_the_same_links_are_the_same_bytes_each_time() -> None:
    links = [(name, "CAUSED", "e") for name in "hgfedcba"]
    assert codec.to_plain(WorldState(links=frozenset(links)))["links"] == [list(link) for link in sorted(links)]


def test_an_unknown_event_is_corrupt() -> None:
    with pytest.raises(StoreCorrupt):
        codec.decode(b'{"events":[{"t":"danced"}]}', Delta)


def test_preparing_changes_nothing_that_is_read() -> None:
    @frozen
    class Small:
        name: str = ""

    codec.prepare(Small)
    assert codec.from_plain(codec.to_plain(Small("x")), Small) == Small("x")
