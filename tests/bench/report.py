"""The figures as a table, with their goals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from attrs import frozen

_GOAL_TURNS = 1_000
"""The length of the play that the goals apply to, in turns."""

Figure = Callable[[dict[str, Any], dict[str, Any]], float | None]
"""Takes a figure from the whole result and one play in it."""


@frozen
class Row:
    """A row of the table."""

    label: str
    unit: str
    figure: Figure
    goal: float | None = None
    """The upper limit, for 1,000 turns."""


@frozen
class Section:
    """Rows that belong together."""

    title: str
    rows: tuple[Row, ...]


def _warm(name: str, kind: str) -> Figure:
    def figure(_: dict[str, Any], play: dict[str, Any]) -> float | None:
        found: float | None = play["warm"].get(name, {}).get(kind)
        return found

    return figure


def _part(name: str) -> Figure:
    def figure(_: dict[str, Any], play: dict[str, Any]) -> float | None:
        found: float | None = play["warm"]["parts"].get(f"read.{name}", {}).get("p50")
        return found

    return figure


def _of(*path: str, scale: float = 1.0) -> Figure:
    def figure(_: dict[str, Any], play: dict[str, Any]) -> float | None:
        found: Any = play
        for name in path:
            found = found[name]
        return None if found is None else found * scale

    return figure


def _whole_turn(_: dict[str, Any], play: dict[str, Any]) -> float:
    return float(sum(play["warm"][f"turn.{step}"]["cpu_p50"] for step in ("read", "feed", "commit")))


def _counted(_: dict[str, Any], play: dict[str, Any]) -> float:
    """The reads that were measured at full speed, in per cent."""
    read = play["warm"]["read"]
    return float(100 * read["counted"] / read["count"])


def _imported(module: str) -> Figure:
    return lambda result, _: result["imports"][module] / 1_000


SECTIONS = (
    Section(
        "context read, embedding apart",
        (
            Row("CPU, median", "ms", _warm("read", "cpu_p50"), 3.0),
            Row("CPU, 99 %", "ms", _warm("read", "cpu_p99")),
            Row("wall, median", "ms", _warm("read", "wall_p50")),
            Row("wall, 99 %", "ms", _warm("read", "wall_p99"), 10.0),
            Row("in play: CPU, median", "ms", _warm("turn.read", "cpu_p50")),
            Row("in play: CPU, 99 %", "ms", _warm("turn.read", "cpu_p99")),
            Row("in play: wall, 99 %", "ms", _warm("turn.read", "wall_p99")),
            Row("embedding of the words: CPU", "ms", _warm("read.embedding", "cpu_p50")),
        ),
    ),
    Section(
        "its parts, wall, median (sources overlap)",
        tuple(
            Row(label, "ms", _part(name))
            for label, name in (
                ("match", "match"),
                ("state", "state"),
                ("context", "context"),
                ("· deaths", "context.deaths"),
                ("· briefing", "context.briefing"),
                ("· lorebook", "context.lorebook"),
                ("· recollection", "context.recollection"),
                ("· connections", "context.connections"),
                ("· events", "context.events"),
                ("· pack", "context.pack"),
                ("plan", "plan"),
            )
        ),
    ),
    Section(
        "whole turn, CPU, median",
        (
            Row("read, reply, commit", "ms", _whole_turn),
            Row("reply: filter", "ms", _warm("turn.feed", "cpu_p50")),
            Row("commit", "ms", _warm("turn.commit", "cpu_p50")),
            Row("· journal append", "ms", _warm("journal", "cpu_p50"), 1.0),
            Row("· index update", "ms", _warm("index", "cpu_p50"), 0.5),
            Row("after it: projection", "ms", _warm("turn.projection", "cpu_p50")),
            Row("· embedding of the episode", "ms", _warm("turn.projection.embedding", "cpu_p50")),
        ),
    ),
    Section(
        "beside an ordinary turn, CPU, median",
        (
            Row("swipe: read", "ms", _warm("swipe.read", "cpu_p50")),
            Row("swipe: projection", "ms", _warm("swipe.projection", "cpu_p50")),
            Row("branch 20 turns back: read", "ms", _warm("branch.read", "cpu_p50")),
            Row("branch 20 turns back: projection", "ms", _warm("branch.projection", "cpu_p50")),
            Row("branch from turn 20: read", "ms", _warm("early.read", "cpu_p50")),
            Row("branch from turn 20: projection", "ms", _warm("early.projection", "cpu_p50")),
        ),
    ),
    Section(
        "process",
        (
            Row("opening: CPU", "ms", _of("cold", "open", "cpu")),
            Row("warm-up, after it: CPU", "ms", _of("cold", "warm", "cpu")),
            Row("cold load of the session: CPU", "ms", _of("cold", "load", "cpu"), 150.0),
            Row("cold load of the session: wall", "ms", _of("cold", "load", "wall")),
            Row("import saga_core: CPU", "s", _imported("saga_core"), 0.3),
            Row("import saga_core.saga: CPU", "s", _imported("saga_core.saga")),
            Row("server ready: wall", "s", _of("server", "ready", scale=0.001), 1.5),
            Row("server ready: CPU", "s", _of("server", "ready_cpu", scale=0.001)),
            Row("server with the session: RSS", "MB", _of("server", "rss", scale=2.0**-20), 110.0),
            Row("data on disk", "MB", _of("disk", scale=2.0**-20)),
            Row("reads that counted, of 100", "", _counted),
        ),
    ),
)


def figures(result: dict[str, Any]) -> list[dict[str, Any]]:
    """Every row of the table that has a value: section, label, unit, goal, and a value for each play."""
    found: list[dict[str, Any]] = [
        {
            "section": section.title,
            "figure": row.label,
            "unit": row.unit,
            "goal": row.goal,
            "values": {str(play["turns"]): row.figure(result, play) for play in result["plays"]},
        }
        for section in SECTIONS
        for row in section.rows
    ]
    return [row for row in found if any(value is not None for value in row["values"].values())]


def missed(result: dict[str, Any]) -> list[str]:
    """The goals that the play of 1,000 turns does not meet, in words."""
    found = []
    for row in figures(result):
        value = row["values"].get(str(_GOAL_TURNS))
        if row["goal"] is not None and value is not None and value > row["goal"]:
            found.append(f"{row['section']}, {row['figure']}: {_number(value)} {row['unit']}, goal {row['goal']:g}")
    return found


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:,.0f}"


def _cell(row: dict[str, Any], turns: int) -> str:
    value = row["values"][str(turns)]
    if row["goal"] is None or value is None or turns != _GOAL_TURNS:
        return _number(value)
    colour = "green" if value <= row["goal"] else "red"
    return f"[{colour}]{_number(value)}[/{colour}]"


def markdown(result: dict[str, Any]) -> str:
    """The table as Markdown, for the documentation."""
    lengths: Sequence[int] = [play["turns"] for play in result["plays"]]
    lines = [
        "| | goal at 1,000 | " + " | ".join(f"{length:,} turns" for length in lengths) + " |",
        "| --- |" + " ---: |" * (len(lengths) + 1),
    ]
    section = ""
    for row in figures(result):
        if row["section"] != section:
            section = row["section"]
            lines.append(f"| **{section}** |" + " |" * (len(lengths) + 1))
        goal = "" if row["goal"] is None else f"≤ {row['goal']:g} {row['unit']}"
        values = (f"{_number(row['values'][str(length)])} {row['unit']}".strip() for length in lengths)
        lines.append(f"| {row['figure']} | {goal} | " + " | ".join(values) + " |")
    return "\n".join(lines)


def print_table(result: dict[str, Any]) -> None:
    """Print the table to stdout."""
    from rich.console import Console
    from rich.table import Table

    machine, options = result["machine"], result["options"]
    lengths: Sequence[int] = [play["turns"] for play in result["plays"]]
    table = Table(title=f"a turn, {options['entities']} entities, {options['lore']} lore entries, {options['profile']}")
    table.add_column("figure")
    table.add_column("", style="dim")
    table.add_column("goal", justify="right")
    for length in lengths:
        table.add_column(f"{length:,} turns", justify="right")
    section = ""
    for row in figures(result):
        if row["section"] != section:
            section = row["section"]
            table.add_section()
            table.add_row(f"[bold]{section}[/bold]")
        goal = f"≤ {row['goal']:g}" if row["goal"] is not None else ""
        table.add_row(row["figure"], row["unit"], goal, *(_cell(row, length) for length in lengths))
    console = Console()
    console.print(table)
    console.print(
        f"{result['date']} · {machine['system']}, {machine['cores']} cores · {machine['python']}"
        f"{'' if machine['optimized'] else ' (built without --enable-optimizations)'} · SQLite {machine['sqlite']}"
    )
    if _GOAL_TURNS in lengths:
        for line in missed(result) or ["all goals are met"]:
            console.print(line)
