"""The names by which fields and the keys of records are known."""

from __future__ import annotations

import pytest
from attrs import fields as attributes

from saga_core.language import squash
from saga_core.state_block import BlockFields, parse_block
from saga_core.state_block.fields import FIELDS, LIST_KINDS, Field, Kind, field_of, record_key
from saga_core.trackers import RESERVED

ALIASES = [
    (alias, field)
    for field in FIELDS
    for alias in (field.name, *field.aliases.split())
    if (alias, field.name) != ("hp", "hp")  # a change by its name, unless its value says how many are left
]


def test_every_attribute_is_a_field_except_for_what_the_story_declares() -> None:
    assert {field.name for field in FIELDS} == {attribute.name for attribute in attributes(BlockFields)} - {"counts"}


def test_a_tracker_cannot_have_the_name_of_a_field() -> None:
    assert {field.name for field in FIELDS} - RESERVED == {"hp", "mood"}


def test_an_alias_names_one_field_however_it_is_spelled() -> None:
    for alias, field in ALIASES:
        for spelled in (alias, f" **{alias.upper()}** ", "-".join(alias)):
            assert field_of(spelled) is field, spelled
        assert alias == field.name or squash(alias) == alias


def test_an_alias_stands_once() -> None:
    names = [squash(alias) for alias, _ in ALIASES]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("field", FIELDS, ids=lambda field: field.name)
def test_a_template_word_states_nothing(field: Field) -> None:
    for word in sorted(field.templates.words):
        for body in (f"{field.name}: {word}", f"{field.name}: [{word}]", f"{field.name}: <{word}>"):
            parsed = parse_block(body)
            assert (parsed.fields, parsed.invalid) == (BlockFields(), ())


@pytest.mark.parametrize("key", ["weather", "", "items", "상태", "hp max", "x" * 61])
def test_what_names_no_field(key: str) -> None:
    assert field_of(key) is None


def test_keys_of_records_belong_to_their_kind() -> None:
    assert record_key(Kind.RELATIONS, "관계 유형") == "type"
    assert record_key(Kind.TRANSFERS, "주는 사람") == "from"
    assert record_key(Kind.ITEMS, "Qty") == "quantity"
    assert record_key(Kind.NAMES, "from") is None
    assert record_key(Kind.TEXT, "name") is None
    assert all(record_key(kind, "name") == "name" for kind in LIST_KINDS - {Kind.RELATIONS})
