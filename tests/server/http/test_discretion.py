"""What a failure tells a player: nothing of where the server keeps its files, and nothing out of files of others."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from saga_core.errors import (
    BadInput,
    Conflict,
    NotFound,
    OwnedElsewhere,
    SagaError,
    StoreCorrupt,
    StoreUnavailable,
)
from saga_server.doors import text
from saga_server.http.callers.redaction import redact
from saga_server.http.errors import describe
from tests.server.client import Client, words

ADMIN = "admin-key-1"
SECRET = "Quillfeather"


@pytest.fixture
async def two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[tuple[Client, Client]]:
    """An administrator and a player, of a server with a world that cannot be read."""
    folder = tmp_path / "worlds" / "broken"
    folder.mkdir(parents=True)
    (folder / "LOREBOOK.md").write_text(f"## {SECRET}\n- type: {SECRET}\n\nOf {SECRET}.\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    async with Client.of({"server": {"api_keys": [ADMIN]}}, {}) as found:
        found.server.saga.worlds.roots = (tmp_path / "worlds", *found.server.saga.worlds.roots)
        admin = Client(found.server, found.http, ADMIN)
        made = (await admin.post("/api/keys", json={"name": "one"})).json
        yield admin, Client(found.server, found.http, made["secret"])


@pytest.mark.parametrize("world", ["nowhere", "broken"])
async def test_what_is_wrong_with_a_world_is_for_administrators(two: tuple[Client, Client], world: str) -> None:
    admin, player = two
    for tell in (
        lambda client: client.post("/api/sessions", json={"world": world}),
        lambda client: client.chat(words("hello"), headers={"X-SAGA-World": world}),
        lambda client: client.chat(words("hello"), path=f"/w/{world}/v1/chat/completions"),
    ):
        full, short = await tell(admin), await tell(player)
        assert (full.status, short.status) == (400, 400)
        assert SECRET in full.error["message"] and SECRET not in short.raw.decode()
        names = [name for name in admin.server.saga.worlds.names() if name != world]
        assert names and not [name for name in names if name in short.error["message"]]
    marked = await player.chat(words(f"[[saga:world={world}]] hello"))
    assert SECRET not in str(dict(marked.headers)) + marked.raw.decode()


async def test_what_a_store_says_is_for_administrators(
    two: tuple[Client, Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    admin, player = two
    session = (await player.chat(words("hello"))).session
    views = type(admin.server.saga.views)

    async def broken(*given: Any, **more: Any) -> Any:
        raise StoreCorrupt(f"/srv/saga/state.db: is damaged at {SECRET}")

    monkeypatch.setattr(views, "describe", broken)
    full = await admin.get(f"/api/sessions/{session}/state")
    short = await player.get(f"/api/sessions/{session}/state")
    assert (full.status, short.status) == (500, 500)
    assert SECRET in full.error["message"]
    assert "a store failed" in short.error["message"] and "/srv" not in short.raw.decode()


@pytest.mark.parametrize(
    ("error", "same"),
    [
        (BadInput("name: x"), True), (NotFound("there is no session 'x'"), True), (Conflict(("a",), "taken"), True),
        (StoreUnavailable("/srv/x"), False), (StoreCorrupt("/srv/x"), False),
        (OwnedElsewhere("s1", "db-7", "http://10.0.0.7:1"), False),
    ],
)  # fmt: skip
def test_what_tells_of_the_request_alone_is_told(error: SagaError, same: bool) -> None:
    found = redact(error)
    assert (found is error) == same
    assert same or not any(part in str(found) for part in ("/srv", "10.0.0.7", "db-7"))
    assert describe(found).status == describe(error).status


async def test_the_prompt_of_others_is_no_property_of_a_server(
    two: tuple[Client, Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    """llama.cpp tells among its settings what it was asked last."""
    admin, player = two

    async def told(*given: Any) -> Any:
        return {
            "model_path": "m.gguf",
            "default_generation_settings": {"prompt": SECRET, "slots": [{"prompt": SECRET}]},
        }

    monkeypatch.setattr(text, "relayed", told)
    assert SECRET in (await admin.get("/props")).raw.decode()
    reply = await player.get("/props")
    assert reply.json["model_path"] == "m.gguf" and SECRET not in reply.raw.decode()
