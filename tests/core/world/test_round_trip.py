"""parse(render(world)) == world, whatever the names and texts are made of."""

from __future__ import annotations

import unicodedata

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from saga_core.errors import BadInput
from saga_core.language import clean_name, fold_name
from saga_core.world import (
    LAYERS,
    LORE_TYPES,
    CharacterSheet,
    ItemStack,
    LoreEntry,
    SheetRelation,
    World,
    parse_world,
    render_world,
)
from saga_core.world.format import CHARACTER_FIELDS, LORE_FIELDS, by_key, fold_key, join_list, split_list
from saga_core.world.front_matter import read_front_matter, write_front_matter

# Letters of both languages and every sign that means something in the format.
_SIGNS = "가각힣숲의 검을abzX19 \\,:#-*+()[]{}\"'&!|>?%@`./_×~\u1112\u1161\u0301\uff1a\u3000"
_chars = st.sampled_from(_SIGNS) | st.characters(exclude_categories=["Cs"])
_names = st.text(_chars, min_size=1, max_size=12).map(clean_name).filter(bool)
_texts = st.lists(
    st.sampled_from(
        ["## 숲", "# x", "- 위치: 숲", "- a: b", "* c: d", "\\## x", "\\- 타입: item", "---", "", "  - x: y"]
    )
    | st.text(_chars | st.just("\n"), max_size=30),
    max_size=5,
).map("\n".join)
_flags = st.booleans()
_lists = st.lists(_names, max_size=3).map(tuple)
_word = st.text("가나숲abz ", min_size=1, max_size=8).map(clean_name).filter(bool)
_stacks = st.builds(ItemStack, name=_names, quantity=st.integers(1, 10**12 - 1), equipped=_flags)
_kinds = _names.map(lambda kind: kind.replace(":", "")).filter(
    lambda kind: bool(clean_name(kind)) and not clean_name(kind).lstrip("+-").isdecimal()
)
_relations = st.builds(SheetRelation, to=_names, type=_kinds, strength=st.integers(-99, 99))


def _extra(known: tuple[object, ...]) -> st.SearchStrategy[tuple[tuple[str, str], ...]]:
    keys = by_key(known)  # type: ignore[arg-type]
    free = _word.filter(lambda key: fold_key(key) not in keys)
    return st.lists(
        st.tuples(free, st.text(_chars, max_size=10)), max_size=2, unique_by=lambda pair: fold_key(pair[0])
    ).map(tuple)


_sheets = st.builds(
    CharacterSheet,
    name=_names,
    hp=st.none() | st.integers(0, 50),
    max_hp=st.none() | st.integers(50, 10**6),
    location=st.none() | _names,
    traits=_lists,
    mood=st.none() | _names,
    occupation=st.none() | _names,
    background=st.none() | _names,
    status=_names,
    items=st.lists(_stacks, max_size=3).map(tuple),
    relations=st.lists(_relations, max_size=3).map(tuple),
    extra=_extra(CHARACTER_FIELDS),
    body=_texts,
)
_entries = st.builds(
    LoreEntry,
    name=_names,
    type=st.sampled_from(LORE_TYPES),
    layer=st.sampled_from(LAYERS),
    tags=_lists,
    aliases=st.just(()),
    text=_texts,
    constant=_flags,
    neighbours=_lists,
    related=_lists,
    places=_lists,
    items=_lists,
    known_by=_lists,
    secret=_flags,
    extra=_extra(LORE_FIELDS),
)


_slow_machine = settings(deadline=None, max_examples=60)


