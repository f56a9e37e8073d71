"""Long lists in parts: each row once, in the order of the whole list, until there is no cursor left."""

from __future__ import annotations

from typing import Any

import pytest

from saga_core.journal import Journal
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


async def test_a_page_of_sessions_reads_the_turns_of_its_sessions_alone(
    offline: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A list of thousands of sessions took seconds, whatever its limit. What was read of a session is kept."""
    for number in range(9):
        await offline.post("/api/sessions", json={"label": f"s{number}"})
    saga = offline.server.saga
    await saga.drain(60)
    for session in await saga.sessions.records():
        saga.sessions.live.forget(session.id)
    read: list[str] = []
    tree = Journal.tree

    async def counted(journal: Journal, session: str) -> Any:
        read.append(session)
        return await tree(journal, session)

    monkeypatch.setattr(Journal, "tree", counted)
    page = (await offline.get("/api/sessions?limit=2")).json
    assert [each["label"] for each in page["sessions"]] == ["s0", "s1"] and len(read) == 3
    assert len((await offline.get("/api/sessions")).json["sessions"]) == len(read) == 9
    await offline.get("/api/sessions")
    assert len(read) == 9
