"""The results of the benchmark of stores as tables, with the goals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attrs import frozen

READ_GOAL, PROJECTION_GOAL, GROWTH_GOAL = 3.0, 25.0, 3.0
"""Upper limits: milliseconds of CPU that the stores take in reading a turn, milliseconds of CPU of its projection, and
the time of the last hundred turns as a multiple of that of the first hundred."""

_PROJECTION_PAIRS = (("kuzu", "chroma"), ("ladybug", "chroma"))


@frozen
class Table:
    """A table with a line about it."""

    title: str
    about: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@frozen
class Goal:
    """A goal, and the measured value."""

    what: str
    most: float
    measured: float

    @property
    def met(self) -> bool:
        """Whether it was reached."""
        return self.measured <= self.most


def tables(result: dict[str, Any]) -> list[Table]:
    """All results as tables. Values are milliseconds of CPU unless the column says otherwise."""
    made = [_graphs(result), _vectors(result), _turns(result), _growth(result)]
    return [table for table in made if table.rows]


def _graphs(result: dict[str, Any]) -> Table:
    rows = [row for row in result["stores"] if row["kind"] == "graph"]
    names = ("open", "first", "point", "hop1", "hop2", "write", "drop")
    return Table(
        "Graph engines",
        "One scope with twice as many edges as nodes. Walking 2 hops starts from five nodes, as reading a turn does.",
        ("engine", "nodes", "open, cold", "first read", "a node", "1 hop", "2 hops", "a turn's write", "drop",
         "filling, s", "RSS, MB", "disk, MB"),
        tuple(_store_row(row, names) for row in rows),
    )  # fmt: skip


def _vectors(result: dict[str, Any]) -> Table:
    rows = [row for row in result["stores"] if row["kind"] == "vector"]
    names = ("open", "first", "point", "query", "filtered", "write", "drop")
    return Table(
        "Vector engines",
        f"One scope with vectors of {result['options']['dimension']} components. Each query asks for the nearest 30.",
        ("engine", "vectors", "open, cold", "first query", "an item", "query", "with a filter", "a turn's write",
         "drop", "filling, s", "RSS, MB", "disk, MB"),
        tuple(_store_row(row, names) for row in rows),
    )  # fmt: skip


def _store_row(row: dict[str, Any], names: Sequence[str]) -> tuple[str, ...]:
    figures = row["figures"]
    held = row.get("held")
    layer = "" if not row["layer_mb"] else f" + layer ({_mb(held)} MB)" if held else " + layer (too large for it)"
    return (
        row["engine"] + layer,
        f"{row['size']:,}",
        *(_number(figures[name]["cpu"]) for name in names),
        _number(figures["fill"]["cpu"] / 1_000),
        _mb(row["rss"]),
        _mb(row["disk"]),
    )


def _turns(result: dict[str, Any]) -> Table:
    rows = []
    for row in result["turns"]:
        figures = row["figures"]
        rows.append(
            (
                f"{row['graph']}, {row['vector']}",
                *(
                    _number(figures[name]["cpu"])
                    for name in ("read", "read.stores", "projection", "projection.stores", "swipe")
                ),
                _number(figures["projection"]["cpu_p99"]),
                _number(row["rebuild"]["cpu"]),
                _mb(row["rss"]),
                _mb(row["disk"]),
            )
        )
    return Table(
        "Whole turns",
        f"A play of {result['options']['play']} turns with 200 entities and 300 lore entries. Turns are read "
        "and played with the in-memory layers. The time for embedding is not included.",
        ("graph, vectors", "reading a turn", "stores in it", "projection", "stores in it", "of a swipe",
         "projection, 99 %", "rebuilding the play", "RSS, MB", "disk, MB"),
        tuple(rows),
    )  # fmt: skip


def _growth(result: dict[str, Any]) -> Table:
    rows = []
    for row in result["growth"]:
        write, query = (row["hundreds"][name] for name in ("write", "query"))
        rows.append(
            (
                row["engine"] + (" + layer" if row["layer_mb"] else ""),
                *(_number(each["cpu"][place]) for each in (write, query) for place in (0, -1)),
                f"{_ratio(row):.2f}",
                _number(max(write["longest"], query["longest"])),
                _mb(row["disk"]),
            )
        )
    return Table(
        "A long play",
        f"Each of {result['options']['growth']:,} turns makes a write and a query. The columns are means "
        "of the first and of the last hundred turns.",
        ("engine", "write, first", "write, last", "query, first", "query, last", "last : first",
         "longest call, wall", "disk, MB"),
        tuple(rows),
    )  # fmt: skip


def _ratio(row: dict[str, Any]) -> float:
    first, last = (sum(row["hundreds"][name]["cpu"][place] for name in ("write", "query")) for place in (0, -1))
    return float(last / first)


def goals(result: dict[str, Any]) -> list[Goal]:
    """The goals that the results cover."""
    found = []
    for row in result["turns"]:
        pair = f"{row['graph']} and {row['vector']}"
        found.append(Goal(f"reading over {pair}, ms", READ_GOAL, row["figures"]["read.stores"]["cpu"]))
        if (row["graph"], row["vector"]) in _PROJECTION_PAIRS:
            found.append(Goal(f"projection over {pair}, ms", PROJECTION_GOAL, row["figures"]["projection"]["cpu"]))
    for row in result["growth"]:
        if row["layer_mb"]:
            found.append(Goal(f"{row['turns']:,} turns on {row['engine']}, last : first", GROWTH_GOAL, _ratio(row)))
    return found


def goal_lines(result: dict[str, Any]) -> list[str]:
    """The goals as lines of text."""
    return [
        f"{'met' if goal.met else 'MISSED'}: {goal.what}: {_number(goal.measured)}, at most {goal.most:g}"
        for goal in goals(result)
    ]


def markdown(result: dict[str, Any]) -> str:
    """The tables as Markdown, for docs/performance.md."""
    lines = []
    for table in tables(result):
        lines += [f"### {table.title}", "", table.about, "", "| " + " | ".join(table.columns) + " |"]
        lines.append("| --- |" + " ---: |" * (len(table.columns) - 1))
        lines += ["| " + " | ".join(row) + " |" for row in table.rows]
        lines.append("")
    lines += [f"- {line}" for line in goal_lines(result)]
    return "\n".join(lines)


def print_tables(result: dict[str, Any]) -> None:
    """Print the tables to stdout."""
    from rich.console import Console
    from rich.table import Table as RichTable

    console = Console()
    for table in tables(result):
        shown = RichTable(title=table.title, caption=table.about)
        for place, column in enumerate(table.columns):
            shown.add_column(column, justify="right" if place else "left")
        for row in table.rows:
            shown.add_row(*row)
        console.print(shown)
    machine = result["machine"]
    console.print(f"{result['date']} · {machine['system']}, {machine['cores']} cores · {machine['python']} · ms of CPU")
    for line in goal_lines(result):
        console.print(line)


def _number(value: float) -> str:
    if value < 0.095:
        return f"{value:.3f}"
    return f"{value:.2f}" if value < 9.95 else f"{value:.1f}" if value < 99.5 else f"{value:,.0f}"


def _mb(value: float | None) -> str:
    return "–" if value is None else f"{value / 2**20:.1f}" if value < 99.5 * 2**20 else f"{value / 2**20:,.0f}"
