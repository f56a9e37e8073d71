"""Providers that send more than anybody says, or what is nearly the API's: an error that names it, or a reply."""

from __future__ import annotations

import gzip
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web

from saga_backends.chat.openai.client import BACKEND
from saga_backends.chat.reply_size import MOST_BESIDE, MOST_TEXT, ReplySize
from saga_core.errors import UpstreamError
from saga_core.messages import Block, Origin, PromptPlan
from saga_core.ports import ChatPart, ChatRequest, ExtraPart, TextPart
from saga_core.registry import OpenOptions

PLAN = PromptPlan((Block("user", "I open the door.", Origin.WORDS),))


@asynccontextmanager
async def answering(body: bytes, status: int = 200, **headers: str) -> AsyncIterator[Any]:
    """A model at a server that answers everything with ``body``."""

    async def answer(_: web.Request) -> web.Response:
        return web.Response(body=body, status=status, headers={"Content-Type": "application/json", **headers})

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    address = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    model = await BACKEND.open(OpenOptions(options={"base_url": address, "max_retries": 0}))
    yield model
    await model.aclose()
    await runner.cleanup()


async def replied(model: Any, *, streaming: bool = False) -> list[ChatPart]:
    return [part async for part in model.stream(ChatRequest(PLAN, "m", {}), streaming=streaming)]


def whole(message: Mapping[str, Any]) -> bytes:
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", **message}}
    return json.dumps({"choices": [choice]}).encode()


@pytest.mark.parametrize("packed", [True, False])
async def test_a_reply_in_one_piece_is_bounded(packed: bool) -> None:
    """A packed one as it is unpacked: 40 MB come as 40 KB."""
    body = whole({"content": "a" * 40_000_000})
    packing = {"Content-Encoding": "gzip"} if packed else {}
    async with answering(gzip.compress(body, 1) if packed else body, **packing) as model:
        with pytest.raises(UpstreamError, match="more than 32 MB"):
            await replied(model)


async def test_a_text_is_bounded_however_it_comes() -> None:
    async with answering(whole({"content": "a" * (MOST_TEXT + 1)})) as model:
        with pytest.raises(UpstreamError, match="more than 4,000,000 characters"):
            await replied(model)
    size = ReplySize("host")
    for _ in range(4):
        size.of(TextPart("a" * (MOST_TEXT // 4)))
    with pytest.raises(UpstreamError, match="more than 4,000,000 characters"):
        size.of(TextPart("a"))


async def test_what_stands_beside_it_is_bounded() -> None:
    size = ReplySize("host")
    size.of(ExtraPart({"images": [{"url": "a" * (MOST_BESIDE - 10)}]}))
    with pytest.raises(UpstreamError, match="beside its reply"):
        size.of(ExtraPart({"tool_calls": [{"function": {"arguments": "{}" * 10}}]}))


@pytest.mark.parametrize("body", [b"[" * 100_000, b'{"error": ' + b"[" * 100_000, b"x" * 3_000_000])
async def test_a_refusal_of_any_shape_is_an_error_of_the_provider(body: bytes) -> None:
    async with answering(body, 500) as model:
        with pytest.raises(UpstreamError, match="answered 500") as told:
            await replied(model)
    assert len(str(told.value)) < 1_000


@pytest.mark.parametrize(
    ("given", "calls"),
    [
        ([{"id": "c1", "function": {"name": "roll", "arguments": {"sides": 20}}}], ['{"sides": 20}']),
        ([{"id": "c1", "function": {"name": "roll", "arguments": ["a", "가"]}}], ['["a", "가"]']),
        ([{"id": "c1", "function": {"name": "roll", "arguments": None}}], [None]),
        ([{"id": "c1", "function": {"name": 5, "arguments": None}}], [""]),
        ([{"id": "c1", "function": "roll"}, "no call"], [None]),
        ({}, []),
        ("no", []),
    ],
)
async def test_calls_of_tools_are_as_the_api_has_them(given: Any, calls: list[str | None]) -> None:
    async with answering(whole({"content": "Hm.", "tool_calls": given})) as model:
        found = await replied(model)
    extra = [part.fields["tool_calls"] for part in found if isinstance(part, ExtraPart)]
    assert [call["function"].get("arguments") for each in extra for call in each] == calls
    assert "".join(part.text for part in found if isinstance(part, TextPart)) == "Hm."


async def test_a_mark_of_the_byte_order_is_no_part_of_the_first_event() -> None:
    chunk = {"choices": [{"index": 0, "delta": {"content": "It rains."}, "finish_reason": "stop"}]}
    body = b"\xef\xbb\xbfdata: " + json.dumps(chunk).encode() + b"\n\ndata: [DONE]\n\n"
    async with answering(body, **{"Content-Type": "text/event-stream"}) as model:
        found = await replied(model, streaming=True)
    assert [part.text for part in found if isinstance(part, TextPart)] == ["It rains."]


async def test_no_cookie_is_kept() -> None:
    """It would go out with the calls of other players, and heads would grow until no server takes them."""
    async with answering(whole({"content": "Hm."}), **{"Set-Cookie": "session=of-alice; Path=/"}) as model:
        await replied(model)
        assert len(model.calls.client.cookies.jar) == 0
