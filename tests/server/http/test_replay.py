"""The requests that a real client sent, over HTTP, in their order, each answered by the offline narrator."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.server.client import Client, Reply

FOLDER = Path(__file__).resolve().parents[3].parent / "shared" / "fixtures" / "sillytavern"

pytestmark = pytest.mark.skipif(
    not FOLDER.is_dir(), reason=f"the recorded requests are not part of the repository; they belong in {FOLDER}"
)

_NOT_SENT = ("host", "content-length", "connection", "accept-encoding")


def recorded() -> list[tuple[str, dict[str, Any]]]:
    found = []
    for file in sorted(FOLDER.glob("*.json")):
        case = json.loads(file.read_text(encoding="utf-8"))
        found += [(case["case"], request) for request in case.get("requests", ())]
    return found


async def replay(client: Client, request: dict[str, Any]) -> Reply:
    headers = {name: value for name, value in request["headers"].items() if name not in _NOT_SENT}
    body = request.get("body")
    return await client.send(request["method"], request["path"], headers=headers, json=body or None)


async def test_every_request_is_answered(offline: Client) -> None:
    requests = recorded()
    assert len(requests) > 40
    streamed = 0
    for case, request in requests:
        reply = await replay(offline, request)
        assert reply.status == 200, (case, reply.raw)
        body = request.get("body") or {}
        if request["method"] == "GET":
            assert reply.json["data"], case
        elif body.get("stream"):
            streamed += 1
            assert reply.events[-1] == "[DONE]", case
            assert reply.streamed(), case
            assert reply.events[-2]["choices"][0]["finish_reason"], case
        else:
            assert len(reply.json["choices"]) == (body.get("n") or 1), case
            assert all(choice["message"]["content"] for choice in reply.json["choices"]), case
        assert "```" not in (reply.streamed() if body.get("stream") else reply.raw.decode()), case
    assert streamed
    drained = (await offline.post("/api/drain")).json
    assert drained["settled"], drained
    status = (await offline.get("/api/status")).json
    assert status["degraded"] == {}
