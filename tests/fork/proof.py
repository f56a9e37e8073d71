"""The table of docs/proof.md: every memory at three rates and three lengths, in four languages."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.fork.generator import story
from tests.fork.language import languages
from tests.fork.runner import Make, Refused, Result, figures, run, tokens

RATES = (0, 10, 30)
SEEDS = {50: (1, 2, 3), 200: (1, 2), 1_000: (1,)}
"""By length in turns, the seeds that are played in each language."""
_FEW = ("en",)
"""The languages of the longest chats."""
FIGURES = Path(__file__).with_name("proof.json")
PAGE = Path(__file__).parents[2] / "docs" / "proof.md"
_MARKS = ("<!-- table: begin -->", "<!-- table: end -->")
_NAMES = {
    "last3": "last 3 turns",
    "last20": "last 20 turns",
    "history": "whole history",
    "bm25": "BM25, re-indexed",
    "bm25-40": "BM25, re-indexed, 40 messages",
    "fts5": "FTS5, re-indexed",
    "bm25-all": "BM25, only added to",
    "fts5-all": "FTS5, only added to",
    "mem0": "mem0",
    "mem0-removing": "mem0, memories deleted",
    "graphiti": "Graphiti",
    "graphiti-removing": "Graphiti, episodes removed",
    "langmem": "LangMem",
    "letta": "Letta",
    "saga-silent": "SAGA, no reports",
    "saga-600": "SAGA, reports, 600 tokens",
    "saga": "SAGA, reports",
}
_KINDS = ("holder", "place", "wound", "plan", "knows")


def measure(
    names: Sequence[str],
    lengths: Sequence[int],
    make: Callable[[str], Make],
    say: Callable[[str], None],
    *,
    rates: Sequence[int] = RATES,
    missing: bool = False,
    seeds: int | None = None,
    kept: bool = False,
) -> Mapping[str, Any]:
    """Run the memories ``names`` at ``lengths`` and ``rates``, and return their figures.

    ``kept``: they are written into ``FIGURES``, and the figures of other memories there stay. With ``missing``, only
    what has no figures there is measured. ``seeds`` are the most stories of one kind in a language. Raises ``Refused``
    for fewer stories than those of kept figures.
    """
    count, counted = tokens()
    found: dict[str, Any] = json.loads(FIGURES.read_text(encoding="utf-8")) if kept else {"cells": {}}
    found["counted"] = counted
    for turns in lengths:
        for rate in rates:
            tags = _FEW if turns == max(SEEDS) else languages()
            chats = [list(story(tag, seed, turns, rate / 100)) for tag in tags for seed in SEEDS[turns][:seeds]]
            cell = found["cells"].setdefault(str(turns), {}).setdefault(str(rate), {})
            most = max((each["stories"] for each in cell.values()), default=0)
            if len(chats) < most:
                raise Refused(
                    f"{FIGURES.name} has {most} stories of {turns} turns at {rate} %, and these are {len(chats)}"
                )
            for name in names:
                if missing and name in cell:
                    continue
                result = Result()
                for records in chats:
                    result.extend(run(records, make(name), count))
                cell[name] = _rounded(figures(result))
                say(f"{turns} turns, {rate} %: {name}: {cell[name]['right'][0]} % right")
                if kept:
                    _write(found)
    return found


def _write(found: Mapping[str, Any]) -> None:
    """Write the figures, those of one memory on one line."""
    text = json.dumps(found, indent=1)
    cells = [cell for rates in found["cells"].values() for memories in rates.values() for cell in memories.values()]
    for cell in cells:
        text = text.replace(textwrap.indent(json.dumps(cell, indent=1), "    ").lstrip(), json.dumps(cell))
    FIGURES.write_text(text + "\n", encoding="utf-8")


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_rounded(each) for each in value]
    return round(value, 1) if isinstance(value, float) else value


def tables(found: Mapping[str, Any]) -> str:
    """The figures as Markdown."""
    cells = found["cells"]
    columns = [(turns, rate) for turns in sorted(cells, key=int) for rate in sorted(cells[turns], key=int)]
    heads = [f"{int(turns):,} · {rate} %" for turns, rate in columns]
    each = [cells[turns][rate] for turns, rate in columns]
    measured = {name: _NAMES.get(name, name) for cell in each for name in cell}
    names = sorted(measured, key=[*_NAMES, *measured].index)
    questions, stories = (sum(next(iter(cell.values()))[key] for cell in each) for key in ("questions", "stories"))
    about = "Columns: turns of the chat · how often something is taken back."
    if not found["counted"].startswith("tokens"):
        about += f" Tokens are {found['counted']}."
    lines = [f"{questions:,} questions in {stories} stories. {about}", ""]
    for title, field in (("Right", "right"), ("A withdrawn value is told as the answer", "withdrawn")):
        lines += [f"**{title}**, in percent, with 95 % intervals:", "", *_head(["memory", *heads])]
        for name in names:
            row = [_share(cell[name][field]) if name in cell else "–" for cell in each]
            lines.append(f"| {measured[name]} | {' | '.join(row)} |")
        lines.append("")
    lines += ["**What a context costs**, in tokens on average:", "", *_head(["memory", *heads])]
    for name in names:
        row = [f"{cell[name]['tokens']:,.0f}" if name in cell else "–" for cell in each]
        lines.append(f"| {measured[name]} | {' | '.join(row)} |")
    lines.append("")
    turns, rate = ("200", "30") if ("200", "30") in columns else columns[-1]
    cell = cells[turns][rate]
    heads = ["right", "silent", "stale", "withdrawn", "wrong", "found", "leaked", "ms a turn", "ms a question", "calls"]
    lines += [f"**{turns} turns, {rate} %**, what the context tells, in percent:", "", *_head(["memory", *heads])]
    for name in filter(cell.get, names):
        one = cell[name]
        row = [f"{one[head][0]:.0f}" for head in heads[:7]]
        row += [f"{one['add_ms']:.1f}", f"{one['context_ms']:.1f}", f"{one['calls']:.1f}"]
        lines.append(f"| {measured[name]} | {' | '.join(row)} |")
    heads = [*_KINDS, "never taken back", "swiped, branched", "edited", "told within 20 turns", "longer ago"]
    fields = ["untouched", "swiped", "edited", "recent", "old"]
    title = f"**{turns} turns, {rate} %**, right, in percent, by kind of question:"
    lines += ["", title, "", *_head(["memory", *heads])]
    for name in filter(cell.get, names):
        one = cell[name]
        shares = [*map(one["kinds"].get, _KINDS), *map(one.get, fields)]
        row = [f"{each[0]:.0f}" if each else "–" for each in shares]
        lines.append(f"| {measured[name]} | {' | '.join(row)} |")
    return "\n".join(lines)


def _head(cells: Sequence[str]) -> list[str]:
    return [f"| {' | '.join(cells)} |", f"| --- |{' ---: |' * (len(cells) - 1)}"]


def _share(value: Sequence[float]) -> str:
    middle, low, high = value
    return f"{middle:.0f} ({low:.0f}–{high:.0f})"


def page(text: str, found: Mapping[str, Any]) -> str:
    """The page with its tables made from the figures."""
    head, begin, rest = text.partition(_MARKS[0])
    _, end, tail = rest.partition(_MARKS[1])
    if not begin or not end:
        raise ValueError(f"the page lacks {_MARKS[0]} or {_MARKS[1]}")
    return f"{head}{begin}\n\n{tables(found)}\n\n{end}{tail}"


def write_page() -> None:
    """Write the tables of ``PAGE`` anew."""
    found = json.loads(FIGURES.read_text(encoding="utf-8"))
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), found), encoding="utf-8")
