"""Servers of two versions beside each other: one after another is upgraded, and the stories go on at all of them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path

import psycopg
import pytest
from psycopg import AsyncConnection

from saga_backends.postgres.database import Database, Migration, Part
from saga_core.errors import NewerSchema
from tests.postgres.test_two_servers import Player, path_of, served
from tests.server.client import BLOCK
from tests.server.upstream import Upstream, says

TABLES = {"state": "entries", "graph": "graph_nodes", "vectors": "vector_items", "pages": "pages"}

PartOf = Part | Callable[[AsyncConnection], Awaitable[Part]]


def next_version(part: Part, least: int) -> Part:
    """What a later SAGA makes of a part: one column more in its table."""
    if part.name not in TABLES:
        return part
    added = Migration(f"ALTER TABLE {{schema}}.{TABLES[part.name]} ADD COLUMN later text DEFAULT 'new'", least)
    return Part(part.name, (*part.migrations, added))


@contextmanager
def code_of_the_next_version(monkeypatch: pytest.MonkeyPatch, *, bears_this_one: bool = True) -> Iterator[None]:
    """Servers that start inside are of a later SAGA."""
    plain = Database.open

    async def opened(self: Database, part: PartOf) -> None:
        async def later(connection: AsyncConnection) -> Part:
            found = part if isinstance(part, Part) else await part(connection)
            return next_version(found, found.version if bears_this_one else 0)

        await plain(self, later)

    with monkeypatch.context() as patch:
        patch.setattr(Database, "open", opened)
        yield


def versions(url: str, schema: str) -> dict[str, int]:
    with psycopg.connect(url) as line:
        return dict(line.execute(f"SELECT part, version FROM {schema}.parts".encode()).fetchall())


@pytest.fixture
async def upstream() -> AsyncIterator[Upstream]:
    async with Upstream(otherwise=says("The rain stops.", "\n\n" + BLOCK)) as server:
        yield server


async def test_servers_are_upgraded_one_after_another_while_players_go_on(
    url: str, schema: str, upstream: Upstream, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    player, moved = Player("Aria"), Player("Doran")
    async with AsyncExitStack() as first, AsyncExitStack() as second:
        old = await first.enter_async_context(served(url, schema, upstream, tmp_path, "a"))
        other = await second.enter_async_context(served(url, schema, upstream, tmp_path, "b"))
        before = versions(url, schema)
        await player.says(old, "I open the door of the inn and look for a seat.")
        await moved.says(other, "I wait at the ford for the ferry.")
        await first.aclose()
        with code_of_the_next_version(monkeypatch):
            new = await first.enter_async_context(served(url, schema, upstream, tmp_path, "a"))
        after = versions(url, schema)
        assert {name: after[name] - before[name] for name in TABLES} == dict.fromkeys(TABLES, 1)
        # The old one is on the new schema now: it plays what is its own, and what the new one had, and back.
        for client in (other, new, other, new):
            for each in (player, moved):
                await each.says(client, f"I look at number {len(each.history)} of the stones.")
        for client in (other, new):
            await client.server.saga.background.drain(20)
            verdict = await client.server.saga.maintenance.verify()
            assert verdict.equal, verdict.plain()
        await second.aclose()
        again = await second.enter_async_context(served(url, schema, upstream, tmp_path, "b"))  # back to the old one
        await moved.says(again, "I go back over the ford.")
        await second.aclose()
        assert versions(url, schema) == after, "an older server changes nothing"
        with code_of_the_next_version(monkeypatch):
            last = await second.enter_async_context(served(url, schema, upstream, tmp_path, "b"))
        await moved.says(last, "I am across.")
        assert len(await path_of(new, moved.session)) == 7
        assert len(await path_of(last, player.session)) == 5


async def test_a_server_that_is_too_old_does_not_start_and_the_new_ones_go_on(
    url: str, schema: str, upstream: Upstream, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    player = Player("Aria")
    async with AsyncExitStack() as running:
        with code_of_the_next_version(monkeypatch, bears_this_one=False):
            new = await running.enter_async_context(served(url, schema, upstream, tmp_path, "a"))
        await player.says(new, "I open the door of the inn and look for a seat.")
        with pytest.raises(NewerSchema, match="install a newer SAGA; nothing was changed"):
            await running.enter_async_context(served(url, schema, upstream, tmp_path, "b"))
        await player.says(new, "I sit down and call for ale.")
