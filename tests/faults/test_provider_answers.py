"""A provider that answers wrongly: the player sees the reply or a proper error, and never half a turn that counts."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from aiohttp import web

from saga_server.process.metrics import Metrics
from tests.faults.test_models import known
from tests.server.client import Client, words
from tests.server.conftest import Serve
from tests.server.upstream import Received, Step, Upstream, chunk, raw

JSON = "application/json"
STORY = words("간다.")


def events(*data: Any, rest: bytes = b"") -> bytes:
    told = (each if isinstance(each, bytes) else json.dumps(each).encode() for each in data)
    return b"".join(b"data: %s\n\n" % each for each in told) + rest


def whole(text: str, usage: str) -> bytes:
    choice = {"index": 0, "message": {"content": text}, "finish_reason": "stop"}
    return json.dumps({"choices": [choice], "usage": "?"}).replace('"?"', usage).encode()


def answers(status: int, body: bytes = b"", **headers: str) -> Step:
    async def step(request: web.Request, received: Received) -> web.StreamResponse:
        return web.Response(status=status, body=body, headers={k.replace("_", "-"): v for k, v in headers.items()})

    return step


FAILS: dict[str, tuple[Step, int, str]] = {
    "half a line of JSON": (raw(b'data: {"choices":[{"del'), 502, "sent an event that is not JSON"),
    "an error in a 200": (raw(events({"error": {"message": "quota of sk-up", "code": 429}})), 429, "quota of (key)"),
    "an error in a 200, whole": (raw(b'{"error":{"message":"bad"}}', JSON), 502, "reported: bad"),
    "a page": (raw(b"<html>Sign in", "text/html"), 502, "a web page"),
    "nothing": (raw(b""), 502, "in the middle"),
    "nothing that is JSON": (raw(b"", JSON), 502, "not JSON"),
    "a list": (raw(b"[]", JSON), 502, "sent a list"),
    "no choices": (raw(b'{"choices":null}', JSON), 502, "without choices"),
    "levels without end": (raw(b'{"a":' * 100_000, JSON), 502, "not JSON"),
    "levels in an event": (raw(b"data: " + b"[" * 100_000 + b"\n\n"), 502, "not JSON"),
    "no content": (answers(204), 502, "127.0.0.1"),
    "what is not packed": (answers(200, b"no", Content_Encoding="gzip", Content_Type=JSON), 502, "broke off"),
    "elsewhere": (answers(307, Location="http://127.0.0.1:9/v1"), 502, "no redirect is followed"),
}

WORKS: dict[str, tuple[bytes, str, str]] = {
    "nothing to say": (b'{"choices":[]}', JSON, ""),
    "null": (b'{"choices":[{"message":{"content":null},"finish_reason":7}]}', JSON, ""),
    "no UTF-8": (events(b'{"choices":[{"delta":{"content":"\xff"},"finish_reason":"stop"}]}'), "", "\ufffd"),
    "half a character": (
        events(b'{"choices":[{"delta":{"content":"a\\ud83d"},"finish_reason":"stop"}]}'),
        "",
        "a\ud83d",
    ),
    "a NUL": (events(b'{"choices":[{"delta":{"content":"a\\u0000b"},"finish_reason":"stop"}]}'), "", "a\x00b"),
    "choices that nobody asked for": (
        events(chunk({"content": "a"}, index=10**9), chunk({"content": "b"}, finish="stop"), b"[DONE]"),
        "",
        "b",
    ),
    "a bill beyond all numbers": (whole("비가 온다.", f'{{"prompt_tokens": {"9" * 400}}}'), JSON, "비가 온다."),
    "a bill of nothing": (whole("비가 온다.", '{"prompt_tokens": -1, "completion_tokens": "2"}'), JSON, "비가 온다."),
}


@pytest.fixture
async def impatient(serve: Serve, upstream: Upstream) -> Any:
    provider = {"base_url": upstream.url, "api_key": "sk-up", "max_retries": 0, "timeout": 3.0}
    async with serve(providers={"openai": provider}) as client:
        yield client


async def test_it_fails(impatient: Client, upstream: Upstream) -> None:
    first = await impatient.chat(STORY)
    for kind, (step, status, told) in FAILS.items():
        for stream in (False, True):
            upstream.then(step)
            refused = await impatient.chat(words("간다.", first.text, "더 간다."), stream=stream)
            assert (refused.status, told in refused.error["message"]) == (status, True), (kind, refused.raw)
    assert await known(impatient, first.session) == ["간다.", first.text]


async def test_it_works(impatient: Client, upstream: Upstream) -> None:
    first = await impatient.chat(STORY)
    seen = ["간다.", first.text]
    for kind, (body, media, shown) in WORKS.items():
        for stream in (False, True):
            upstream.then(raw(body, media or "text/event-stream"))
            reply = await impatient.chat(words(*seen, f"{kind}, {stream}."), stream=stream)
            assert reply.status == 200, (kind, reply.raw)
            assert (reply.streamed() if stream else reply.text) == shown, kind
            assert not stream or reply.events[-1] == "[DONE]", kind
            seen += [f"{kind}, {stream}.", shown] if shown else []
    assert [text.replace("\ufffd", "") for text in await known(impatient, first.session)][-2:] == seen[-2:]
    assert len(await known(impatient, first.session)) == len(seen)


async def test_headers_and_then_nothing(impatient: Client, upstream: Upstream) -> None:
    async def silent(request: web.Request, received: Received) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await asyncio.Event().wait()
        raise AssertionError("the event is never set")

    upstream.then(silent)
    refused = await impatient.chat(STORY, stream=True)
    assert (refused.status, refused.error["type"]) == (504, "upstream_timeout")
    assert (await impatient.chat(STORY)).status == 200


async def test_half_a_line_in_mid_reply(impatient: Client, upstream: Upstream) -> None:
    """What was shown is kept, and the stream ends with what went wrong."""
    first = await impatient.chat(STORY)
    upstream.then(raw(events(chunk({"content": "새가 "}), rest=b'data: {"choices":[{"delta":{"content":"\xec\x83')))
    broken = await impatient.chat(words("간다.", first.text, "듣는다."), stream=True)
    assert broken.streamed() == "새가 " and broken.events[-1] == "[DONE]"
    assert "not JSON" in broken.events[-2]["error"]["message"]
    assert await known(impatient, first.session) == ["간다.", first.text, "듣는다.", "새가 "]


async def test_a_redirect_is_asked_nothing(impatient: Client, upstream: Upstream) -> None:
    """Where requests go, and a key with them, is the configuration's word alone."""
    async with Upstream() as elsewhere:
        for status in (301, 302, 303, 307, 308):
            upstream.then(answers(status, Location=f"{elsewhere.url}/chat/completions"))
            refused = await impatient.chat(STORY)
            assert refused.status == 502
            assert f"127.0.0.1:{elsewhere.port}" in refused.error["message"]
        assert elsewhere.requests == []


async def test_what_goes_wrong_behind_a_reply_ends_its_stream_visibly(
    impatient: Client, upstream: Upstream, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> None:
        raise OverflowError("int too large to convert to float")

    monkeypatch.setattr(Metrics, "used", broken)
    reply = await impatient.chat(STORY, stream=True)
    assert reply.streamed() and reply.events[-1] == "[DONE]"
    assert reply.events[-2]["error"]["type"] == "server_error"
    assert "OverflowError" in caplog.text
