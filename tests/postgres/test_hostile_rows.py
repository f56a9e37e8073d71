"""Rows that somebody else wrote into the database: a view that cannot be read is a finding, and is made anew."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from saga_backends.postgres import exact_json
from saga_backends.postgres.vectors import _unpacked
from saga_core.errors import StoreCorrupt
from tests.postgres.test_two_servers import Player, served
from tests.server.client import BLOCK
from tests.server.upstream import Upstream, says

ROWS = {
    "graph_nodes": "properties = '5'",
    "graph_edges": "properties = '[]'",
    "pages": "names = '{}'",
    "vector_items": "given = '\\x00'",
}


async def test_a_view_that_cannot_be_read_is_told_and_made_anew(url: str, schema: str, tmp_path: Path) -> None:
    async with Upstream() as upstream:
        upstream.otherwise = says(
            "Aria walks with you to the mill, and the rain stops over the hills at last.\n\n", BLOCK
        )
        player = Player("Aria")
        async with served(url, schema, upstream, tmp_path, "a") as client:
            for number in range(2):
                await player.says(client, f"I walk on with Aria, for the {number}th time.")
            assert (await client.post("/api/drain")).json["settled"]
        with psycopg.connect(url, autocommit=True) as database:
            for table, change in ROWS.items():
                assert database.execute(f"UPDATE {schema}.{table} SET {change}".encode()).rowcount > 0
        async with served(url, schema, upstream, tmp_path, "a") as client:
            found = await client.get("/api/verify")
            assert found.status == 200, found.raw
            unread = {each["store"] for each in found.json["findings"] if "cannot be read" in each["what"]}
            assert unread == {"graph", "pages", "vectors"}, found.json["findings"]
            mended = await client.post("/api/repair")
            assert mended.status == 200 and mended.json["equal"], mended.raw
            await player.says(client, "And on.")


@pytest.mark.parametrize(
    "text", ["5", "null", "[]", "{", "[" * 100_000, '{"a": {"b": 1}}', '{"a": 1e999}', '{"a": [[1]]}']
)
def test_fields_that_nobody_here_wrote_cannot_be_read(text: str) -> None:
    with pytest.raises(StoreCorrupt, match="stored field"):
        exact_json.loads(text)


@pytest.mark.parametrize("raw", [b"", b"\0", b"\0\0\xc0\x7f", b"\0\0\x80\xff"])
def test_a_vector_that_is_none_cannot_be_read(raw: bytes) -> None:
    with pytest.raises(StoreCorrupt, match="stored vector"):
        _unpacked(raw)
