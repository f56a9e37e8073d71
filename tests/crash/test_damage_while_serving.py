"""The journal's file is overwritten under a server that runs: what is answered without a notice is recorded.

SQLite writes into its log first, and into the file at checkpoints. As long as all of the journal stands in the log,
the file can be overwritten without harm: nothing was damaged, so there is nothing to tell. What stood in the file is
missed by the next request that reads it, and told from then on.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from saga_core import Saga
from saga_core.storage.journal_guard import DAMAGED
from tests.crash.test_damage import config
from tests.server.client import Client, words

CHATS = 4


def overwrite(file: Path) -> None:
    with file.open("r+b") as opened:
        opened.write(os.urandom(file.stat().st_size))


async def say(client: Client, history: list[str], said: str) -> str | None:
    """Play a turn; the notice, if there is one."""
    history.append(said)
    reply = await client.chat(words(*history))
    assert reply.status == 200 and reply.text
    history.append(reply.text)
    return reply.headers.get("X-SAGA-Notice")


async def test_what_stands_in_the_log_is_recorded_and_whole(tmp_path: Path) -> None:
    chats: list[list[str]] = [[] for _ in range(CHATS)]
    async with Client.of(config(tmp_path), {}) as client:
        for number, chat in enumerate(chats):
            await say(client, chat, f"{number}. I walk to the mill.")
        overwrite(tmp_path / "state.db")
        assert [await say(client, chat, "I look around.") for chat in chats] == [None] * CHATS
    async with Saga.open(config(tmp_path)) as saga:
        sessions = await saga.sessions.list()
        assert [each.turns for each in sessions] == [2] * CHATS
        assert (await saga.maintenance.verify()).findings == ()


@pytest.mark.parametrize("harm", ["overwritten", "cut"])
async def test_what_stood_in_the_file_is_missed_and_told(tmp_path: Path, harm: str) -> None:
    chats: list[list[str]] = [[] for _ in range(CHATS)]
    async with Client.of(config(tmp_path), {}) as client:
        for number, chat in enumerate(chats):
            await say(client, chat, f"{number}. I walk to the mill.")
    async with Client.of(config(tmp_path), {}) as client:
        file = tmp_path / "state.db"
        overwrite(file) if harm == "overwritten" else os.truncate(file, file.stat().st_size // 2)
        notices = [await say(client, chat, "I look around.") for chat in chats]
        assert all(notice is not None and "is damaged" in notice for notice in notices)
        assert DAMAGED in (await client.get("/api/status")).json["degraded"]
        assert (await client.get("/readyz")).status == 503
