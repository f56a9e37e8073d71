"""``python -m tests.public SET FOLDER``: measure memories with a public set, and print the figures as JSON.

docs/proof.md has the sets and the figures. Nothing is fetched: the folder has the set's files as they were published.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from tests.fork.memories import Bm25, History, Last3
from tests.fork.runner import Count, Memory, interval, tokens
from tests.public import fireball, propara, statebench
from tests.public.chat import Chat, Make, Question, asked, header
from tests.public.proxy import Proxy

Scores = Callable[[Question, str], Mapping[str, float]]
SETS: Mapping[str, tuple[Callable[[Path], Iterable[Chat]], Scores, Mapping[str, Any]]] = {
    "statebench": (statebench.chats, statebench.scores, {}),
    "propara": (propara.chats, propara.scores, {}),
    "fireball": (
        lambda folder: [fireball.chat(folder)],
        fireball.scores,
        {"trackers": fireball.TRACKERS},
    ),
    "fireball-30": (
        lambda folder: [fireball.chat(folder, 0.3)],
        fireball.scores,
        {"trackers": fireball.TRACKERS},
    ),
}
"""By name: the chats, how a context is scored, and what SAGA is configured with."""
PLAIN: Mapping[str, Callable[[Mapping[str, Any]], Memory]] = {"last3": Last3, "history": History, "bm25": Bm25}
SAGA = {"saga-silent": False, "saga": True}
"""SAGA by name, and whether the narrator reports."""


def measured(chats: Iterable[Chat], scores: Scores, make: Make, count: Count) -> dict[str, Any]:
    """The figures of one memory: every score as a mean in percent with its 95 % interval, for all and by group."""
    found: dict[str, dict[str, dict[str, list[float]]]] = {}
    size = total = 0
    for chat in chats:
        memory = make(chat)
        for question, context in asked(chat, memory):
            size, total = size + count(context), total + 1
            for name, value in scores(question, context).items():
                for group in {"all", question.group} - {""}:
                    found.setdefault(group, {}).setdefault(name, {}).setdefault(chat.id, []).append(value)
    result: dict[str, Any] = {"questions": total, "tokens": round(size / max(1, total))}
    for group, rows in sorted(found.items()):
        result[group] = {
            name: {"mean": [round(each, 1) for each in interval(list(by.values()))], "of": sum(map(len, by.values()))}
            for name, by in rows.items()
        }
    return result


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.public", description=__doc__.splitlines()[0])
    parser.add_argument("set", choices=SETS)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--memory", action="append", choices=(*PLAIN, *SAGA), help="only this one; may be repeated")
    parser.add_argument("--first", type=int, help="only so many chats")
    args = parser.parse_args()
    read, scores, settings = SETS[args.set]
    try:
        chats = list(read(args.folder))[: args.first]
    except FileNotFoundError as error:
        sys.exit(f"{error.filename} is not there: give the folder with the files of {args.set}")
    count, counted = tokens()
    result: dict[str, Any] = {"set": args.set, "chats": len(chats), "counted in": counted}
    for name in args.memory or (*PLAIN, *SAGA):
        if name in PLAIN:
            plain = PLAIN[name]
            result[name] = measured(chats, scores, lambda chat, plain=plain: plain(header(chat)), count)  # type: ignore[misc]
        else:
            with Proxy(settings, SAGA[name]) as proxy:
                result[name] = measured(chats, scores, proxy.memory, count)
        print(f"{name}: measured", file=sys.stderr, flush=True)
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
