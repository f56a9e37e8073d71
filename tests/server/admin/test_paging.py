"""Long lists in parts: each row once, in the order of the whole list, until there is no cursor left."""

from __future__ import annotations

from typing import Any

import pytest

from saga_core.state_block import BlockFields
from tests.server.admin.test_edits import play
from tests.server.client import Client


async def in_parts(client: Client, path: str, name: str, limit: int) -> list[Any]:
    """The rows of a list, read so many at a time."""
    found, cursor = list[Any](), ""
    while True:
        reply = await client.get(f"{path}{'&' if '?' in path else '?'}limit={limit}{cursor}")
        assert reply.status == 200 and len(reply.json[name]) <= limit, reply.raw
        found += reply.json[name]
        if reply.json["next"] is None:
            return found
        cursor = f"&cursor={reply.json['next']}"


@pytest.mark.parametrize("limit", [1, 2, 5])
async def test_the_parts_are_the_whole(offline: Client, limit: int) -> None:
    session = await play(offline, BlockFields(location="Rope Quay", npc_met=("Bram",)))
    here = f"/api/sessions/{session}"
    for text in ("It rains.", "It snows.", "It hails.", "It clears.", "It is night."):
        assert (await offline.post(f"{here}/changes", json={"kind": "note", "text": text})).status == 201
    await offline.post("/api/sessions", json={"label": "another"})
    for path, name in (
        (f"{here}/changes", "changes"),
        (f"{here}/entities", "entities"),
        (f"{here}/lines", "lines"),
        (f"{here}/knowledge?about=1", "people"),
        (f"{here}/knowledge?who=Bram", "facts"),
        (f"{here}/lore", "entries"),
        ("/api/sessions?fleeting=all", "sessions"),
    ):
        whole = (await offline.get(path)).json
        assert len(whole[name]) > 1 and whole["next"] is None
        assert await in_parts(offline, path, name, limit) == whole[name]
    refused = await offline.get(f"{here}/changes?cursor=nothing")
    assert (refused.status, "names nothing in this list" in refused.error["message"]) == (404, True)
    assert (await offline.get(f"{here}/changes?limit=0")).status == 400
