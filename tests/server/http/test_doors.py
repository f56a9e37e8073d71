"""Where the doors are: every path leads to a handler, whatever stands before it and however many slashes are in it."""

from __future__ import annotations

from typing import Any

import pytest

from saga_server.http.doors.routes import _load
from saga_server.http.doors.table import BASES, DOORS, find
from tests.server.client import Client, words
from tests.server.conftest import Serve

HELLO = words("I look around.")


@pytest.mark.parametrize("name", sorted({name for door in DOORS.values() for name in door.handlers.values()}))
def test_every_door_has_a_handler(name: str) -> None:
    assert callable(_load(name))


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("end", ["", "/", "//"])
def test_a_path_is_found_below_every_base(base: str, end: str) -> None:
    for path in DOORS:
        place = find(base.format(session="my%20chat", world="%ED%95%9C") + path + end)
        assert place is not None
        assert place.path == path
        assert place.session == ("my chat" if "session" in base else "")
        assert place.world == ("한" if "world" in base else "")


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "",
        "/v1",
        "/s/x",
        "/s/x/v1",
        "/api/status",
        "/api//status",
        "/api/v1/generate/x",
        "/api/sessions/v1/chat/completions",
        "/s/x/api/status",
        "/s/x/s/y/v1/models",
        "/V1/models",
        "/v1%2Fmodels",
    ],
)
def test_what_is_no_door(path: str) -> None:
    assert find(path) is None


@pytest.mark.parametrize("path", ["/v1/chat/completions/", "/v1//chat/completions", "/chat//completions//"])
async def test_a_slash_too_many_is_no_other_path(offline: Client, path: str) -> None:
    assert (await offline.chat(HELLO, path=path)).status == 200
    assert (await offline.get("/v1/models/")).status == 200
    assert (await offline.get("/api/extra/version/")).json["result"] == "KoboldCpp"


async def test_a_path_that_is_none_names_the_doors(offline: Client) -> None:
    told = (await offline.post("/v1/chat/complete", json={})).error["message"]
    for door in ("/v1/chat/completions", "/v1/messages", "/v1/completions", "/api/v1/generate", "/completion"):
        assert door in told
    wrong = await offline.get("/v1/chat/completions")
    assert (wrong.status, wrong.headers["Allow"]) == (405, "POST")


async def test_what_is_no_door_is_not_open_to_who_may_only_chat(serve: Serve) -> None:
    keys = {"api_keys": ["all-of-it-1"], "chat_keys": ["chats-only-1"]}
    headers = {"Authorization": "Bearer chats-only-1"}
    async with serve(server=keys) as client:
        assert (await client.chat(HELLO, headers=headers)).status == 200
        for path in ("/api/status", "/api//status", "/s/x/api/status", "/v1/nothing", "/api/sessions/models"):
            refused: Any = await client.get(path, headers=headers)
            assert refused.status == 403, path


async def test_the_heads_of_a_door_are_told(offline: Client) -> None:
    async with offline.request("HEAD", "/v1/models") as response:
        assert (response.status, await response.read()) == (200, b"")


@pytest.mark.parametrize(
    ("path", "model", "verb"),
    [
        ("/v1/models/qwen3:14b", "qwen3:14b", None),
        ("/v1/models/llama3:latest/", "llama3:latest", None),
        ("/models/up/narrator-1", "up/narrator-1", None),
        ("/v1beta/models/gemini-2.5-flash:streamGenerateContent", "gemini-2.5-flash", "streamGenerateContent"),
        ("/v1/models/qwen3:14b:generateContent", "qwen3:14b", "generateContent"),
        ("/s/x/v1beta/tunedModels/mine:countTokens", "tunedModels/mine", "countTokens"),
        ("/v1beta/models/a%2Fb:generateContent", "a/b", "generateContent"),
    ],
)
def test_a_path_names_its_model(path: str, model: str, verb: str | None) -> None:
    place = find(path)
    assert place is not None
    assert (place.named["model"], place.named.get("verb")) == (model, verb)
