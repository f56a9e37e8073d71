"""A provider's error may quote keys and passwords of others: neither clients nor the log show them."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator

import pytest

from saga_server.process.logs import formatter, secrets_of
from tests.server.client import Client, words
from tests.server.conftest import Serve
from tests.server.upstream import Upstream, errors, fails

KEYS = {"api_keys": ["admin-key-1"], "chat_keys": ["friends-of-ersia-7"]}
PROVIDER = {"api_key": "sk-up", "max_retries": 0}


@pytest.fixture
async def two(upstream: Upstream, serve: Serve) -> AsyncIterator[tuple[Client, str]]:
    """A client with a player's key, and an error text with secrets that are not that player's."""
    provider = {**PROVIDER, "base_url": upstream.url}
    models = {"narration": "openai/narrator-1", "fallback": ["openai/narrator-2"], "extraction": "openai/reader"}
    async with serve(providers={"openai": provider}, models=models, server=KEYS) as admin:
        admin.key = "admin-key-1"
        mine, others = [(await admin.post("/api/keys", json={"name": name})).json["secret"] for name in ("a", "b")]
        quoted = f"{others} and friends-of-ersia-7 are no keys of http://saga:geheim-door@10.0.0.1/v1"
        yield Client(admin.server, admin.http, mine), quoted


def hidden(text: str, quoted: str) -> bool:
    """Whether no secret of ``quoted`` is in ``text``."""
    return not any(secret in text for secret in (quoted.partition(" ")[0], "friends-of-ersia-7", "geheim-door"))


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/messages"])
@pytest.mark.parametrize("stream", [False, True])
async def test_an_error_and_a_notice(
    two: tuple[Client, str], upstream: Upstream, caplog: pytest.LogCaptureFixture, path: str, stream: bool
) -> None:
    caplog.set_level(logging.DEBUG, logger="saga")
    player, quoted = two
    chat = {"messages": words("I look around.", system=None), "max_tokens": 3_000, "stream": stream}
    upstream.then(fails(400, quoted))
    refused = await player.post(path, json=chat)
    upstream.then(fails(500, quoted))
    replaced = await player.post(path, json=chat)
    upstream.then(errors("The rain", message=quoted))
    broken = await player.post(path, json={**chat, "stream": True})
    assert (refused.status, replaced.status, broken.status) == (400, 200, 200)
    assert "(key) and (key) are no keys of (address)" in refused.raw.decode()
    assert "narrates instead of" in replaced.headers["X-SAGA-Notice"]
    assert b"are no keys of" in broken.raw
    for answer in (refused, replaced, broken):
        assert hidden(answer.raw.decode() + str(answer.headers), quoted)
    forms = [formatter("text", secrets_of(player.server.config, {}))]
    logged = [form.format(record) for record in caplog.records if record.name.startswith("saga") for form in forms]
    assert any("are no keys of" in line for line in logged) and all(hidden(line, quoted) for line in logged)


async def test_the_reason_why_work_waits(two: tuple[Client, str], upstream: Upstream) -> None:
    player, quoted = two
    admin = Client(player.server, player.http, "admin-key-1")
    reply = await player.chat(words("I look around."))
    upstream.script.clear()
    upstream.otherwise = fails(400, quoted)  # the reply had no block, so the turn is read afterwards
    async with admin.request("GET", "/api/events") as events:
        drained = await admin.post("/api/drain", params={"timeout": "5"})
        told = b""
        while b"degraded" not in told:
            told += await events.content.readany()
    jobs = await player.get("/api/jobs", params={"session": reply.session})
    answers = [drained, jobs, await admin.get("/api/status"), await admin.get("/api/log")]
    assert b"are no keys of" in b"".join(answer.raw for answer in answers) + told
    assert all(hidden(answer.raw.decode(), quoted) for answer in answers)
    assert hidden(told.decode(), quoted)
