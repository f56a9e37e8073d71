"""``python -m tests.postgres.chaos --rounds 100 --seed 7 --servers 2,3``: play rounds until one is not right."""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from pathlib import Path

from tests.postgres.chaos.game import Found, Game
from tests.postgres.real_server import RealServer, missing


def main() -> None:
    given = argparse.ArgumentParser(prog="python -m tests.postgres.chaos", description=__doc__)
    given.add_argument("--rounds", type=int, default=100, help="rounds with each number of servers")
    given.add_argument("--seed", type=int, default=11)
    given.add_argument("--servers", default="2,3", help="numbers of servers, one game after another")
    given.add_argument("--lease", type=float, default=1.5, help="seconds")
    asked = given.parse_args()
    if reason := missing():
        raise SystemExit(reason)
    database = RealServer(options=("fsync=off",))
    try:
        for count in map(int, asked.servers.split(",")):
            with tempfile.TemporaryDirectory(prefix="saga-chaos-") as folder:
                game = Game(
                    count=count,
                    rounds=asked.rounds,
                    seed=asked.seed,
                    lease=asked.lease,
                    folder=Path(folder),
                    database=database,
                    say=lambda told: print(told, flush=True),
                )
                print(asyncio.run(game.play()), flush=True)
    except Found as error:
        raise SystemExit(str(error)) from None
    finally:
        database.remove()


if __name__ == "__main__":
    main()
