"""For every kind files that use every field, and made-up ones that use some: what becomes of each is told, and no more.

The tables are those of docs/import.md.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saga_core.imports import Reading, importers, read_file
from tests.core.imports.every_field import (
    ELSEWHERE,
    FIELDS,
    FILES,
    FIXED,
    NEEDED,
    Part,
    expected,
    of_tables,
    varied,
)
from tests.docs.fates import TABLES

CASES = pytest.mark.parametrize(
    ("kind", "tables", "build"), FILES, ids=[f"{number}-{kind}" for number, (kind, _, _) in enumerate(FILES)]
)


def test_every_field_of_every_table_is_used() -> None:
    assert FIELDS.keys() == TABLES.keys()
    for table, fields in FIELDS.items():
        assert set(fields) == TABLES[table].keys() - ELSEWHERE.get(table, set()), table


def test_every_kind_has_two_files() -> None:
    own = {"saga_session"}  # SAGA's own, of which tests/core/maintenance has files
    assert {kind for kind, _, _ in FILES} == importers().kinds.keys() - own


def told(reading: Reading) -> set[tuple[str, str, str]]:
    return {(loss.field, loss.verdict, loss.why) for found in reading.found for loss in found.losses}


def fares_as_the_tables_say(kind: str, tables: tuple[str, ...], build: Callable[[Part], bytes], part: Part) -> None:
    reading = read_file("x", build(part))
    assert not reading.refused, reading.refused
    assert kind in {found.kind for found in reading.found}
    losses = told(reading)
    assert not [each for each in losses if "does not know" in each[2]]
    assert of_tables(tables, losses) == expected(part, tables)


@CASES
@pytest.mark.parametrize("other", [False, True], ids=["one", "other"])
def test_a_file_with_every_field(
    kind: str, tables: tuple[str, ...], build: Callable[[Part], bytes], other: bool
) -> None:
    def part(table: str) -> dict[str, Any]:
        return varied(FIELDS[table]) if other else FIELDS[table]

    fares_as_the_tables_say(kind, tables, build, part)


TEXT = st.text("aZ é한字あ😀 0.,:;#-*_\"'\\\n\t", max_size=12).map(lambda text: f"{text}x")


@given(case=st.sampled_from(FILES), data=st.data())
def test_a_file_with_some_fields(
    case: tuple[str, tuple[str, ...], Callable[[Part], bytes]], data: st.DataObject
) -> None:
    kind, tables, build = case
    drawn: dict[str, dict[str, Any]] = {}
    for table in tables:
        fields = FIELDS[table]
        needed = NEEDED.get(table, set())
        chosen = data.draw(st.sets(st.sampled_from(sorted(fields)))) | needed
        drawn[table] = {
            name: data.draw(TEXT) if _is_free(table, name, value) else value
            for name, value in fields.items()
            if name in chosen
        }
    fares_as_the_tables_say(kind, tables, build, drawn.__getitem__)


def _is_free(table: str, name: str, value: Any) -> bool:
    return isinstance(value, str) and name not in FIXED and table not in ("decorators", "kobold_chat") and value != ""
