"""Plays of the library on stage, with a table: ``python -m tests.plays.run [--window TOKENS] [file …]``."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from pathlib import Path

from saga_core import Saga
from tests.plays.checks import Tally, checks
from tests.plays.play import Play, library, load
from tests.plays.stage import Seen, Stage

CONFIG = {"storage": {"profile": "memory"}}


async def played(play: Play, window: int = 0) -> Tally:
    """The checks of a play. No prompt has more than ``window`` tokens (0: the default)."""
    tally = Tally()

    def watch(seen: Seen) -> None:
        tally.take(seen.at, checks(play, seen))

    async with Saga.open(
        {**CONFIG, **({"models": {"facts": {"test-model": {"window": window}}}} if window else {})}
    ) as saga:
        await Stage(play, saga, watch).run()
    return tally


def main(names: list[str]) -> None:
    """The table, and with a single play what does not hold."""
    window = int(names[1]) if names[:1] == ["--window"] else 0
    names = names[2:] if window else names
    held, all_ = Counter[str](), Counter[str]()
    files = library(names)
    for path in files:
        tally = asyncio.run(played(load(Path(path)), window))
        held.update(tally.held)
        all_.update(tally.all)
        print(f"{path.stem:24} {tally.held.total():5} of {tally.all.total():5}  {tally.share:6.1%}")
        if len(files) == 1:
            print(*tally.failed, sep="\n")
    print()
    for kind in sorted(all_):
        print(f"{kind:44} {held[kind]:5} of {all_[kind]:5}")
    print(f"{'all':44} {held.total():5} of {all_.total():5}  {held.total() / max(1, all_.total()):.1%}")


if __name__ == "__main__":
    main(sys.argv[1:])
