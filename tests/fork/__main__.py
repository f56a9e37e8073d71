"""Write stories of chats in which things are taken back, and run memories through them. See tests/fork/README.md."""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.fork import proof
from tests.fork.generator import Record, story
from tests.fork.language import languages
from tests.fork.runner import Make, Refused, Result, figures, run, tokens

MEMORIES = {
    "last3": "tests.fork.memories:Last3",
    "last20": "tests.fork.memories:Last20",
    "history": "tests.fork.memories:History",
    "bm25": "tests.fork.memories:Bm25",
    "bm25-40": "tests.fork.memories:Bm25Wide",
    "bm25-all": "tests.fork.memories:Bm25All",
    "fts5": "tests.fork.memories:Fts5",
    "fts5-all": "tests.fork.memories:Fts5All",
    "saga": "tests.fork.saga_memory:SagaWithReports",
    "saga-600": "tests.fork.saga_memory:SagaInBrief",
    "saga-silent": "tests.fork.saga_memory:SagaWithoutReports",
    "mem0": "tests.fork.mem0_memory:Mem0",
    "mem0-removing": "tests.fork.mem0_memory:Removing",
    "graphiti": "tests.fork.graphiti_memory:Graphiti",
    "graphiti-removing": "tests.fork.graphiti_memory:Removing",
    "langmem": "tests.fork.langmem_memory:LangMem",
    "letta": "tests.fork.letta_memory:Letta",
}
"""The memories that are here, by name."""
OTHERS = {"mem0", "mem0-removing", "graphiti", "graphiti-removing", "langmem", "letta"}
"""Those whose packages SAGA's environment does not have."""


def memory(name: str) -> Make:
    """The memory ``name``, which is one of ``MEMORIES`` or ``module:Class``."""
    module, colon, attribute = MEMORIES.get(name, name).partition(":")
    if not colon:
        raise Refused(f"{name!r} is no memory: give module:Class, or one of {', '.join(MEMORIES)}")
    sys.path.insert(0, str(Path.cwd()))
    try:
        made: Make | None = getattr(importlib.import_module(module), attribute, None)
    except ModuleNotFoundError as error:
        why = "give module:Class without .py, of a module that is installed or lies in this folder"
        raise Refused(f"{name}: {error}; {why}") from error
    if made is None:
        raise Refused(f"{name}: the module {module} has no {attribute!r}")
    return made


def write(args: argparse.Namespace) -> None:
    """Print a story, one record a line."""
    for record in story(args.language, args.seed, args.turns, args.rate / 100):
        print(json.dumps(record, ensure_ascii=False))


def read_stories(path: Path) -> Iterator[list[Record]]:
    """The stories of a file, one after another."""
    records: list[Record] = []
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            try:
                record: dict[str, Any] = json.loads(line)
                if record["type"] not in ("story", "step", "question"):
                    raise KeyError(record["type"])
            except (ValueError, KeyError, TypeError) as error:
                raise Refused(f"{path}, line {number}: {line[:40]!r} is no record of a story") from error
            if record["type"] == "story" and records:
                yield records
                records = []
            records.append(record)
    if records:
        yield records


def play(args: argparse.Namespace) -> None:
    """Run one memory through the stories of a file, and print its figures as JSON."""
    if not args.stories.is_file():
        raise Refused(f"there is no file {args.stories}; python -m tests.fork write prints a story")
    make, (count, counted) = memory(args.memory), tokens()
    result = Result()
    for records in read_stories(args.stories):
        result.extend(run(records, make, count))
    if not result.turns:
        raise Refused(f"there is no story in {args.stories}; python -m tests.fork write prints one")
    print(json.dumps({"memory": args.memory, "counted in": counted, **figures(result)}, indent=1))


def numbers(text: str) -> list[int]:
    """The whole numbers of a list."""
    return [int(part) for part in text.split(",")]


def prove(args: argparse.Namespace) -> None:
    """Measure, and print the tables, or write those of the page."""
    if not set(args.turns) <= set(proof.SEEDS):
        raise Refused(f"--turns: give some of {', '.join(map(str, proof.SEEDS))}")
    names = args.memory or [name for name in MEMORIES if name not in OTHERS]
    others = [name for name in names if name not in MEMORIES]
    if args.page and others:
        raise Refused(f"--page: the page has no row for {others[0]}; without it the tables are printed")
    if args.missing and not args.page:
        raise Refused("--missing: is for --page, whose figures are kept")
    chosen = {"rates": args.rates, "missing": args.missing, "seeds": args.seeds, "kept": args.page}
    found = proof.measure(names, args.turns, memory, lambda line: print(line, file=sys.stderr, flush=True), **chosen)
    if args.page:
        proof.write_page()
    else:
        print(proof.tables(found))


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.fork", description=__doc__)
    commands = parser.add_subparsers(required=True)
    writing = commands.add_parser("write", help="print a story as JSON lines")
    writing.add_argument("--language", default="en", choices=languages())
    writing.add_argument("--seed", type=int, default=1)
    writing.add_argument("--turns", type=int, default=200, help="turns of the chat at the end")
    writing.add_argument("--rate", type=float, default=30, help="percent of the turns after which something goes back")
    writing.set_defaults(run=write)
    playing = commands.add_parser("run", help="run a memory through the stories of a file")
    playing.add_argument("memory", help=f"module:Class, or one of {', '.join(MEMORIES)}")
    playing.add_argument("stories", type=Path, help="a file that `write` printed; several may be joined in it")
    playing.set_defaults(run=play)
    proving = commands.add_parser("proof", help="measure all memories, and print tables as in docs/proof.md")
    proving.add_argument("--memory", action="append", help="only this one; may be repeated")
    proving.add_argument("--turns", default="50,200", type=numbers, help="lengths of the chats, separated by commas")
    proving.add_argument("--rates", default="0,10,30", type=numbers, help="percent of the turns, separated by commas")
    proving.add_argument("--seeds", type=int, help="the most stories of one kind in a language")
    proving.add_argument("--page", action="store_true", help="write proof.json and docs/proof.md instead of printing")
    proving.add_argument("--missing", action="store_true", help="with --page, only what has no figures yet")
    proving.set_defaults(run=prove)
    args = parser.parse_args()
    try:
        args.run(args)
    except Refused as why:
        sys.exit(f"{parser.prog}: {why}")


if __name__ == "__main__":
    main()
