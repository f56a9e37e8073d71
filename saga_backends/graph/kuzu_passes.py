"""One statement for many rows: it passes over a table once, where a statement for each row looks up one by one.

In Kuzu a node is looked up in 0.1 ms and its edges in 0.2 ms; an edge between two nodes is made in 0.3 ms, and one that
is found by its ends is changed in 0.6 ms. A pass costs 1 to 3 ms, 0.1 ms for a thousand nodes and 0.5 ms for a thousand
edges of the tables, and 0.02 ms for each row. Ladybug looks up in less than half of the time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from attrs import frozen

from saga_backends.graph.kuzu_database import KuzuDatabase, Statement
from saga_backends.graph.kuzu_engine import PoolFull

_LEAST = {"nodes": 16, "edges": 6}
"""Up to so many rows a pass does not pay in any table of Kuzu's, for a node or for what takes longer."""
_MOST = 2_000
"""Rows of one pass."""
_MOST_TEXT = 1_024 * 1_024
"""Characters of all values of one pass: the pool holds them several times."""
_OF_TABLE = 500
"""So many rows of a table are passed over for each further row."""
_IN_POOL = 1_000
"""And so many for each megabyte of the pool, which holds some of what a pass reads."""

_COUNTS = {
    "nodes": Statement("MATCH (e:Entity) RETURN count(*)"),
    "edges": Statement("MATCH (:Entity)-[t:Tie]->(:Entity) RETURN count(*)"),
}


@frozen
class Each:
    """What is done for each of several rows. Made by ``each``."""

    one: Statement
    many: Statement
    over: tuple[str, ...]
    """What a pass reads all of."""
    least: int


def each(text: str, *over: str, match: str = "") -> Each:
    """``text`` is for one row. ``match`` replaces its first words, up to ``CREATE``, where many rows need others: two
    nodes that are matched at once are joined each with each."""
    one = Statement(text)
    values = ", ".join(f"r.{name} AS {name}" for name in sorted(one.parameters))
    begun = f"{match} {text[text.index('CREATE') :]}" if match else text
    many = Statement(f"UNWIND $rows AS r WITH {values} {begun.replace('$', '')}")
    return Each(one, many, over, _LEAST["edges" if "Tie" in text else "nodes"])


def run(database: KuzuDatabase, made: Each, rows: Sequence[Mapping[str, str]]) -> list[list[Any]]:
    """Run ``made`` for each of ``rows``, in passes where they pay. Gives all rows that came of it, in any order.

    Raises ``StoreError``. A pass that does not fit into the pool is made one by one: in a transaction, which it ends,
    by whoever began that.
    """
    found: list[list[Any]] = []
    for part in _parts(rows):
        if _pays(database, made, len(part)):
            try:
                found += database.rows(made.many, rows=part)
                continue
            except PoolFull:
                if database.writing:
                    raise
        for row in part:
            found += database.rows(made.one, **row)
    return found


def _parts(rows: Sequence[Mapping[str, str]]) -> Iterator[list[Mapping[str, str]]]:
    part: list[Mapping[str, str]] = []
    text = 0
    for row in rows:
        size = sum(map(len, row.values()))
        if part and (len(part) == _MOST or text + size > _MOST_TEXT):
            yield part
            part, text = [], 0
        part.append(row)
        text += size
    if part:
        yield part


def _pays(database: KuzuDatabase, made: Each, count: int) -> bool:
    further = count * database.engine.lookup - made.least
    if further <= 0 or database.sparing:
        return False
    most = min(further * _OF_TABLE, database.pool_mb * _IN_POOL)
    return all(database.size(_COUNTS[table]) <= most for table in made.over)
