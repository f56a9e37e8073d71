"""Servers that are killed, put to sleep past their lease and cut off, and a database that restarts and fails over,
under players who are moved between them.

``SAGA_CHAOS_ROUNDS`` says how many rounds are played with each number of servers (20), ``SAGA_CHAOS_SEED`` with which
seed. ``python -m tests.postgres.chaos --help`` plays them by hand.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.postgres.chaos.game import Game
from tests.postgres.real_server import RealServer

pytestmark = pytest.mark.deep

ROUNDS = int(os.environ.get("SAGA_CHAOS_ROUNDS", "20"))
SEED = int(os.environ.get("SAGA_CHAOS_SEED", "11"))


@pytest.mark.parametrize("count", [2, 3])
async def test_no_reply_is_lost_and_no_fork_is_there_that_no_player_made(
    count: int, server: RealServer, tmp_path: Path
) -> None:
    played = await Game(count=count, rounds=ROUNDS, seed=SEED, folder=tmp_path, database=server).play()
    print(f"\n{played}")
    assert played["turns"] >= ROUNDS, "it was played at all"
    assert played["takings"] >= ROUNDS // 4, "sessions went from server to server"
