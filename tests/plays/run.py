"""Plays of the library on stage, with a table: ``python -m tests.plays.run [file …]``."""

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


async def played(play: Play) -> Tally:
    """The checks of a play."""
    tally = Tally()

    def watch(seen: Seen) -> None:
        tally.take(seen.at, checks(play, seen))

    async with Saga.open(CONFIG) as saga:
        await Stage(play, saga, watch).run()
    return tally


def main(names: list[str]) -> None:
    """The table, and with a single play what does not hold."""
    held, all_ = Counter[str](), Counter[str]()
    files = library(names)
    for path in files:
        tally = asyncio.run(played(load(Path(path))))
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