@st.composite
def worlds(draw: st.DrawFn) -> World:
    sheets = draw(st.lists(_sheets, max_size=3, unique_by=lambda sheet: fold_name(sheet.name)))
    entries = draw(st.lists(_entries, max_size=3, unique_by=lambda entry: fold_name(entry.name)))
    if sheets:
        taken = {fold_name(sheet.name) for sheet in sheets}
        aliases = [alias for alias in draw(_lists) if fold_name(alias) not in taken]
        sheets[0] = attrs.evolve(sheets[0], aliases=tuple(aliases), player=draw(_flags))
    return World(
        name=draw(_names),
        title=draw(_names | st.just("")),
        language=draw(st.sampled_from(["ko", "en"])),
        description=draw(_texts),
        match=draw(_lists),
        aliases=draw(_lists),
        greeting=draw(_texts),
        start_events=draw(_lists),
        characters=tuple(sheets),
        lore=tuple(entries),
    )


@_slow_machine
@given(worlds())
def test_what_is_rendered_parses_to_the_same_world(world: World) -> None:
    files = render_world(world)
    assert parse_world(files, world.name)[0] == world


@_slow_machine
@given(worlds(), st.sampled_from(["\r\n", "\r"]), st.booleans(), st.booleans())
def test_line_ends_a_mark_and_decomposed_hangul_change_nothing(
    world: World, ending: str, mark: bool, decomposed: bool
) -> None:
    files = render_world(world)
    changed = {}
    for file, text in files.items():
        text = text.replace("\n", ending)
        if decomposed:
            text = unicodedata.normalize("NFD", text)
        changed[file] = "\ufeff" * mark + text
    assert parse_world(changed, world.name)[0] == parse_world(files, world.name)[0]


@_slow_machine
@given(worlds())
def test_the_digest_says_what_the_files_say_and_nothing_else(world: World) -> None:
    again, _ = parse_world(render_world(world), "elsewhere")
    assert again.digest == world.digest
    assert attrs.evolve(world, greeting=world.greeting + "!").digest != world.digest


def test_the_digest_is_the_same_in_every_process() -> None:
    world = World(name="ersia", title="에르시아", characters=(CharacterSheet(name="아리아", player=True, hp=85),))
    assert world.digest == "e2a2f2c82cf1b8c0db9d23faa0984970547ace21df6f4576e9fb2ded27bf1d65"


@_slow_machine
@given(st.lists(_names).map(tuple))
def test_lists_come_back(items: tuple[str, ...]) -> None:
    assert tuple(split_list(join_list(items))) == items


_values = st.text(_chars | st.sampled_from("\n\t"), max_size=20)


@_slow_machine
@given(st.dictionaries(_word, _values | st.lists(_values, max_size=3).map(tuple), max_size=4), _texts)
def test_front_matter_comes_back(fields: dict[str, str | tuple[str, ...]], body: str) -> None:
    matter = read_front_matter(write_front_matter(list(fields.items())) + "\n" + body)
    assert matter.faults == ()
    assert {field.key: field.value for field in matter.fields} == fields
    assert matter.body == body


_TWICE = CharacterSheet(name="a")


@pytest.mark.parametrize(
    "world",
    [
        World(name="w", title="t", characters=(_TWICE, _TWICE)),
        World(name="w", title="t", characters=(CharacterSheet(name="a", hp=-1),)),
        World(name="w", title="t", characters=(CharacterSheet(name="a", aliases=("",)),)),
        World(name="w", title="t", characters=(CharacterSheet(name="a", extra=(("b:c", "d"),)),)),
        World(name="w", title="t", characters=(CharacterSheet(name="a", extra=(("hp", "3"),)),)),
        World(
            name="w",
            title="t",
            characters=(CharacterSheet(name="a", relations=(SheetRelation("b", "c: d", 1),)),),
        ),
        World(name="w", title="t", lore=(LoreEntry(name="a", type="item", layer="A1", tags=("b", "")),)),
    ],
)
def test_a_world_that_the_format_cannot_hold_is_refused(world: World) -> None:
    with pytest.raises(BadInput):
        render_world(world)


def test_a_refusal_names_what_does_not_fit() -> None:
    sheet = CharacterSheet(name="크룩", aliases=("", "왕"))
    with pytest.raises(BadInput, match=r"cannot be written: CharacterSheet.*크룩"):
        render_world(World(name="w", title="t", characters=(sheet,)))
