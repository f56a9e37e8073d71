"""Worlds over HTTP: their files, what is wrong with them line by line, and writing them whole or not at all."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.server.client import Client

LORE = "## The Mill\n- type: location\n- layer: A2\n\nAn old mill.\n"
FAULTY = "## The Mill\n- type: location\n- layer: A9\n\nAn old mill.\n"


@pytest.fixture
async def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Client]:
    """SAGA with a world of its own in the working directory."""
    folder = tmp_path / "worlds" / "mill"
    folder.mkdir(parents=True)
    (folder / "LOREBOOK.md").write_text(LORE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    async with Client.of({}, {}) as found:
        found.server.saga.worlds.roots = (tmp_path / "worlds", *found.server.saga.worlds.roots)
        yield found


async def test_a_world_is_its_files(client: Client) -> None:
    listed = {each["name"]: each for each in (await client.get("/api/library")).json["worlds"]}
    assert listed["mill"] == {"name": "mill", "files": ["LOREBOOK.md"], "writable": True, "problems": 0}
    found = (await client.get("/api/library/mill")).json
    assert (found["files"], found["problems"]) == ({"LOREBOOK.md": LORE}, [])


async def test_a_fault_is_told_with_its_line_and_nothing_is_written(client: Client, tmp_path: Path) -> None:
    path = tmp_path / "worlds" / "mill" / "LOREBOOK.md"
    body = {"file": "LOREBOOK.md", "text": FAULTY}
    tried = await client.post("/api/library/mill?dry_run=1", json=body)
    assert tried.status == 200
    assert [(each["file"], each["line"]) for each in tried.json["problems"]] == [("LOREBOOK.md", 3)]
    assert tried.json["problems"][0]["remedy"]
    refused = await client.post("/api/library/mill", json=body)
    assert refused.status == 400 and "A9" in refused.error["message"]
    assert path.read_text(encoding="utf-8") == LORE
    assert sorted(each.name for each in path.parent.iterdir()) == ["LOREBOOK.md"]


async def test_an_edit_is_what_the_next_session_begins_with(client: Client) -> None:
    first = (await client.post("/api/sessions", json={"world": "mill"})).json["id"]
    tag = (await client.get("/api/library/mill")).headers["ETag"]
    body = {"file": "LOREBOOK.md", "text": LORE.replace("old", "burnt")}
    assert (await client.post("/api/library/mill", json=body, headers={"If-Match": tag})).status == 200
    late = await client.post("/api/library/mill", json=body, headers={"If-Match": tag})
    assert late.status == 412
    second = (await client.post("/api/sessions", json={"world": "mill"})).json["id"]
    texts = [(await client.get(f"/api/sessions/{each}/lore")).json["entries"][0]["text"] for each in (first, second)]
    assert texts == ["An old mill.", "An burnt mill."]


@pytest.mark.parametrize("name", ["..", "%2e%2e", "mill%2f..%2fmill", ".", "nowhere", "%00"])
async def test_no_name_leads_out_of_the_worlds(client: Client, name: str) -> None:
    for method in ("GET", "POST"):
        reply = await client.send(method, f"/api/library/{name}", json={"file": "LOREBOOK.md", "text": LORE})
        assert reply.status in (400, 404, 405), reply.raw


@pytest.mark.parametrize("file", ["../x.md", "/etc/passwd", "OTHER.md", ".lorebook.md", "lorebook.md"])
async def test_no_other_file_is_written(client: Client, file: str, tmp_path: Path) -> None:
    reply = await client.post("/api/library/mill", json={"file": file, "text": LORE})
    assert (reply.status, reply.error["param"]) == (400, "file")
    assert [each.name for each in (tmp_path / "worlds" / "mill").iterdir()] == ["LOREBOOK.md"]


async def test_a_world_that_came_with_saga_is_not_written_in_place(client: Client) -> None:
    listed = {each["name"]: each for each in (await client.get("/api/library")).json["worlds"]}
    assert (listed["mill"]["writable"], listed["harrow"]["writable"]) == (True, False)
    kept = (await client.get("/api/library/harrow")).json["files"]
    body = {"file": "WORLD.md", "text": kept["WORLD.md"] + "\n"}
    refused = await client.post("/api/library/harrow", json=body)
    assert refused.status == 501 and "came with SAGA" in refused.error["message"]
    assert (await client.get("/api/library/harrow")).json["files"] == kept
