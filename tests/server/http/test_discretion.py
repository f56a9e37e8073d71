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
from saga_server.process.masking import Mask
from tests.server.client import Client, words
from tests.server.upstream import Upstream, fails

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
            "model_path": "/srv/models/m.gguf",
            "default_generation_settings": {"prompt": SECRET, "slots": [{"prompt": SECRET}]},
        }

    monkeypatch.setattr(text, "relayed", told)
    assert SECRET in (await admin.get("/props")).raw.decode()
    reply = await player.get("/props")
    assert reply.json["model_path"] == "m.gguf" and SECRET not in reply.raw.decode()


WHERE = ("10.0.0.5", "127.0.0.1", "models.internal", "ollama:11434", "[fd00::7]", "/srv", "token=", "C:\\saga")
SAID = f"no http://us:er@10.0.0.5/v1?token=x, {', '.join(WHERE[2:5])}, [fd00::7]:80, /srv/saga/m.gguf, C:\\saga\\x"


async def test_where_a_provider_is_administrators_alone_are_told() -> None:
    async with Upstream() as upstream:
        provider = {"base_url": upstream.url, "max_retries": 0}
        tree = {"server": {"api_keys": [ADMIN]}, "providers": {"openai": provider}}
        async with Client.of(tree, {}) as found:
            admin = Client(found.server, found.http, ADMIN)
            made = await admin.post("/api/keys", json={"name": "one"})
            player = Client(found.server, found.http, made.json["secret"])
            for step in (fails(401, SAID), fails(500, SAID), fails(302, location="http://10.0.0.5/x?token=abc")):
                for stream in (False, True):
                    upstream.then(step, step)
                    full = (await admin.chat(words("hello"), stream=stream)).raw.decode()
                    short = (await player.chat(words("hello"), stream=stream)).raw.decode()
                    assert "127.0.0.1" in full and "token=abc" not in full
                    assert "answered" in short and not [each for each in WHERE if each in short]
    plain = "api.openai.com answered 401; a turn at 10:30, see POST /api/sessions/s1/fork and docs/http.md"
    assert Mask(()).for_players(plain) == plain


async def test_a_stranger_is_told_no_path_by_readyz(
    two: tuple[Client, Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    admin, _ = two

    async def fails_to(*_: Any, **__: Any) -> None:
        raise StoreUnavailable("/srv/saga/state.db: the disk is full")

    state: Any = admin.server.saga.stores.state
    monkeypatch.setattr(type(state._inner), "commit", fails_to)
    for one in (admin, Client(admin.server, admin.http, "")):
        found = await one.get("/readyz")
        assert found.status == 503 and "the disk is full" in found.json["reason"]
        assert "/srv" not in found.raw.decode()
