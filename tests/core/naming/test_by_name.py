"""The index of entities by name: the same for the same names, however it was come by, and nobody's addition is kept."""

from __future__ import annotations

from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from saga_core.model import Entity, Kind
from saga_core.naming import names as module
from saga_core.naming.names import ByName, by_name, note

_NAMES = st.sampled_from(["Mara", "the Crow", "Crow", "마라", "Captain Vey", "검은 숲", "A Mill", "Mill"])
_ENTITIES = st.lists(
    st.builds(
        lambda number, kind, name, aliases: Entity(f"{kind.value}:{number}", kind, name, aliases=aliases),
        st.integers(0, 5),
        st.sampled_from([Kind.CHARACTER, Kind.LOCATION]),
        _NAMES,
        st.lists(_NAMES, max_size=2).map(tuple),
    ),
    max_size=6,
    unique_by=lambda each: each.id,
)


def _anew(entities: list[Entity]) -> ByName:
    module._KEPT.clear()
    return by_name(entities)


@given(st.lists(_ENTITIES, max_size=12))
def test_it_is_as_if_made_anew(states: list[list[Entity]]) -> None:
    module._KEPT.clear()
    found = [by_name(each) for each in states]
    assert found == [_anew(each) for each in states]


def test_a_state_in_which_nobody_is_called_otherwise_is_not_indexed_again() -> None:
    mara = Entity("character:1", Kind.CHARACTER, "Mara")
    _anew([mara])
    (kept,) = module._KEPT
    assert by_name([evolve(mara, attributes={"mood": "angry"})]) == {Kind.CHARACTER: {"mara": ["character:1"]}}
    assert len(module._KEPT) == 1 and module._KEPT[0][1] is kept[1]
    assert by_name([evolve(mara, aliases=("Crow",))])[Kind.CHARACTER].keys() == {"mara", "crow"}
    assert by_name([]) == {} and by_name([mara]) == {Kind.CHARACTER: {"mara": ["character:1"]}}


def test_what_is_added_to_one_is_in_no_other() -> None:
    mara = Entity("character:1", Kind.CHARACTER, "Mara")
    one = _anew([mara])
    note(one, Kind.CHARACTER, ("mara", "crow"), "character:2")
    note(one, Kind.ITEM, ("bell",), "item:1")
    assert one[Kind.CHARACTER] == {"mara": ["character:1", "character:2"], "crow": ["character:2"]}
    assert by_name([mara]) == {Kind.CHARACTER: {"mara": ["character:1"]}}


def test_an_exact_name_comes_before_one_without_its_article() -> None:
    the, plain = Entity("character:1", Kind.CHARACTER, "the Crow"), Entity("character:2", Kind.CHARACTER, "Crow")
    assert _anew([the, plain])[Kind.CHARACTER]["crow"] == ["character:2", "character:1"]
