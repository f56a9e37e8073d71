"""Providers that send more than anybody says, or what is nearly the API's: an error that names it, or a reply."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
from aiohttp import web

from saga_backends import json_text
from saga_backends.chat import client
from saga_backends.chat.anthropic import MessagePieces
from saga_backends.chat.event_lines import EventLines
from saga_backends.chat.gemini import GeminiPieces
from saga_backends.chat.openai import BACKEND, MOST_CHOICES, ChatPieces
from saga_backends.chat.patience import BILL_SECONDS, Patience
from saga_backends.chat.reply import MOST_BESIDE, MOST_TEXT, ModelReply
from saga_backends.json_text import MOST_IN_EVENT, MOST_VALUES, TooManyValues, read_text
from saga_backends.provider_error import Blame
from saga_core.errors import UpstreamError
from saga_core.messages import Block, Origin, PromptPlan
from saga_core.ports import AdjustedPart, ChatPart, ChatRequest, ExtraPart, FinishPart, TextPart, Usage, UsagePart
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


def delta(**fields: Any) -> str:
    return json.dumps({"choices": [{"index": 0, "delta": fields}]})


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
    reply = ModelReply(BLAME, ChatPieces())
    for _ in range(4):
        list(reply.event(delta(content="a" * (MOST_TEXT // 4))))
    with pytest.raises(UpstreamError, match="more than 4,000,000 characters"):
        list(reply.event(delta(content="a")))


async def test_a_refusal_is_bounded_like_a_text() -> None:
    reply = ModelReply(BLAME, ChatPieces())
    list(reply.event(delta(refusal="a" * (MOST_TEXT - 10))))
    with pytest.raises(UpstreamError, match="sent a reply of more than"):
        list(reply.event(delta(refusal="a" * 20)))


async def test_what_stands_beside_it_is_bounded() -> None:
    reply = ModelReply(BLAME, ChatPieces())
    list(reply.event(delta(images=[{"url": "a" * (MOST_BESIDE - 10)}])))
    with pytest.raises(UpstreamError, match="beside its reply"):
        list(reply.event(delta(tool_calls=[{"function": {"arguments": "{}" * 10}}])))


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


@pytest.mark.parametrize("count", ["1" + "0" * 30, "1" + "0" * 5_000, "-" + "9" * 5_000])
@pytest.mark.parametrize("streaming", [False, True])
async def test_a_count_beyond_all_measure_is_unknown_and_the_reply_is_kept(count: str, streaming: bool) -> None:
    bill = f', "usage": {{"prompt_tokens": {count}, "completion_tokens": 3}}}}'
    body = whole({"content": "The wind turns."})[:-1] + bill.encode()
    kind = "application/json"
    if streaming:
        body, kind = b"data: " + body.replace(b'"message"', b'"delta"') + b"\n\n", "text/event-stream"
    async with answering(body, **{"Content-Type": kind}) as model:
        parts = await replied(model, streaming=streaming)
    assert TextPart("The wind turns.") in parts
    assert parts[-1] == UsagePart(Usage(input=0, output=3))


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
        assert len(model.http.cookies.jar) == 0


BLAME = Blame("openai", "host", 1.0)


def test_values_are_counted_before_they_are_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    class Parsing:
        def decode(self, text: str) -> Any:
            raise AssertionError("it is parsed")

    monkeypatch.setattr(json_text, "_DECODER", Parsing())
    for many in ("{}," * MOST_VALUES, "0," * MOST_VALUES, "[" * (MOST_VALUES + 1), '"",' * 4 * MOST_VALUES):
        with pytest.raises(TooManyValues, match="more than 1,000,000 values"):
            read_text(f"[{many}0]")
    with pytest.raises(AssertionError):
        read_text("[" + "{}," * (MOST_VALUES // 3) + "0]")


def test_signs_within_a_text_are_no_values() -> None:
    said = 'Well, "he said", [and] {so} \\ on, ' * 200_000
    assert read_text(json.dumps({"content": said}), MOST_IN_EVENT) == {"content": said}


@pytest.mark.parametrize(
    "reader", [ModelReply(BLAME, ChatPieces()), ModelReply(BLAME, MessagePieces()), ModelReply(BLAME, GeminiPieces())]
)
def test_an_event_of_very_many_values_is_refused(reader: Any) -> None:
    with pytest.raises(UpstreamError, match="more than 100,000 values"):
        list(reader.event('{"choices":[' + "{}," * MOST_IN_EVENT + "{}]}"))
    with pytest.raises(UpstreamError, match="more than 1,000,000 values"):
        list(reader.whole(b'{"choices":[' + b"{}," * MOST_VALUES + b"{}]}"))


def test_a_chunk_of_very_many_choices_is_refused() -> None:
    most = json.dumps({"choices": [{}] * MOST_CHOICES})
    assert list(ModelReply(BLAME, ChatPieces()).event(most)) == []
    with pytest.raises(UpstreamError, match="129 choices at once, more than 128"):
        list(ModelReply(BLAME, ChatPieces()).event(json.dumps({"choices": [{}] * (MOST_CHOICES + 1)})))


async def test_a_compressed_stream_is_read_in_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """A packet of a few kilobytes unpacks to millions of empty lines."""
    sizes: list[int] = []

    class Measured(EventLines):
        def feed(self, chunk: bytes) -> Iterator[str]:
            sizes.append(len(chunk))
            yield from EventLines.feed(self, chunk)

    monkeypatch.setattr(client, "EventLines", Measured)
    said = b'data: {"choices":[{"index":0,"delta":{"content":"It rains."},"finish_reason":"stop"}]}\n\n'
    body = gzip.compress(b"\n" * 8_000_000 + said + b"data: [DONE]\n\n")
    async with answering(body, **{"Content-Type": "text/event-stream", "Content-Encoding": "gzip"}) as model:
        found = await replied(model, streaming=True)
    assert [part.text for part in found if isinstance(part, TextPart)] == ["It rains."]
    assert sum(sizes) > 8_000_000
    assert max(sizes) <= 64 * 1_024


@pytest.mark.parametrize("streaming", [True, False])
async def test_texts_of_a_provider_can_be_encoded(streaming: bool) -> None:
    """JSON can escape half of a pair of surrogates, which UTF-8 cannot encode.

    A streamed text keeps it, because the other half may come in the next piece. It is replaced when it is recorded.
    """
    said = {"content": "A\ud800 cat \U0001f408", "reasoning": ["\udfff"], "na\ud83dme": "x"}
    choice = {"index": 0, "finish_reason": "\ud800", "delta" if streaming else "message": said}
    body = json.dumps({"choices": [choice]}).encode()
    kind = "text/event-stream" if streaming else "application/json"
    async with answering(b"data: " + body + b"\n\n" if streaming else body, **{"Content-Type": kind}) as model:
        found = await replied(model, streaming=streaming)
    assert found == [
        ExtraPart({"reasoning": ["\ufffd"], "na\ufffdme": "x"}),
        TextPart("A" + chr(0xD800 if streaming else 0xFFFD) + " cat \U0001f408"),
        FinishPart("stop"),
    ]


async def test_the_reason_of_a_refusal_can_be_encoded() -> None:
    body = json.dumps({"error": {"message": "no\ud800", "type": "t\udfff"}}).encode()
    async with answering(body, 400) as model:
        with pytest.raises(UpstreamError) as told:
            await replied(model)
    f"{told.value} {told.value.kind}".encode()


@pytest.mark.parametrize(
    "nothing", [b": wait\n\n", b'data: {"choices":[{"index":0,"delta":{"content":""}}]}\n\n', b"\n"]
)
async def test_signs_of_life_alone_are_awaited_for_a_limited_time(nothing: bytes) -> None:
    async with dripping(nothing) as model, asyncio.timeout(20):
        with pytest.raises(UpstreamError, match="sent nothing of a reply for 3 times as long") as told:
            await replied(model, streaming=True)
    assert (told.value.status, told.value.kind) == (504, "upstream_timeout")


async def test_a_body_that_drips_is_awaited_for_a_limited_time() -> None:
    async with dripping(b" ", kind="application/json") as model:
        async with asyncio.timeout(20):
            with pytest.raises(UpstreamError, match="sent nothing of a reply for 3 times as long"):
                await replied(model)


async def test_comments_behind_the_end_of_a_reply_do_not_keep_it_open() -> None:
    said = b'data: {"choices":[{"index":0,"delta":{"content":"It rains."},"finish_reason":"stop"}]}\n\n: hal'
    async with dripping(b": x\n\n", said) as model:
        async with asyncio.timeout(20):
            found = await replied(model, streaming=True)
    assert found == [TextPart("It rains."), FinishPart("stop")]


async def test_the_other_choices_are_awaited() -> None:
    reader = ModelReply(BLAME, ChatPieces(), choices=2)
    list(reader.event('{"choices":[{"index":0,"delta":{"content":"One."},"finish_reason":"stop"}]}'))
    assert not reader.complete
    list(reader.event('{"choices":[{"index":1,"delta":{"content":"Two."},"finish_reason":"stop"}]}'))
    assert reader.complete


def test_content_renews_the_patience_and_nothing_else_does() -> None:
    patience = Patience(10.0, BLAME.silent)
    assert patience.left == 30.0
    patience._waited = 25.0
    for nothing in (AdjustedPart("n", "why"), ExtraPart({}), ExtraPart({"refusal": "", "tool_calls": []})):
        patience.heard(nothing)
        assert patience.left == 5.0
    for content in (TextPart("a"), ExtraPart({"reasoning": "a"}), FinishPart("stop"), UsagePart(Usage(1, 1))):
        patience._waited = 25.0
        patience.heard(content)
        assert patience.left == 30.0
    patience.completed()
    assert patience.left == BILL_SECONDS
    patience._waited = 4.0
    patience.completed()
    assert patience.left == BILL_SECONDS - 4.0


@asynccontextmanager
async def dripping(piece: bytes, first: bytes = b"", kind: str = "text/event-stream") -> AsyncIterator[Any]:
    """A model at a server that sends ``first`` and then ``piece`` without end. It may be silent for 0.1 seconds."""

    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": kind})
        await response.prepare(request)
        with suppress(ConnectionError):
            await response.write(first)
            while True:
                await response.write(piece)
                await asyncio.sleep(0.01)
        return response

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    address = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    model = await BACKEND.open(OpenOptions(options={"base_url": address, "max_retries": 0, "timeout": 0.1}))
    yield model
    await model.aclose()
    await runner.cleanup()
