"""``python -m tests.public.evidence SET PATH --out FILE``: how much of what a question needs is in few tokens.

No model and no judge take part, and nothing is fetched: PATH has the set as it was published. The shares are those of
docs/recall.md: *line*, how much of the evidence has a line in the context, and *answer*, whether the answer's words are
in one line. FILE gets a line for each chat as soon as it is measured, and a run that was stopped goes on from there.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from saga_core.config import Config
from saga_core.errors import SagaError
from tests.bench.recall.embedder_choice import embedder_config
from tests.bench.recall.served import Chat, served_shares
from tests.fork.runner import interval
from tests.public.talks import TALKS

BUDGETS = (600, 1_500, 6_000)
_SHOWN = ("line", "answer")


async def measure(chats: Iterable[Chat], out: Path, config: Config, most: int | None = None) -> int:
    """Measure up to ``most`` chats that ``out`` lacks, and append each to it. Returns how many were measured."""
    known = {row["id"] for row in rows(out)}
    count = 0
    for chat in chats:
        if chat.id in known or not chat.answerable:
            continue
        if count == most:
            break
        began = time.monotonic()
        found = await served_shares(chat, config, BUDGETS)
        row = {
            "id": chat.id,
            "turns": len(chat.pairs),
            "seconds": round(time.monotonic() - began, 1),
            "groups": [each.group for each in chat.answerable],
            "shares": {str(budget): values for budget, values in found.asked.items()},
        }
        with out.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        count += 1
        print(f"{chat.id}: {row['turns']} turns, {len(chat.answerable)} questions, {row['seconds']} s", file=sys.stderr)
    return count


def rows(out: Path) -> list[dict[str, Any]]:
    """What was measured so far. A last line that was cut off is dropped from the file, and measured again."""
    if not out.exists():
        return []
    text = out.read_text(encoding="utf-8")
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        out.write_text(whole, encoding="utf-8")
    return [json.loads(line) for line in whole.splitlines()]


def table(found: Iterable[Mapping[str, Any]]) -> str:
    """The shares in percent with their 95 % intervals, for all questions and by group."""
    measured = list(found)
    groups = ["all", *sorted({group for row in measured for group in row["groups"] if group})]
    heads = [f"{name}, {budget:,}" for name in _SHOWN for budget in BUDGETS]
    lines = [f"| questions | number | {' | '.join(heads)} |", "| --- |" + " ---: |" * (len(heads) + 1)]
    for group in groups:
        cells = []
        for name in _SHOWN:
            for budget in BUDGETS:
                values = [
                    [
                        each[name]
                        for each, own in zip(row["shares"][str(budget)], row["groups"], strict=True)
                        if name in each and group in ("all", own)
                    ]
                    for row in measured
                ]
                values = [each for each in values if each]
                cells.append("{:.0f} ({:.0f}–{:.0f})".format(*interval(values)) if values else "–")
        count = sum(group in ("all", own) for row in measured for own in row["groups"])
        lines.append(f"| {group} | {count:,} | {' | '.join(cells)} |")
    seconds = sum(row["seconds"] for row in measured)
    turns = sum(row["turns"] for row in measured)
    cost = f"{len(measured)} chats with {turns:,} turns in {seconds:,.0f} s; no call to a model."
    return "\n".join([*lines, "", cost])


def main() -> None:
    """Measure what is missing, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.public.evidence", description=__doc__.splitlines()[0])
    parser.add_argument("set", choices=TALKS)
    parser.add_argument("path", type=Path)
    parser.add_argument("--out", type=Path, required=True, help="the file to which each chat is added")
    parser.add_argument("--most", type=int, help="stop after so many chats; the next run goes on")
    parser.add_argument("--embedder", help="embedder backend instead of the built-in one")
    args = parser.parse_args()
    try:
        chats = TALKS[args.set](args.path)
        asyncio.run(measure(chats, args.out, embedder_config(None, args.embedder, ()), args.most))
    except (OSError, SagaError, ValueError) as error:
        sys.exit(f"{args.set}: {error}")
    found = rows(args.out)
    print(table(found) if found else f"{args.path} has no chat with a question whose evidence is known")


if __name__ == "__main__":
    main()
