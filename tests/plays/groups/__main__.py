"""Group plays on stage: ``python -m tests.plays.groups [file …]``."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from tests.plays.groups.play import PLAYS, load
from tests.plays.groups.stage import played


def main(names: list[str]) -> None:
    """A line for each play, and with a single play everything that does not hold."""
    files = [Path(name) for name in names] or PLAYS
    for path in files:
        found = asyncio.run(played(load(path)))
        print(f"{path.stem:20} {found}")
        if len(files) == 1:
            print(*found.wrong, sep="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
