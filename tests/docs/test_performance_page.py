"""docs/performance.md has the tables of the benchmark ``stores``, of every engine; docs/backends.md quotes it."""

from __future__ import annotations

from saga_core import registry
from tests.bench.stores.measure import TOGETHER
from tests.bench.stores.report import _graphs, _turns, _vectors
from tests.docs.pages import page

PAGE = page("docs/performance.md")
NOTHING = {"stores": [], "turns": [], "options": {"dimension": 256, "play": 100}}


def rows(title: str, text: str) -> list[list[str]]:
    """The cells of the table below a heading."""
    part = text.partition(f"\n### {title}\n")[2].partition("\n#")[0]
    lines = [line for line in part.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_the_tables_of_stores_are_those_of_the_command() -> None:
    for made in (_graphs, _vectors, _turns):
        table = made(NOTHING)
        found = rows(table.title, PAGE.text)
        assert found, f"no table {table.title!r}"
        assert tuple(found[0]) == table.columns, table.title
        assert all(len(row) == len(table.columns) for row in found)
        assert table.about in " ".join(PAGE.prose.split()), table.title


def test_every_engine_is_measured_bare_and_under_the_layer() -> None:
    for kind, title in (("graph", "Graph engines"), ("vector", "Vector engines")):
        found = rows(title, PAGE.text)
        for name in registry.names(kind):
            if name in ("memory", "postgres", "pgvector"):  # those with a server: docs/scale.md
                continue
            assert [row[1] for row in found if row[0] == name] == ["5,000"], name
            if name != "networkx":
                assert [row[1] for row in found if row[0].startswith(f"{name} + layer (")] == ["5,000"], name
    assert {row[0] for row in rows("Whole turns", PAGE.text)[2:]} <= {", ".join(pair) for pair in TOGETHER}


def test_the_page_of_backends_quotes_the_tables() -> None:
    """Its memory and processor time are cells of the table of whole turns."""
    turns = {row[0]: row for row in rows("Whole turns", PAGE.text)[2:]}
    quoted = {row[0]: row for row in page("docs/backends.md").rows if len(row) == 4}
    for start, pair in (
        ("1 GB", "networkx, sqlite"),
        ("a laptop", "ladybug, chroma"),
        ("a big world", "ladybug, sqlite"),
    ):
        (cells,) = (row for name, row in quoted.items() if name.startswith(start))
        assert (cells[2], cells[3]) == (turns[pair][8], turns[pair][3]), pair
