from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from email.utils import formatdate
from time import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saga_backends.chat.event_lines import EventLines
from saga_backends.chat.openai import BACKEND, ChatPieces, OpenAIClient
from saga_backends.chat.reply import ModelReply
from saga_backends.provider_error import Blame
from saga_core.errors import BadInput, UpstreamError
from saga_core.messages import Block, Origin, PromptPlan
from saga_core.ports import ChatPart, ChatRequest, ExtraPart, FinishPart, TextPart, Usage, UsagePart
from saga_core.registry import OpenOptions
from tests.server.upstream import (
    Upstream,
    chunk,
    closed_port,
    errors,
    fails,
    hangs,
    raw,
    resets,
    says,
    truncates,
)

KEY = "sk-geheim-geheim-1"


def ask(words: str = "나는 문을 연다.", *, key: str | None = None, **params: Any) -> ChatRequest:
    plan = PromptPlan((Block("system", "Narrate.", Origin.CLIENT), Block("user", words, Origin.WORDS)))
    return ChatRequest(plan, "narrator-1", params, key)


async def opened(**options: Any) -> OpenAIClient:
    model: OpenAIClient = await BACKEND.open(OpenOptions(options={"max_retries": 0, "timeout": 5.0, **options}))
    return model


@pytest.fixture
async def upstream() -> AsyncIterator[Upstream]:
    async with Upstream() as server:
        yield server


@pytest.fixture
async def model(upstream: Upstream) -> AsyncIterator[OpenAIClient]:
    chat = await opened(base_url=upstream.url, api_key=KEY)
    yield chat
    await chat.aclose()


async def parts(model: OpenAIClient, request: ChatRequest, *, streaming: bool = True) -> list[ChatPart]:
    return [part async for part in model.stream(request, streaming=streaming)]


def text(found: list[ChatPart], index: int = 0) -> str:
    return "".join(part.text for part in found if isinstance(part, TextPart) and part.index == index)


async def failure(model: OpenAIClient, *, streaming: bool = True) -> tuple[UpstreamError, str]:
    """The error of a call, and the text that came before it."""
    got: list[ChatPart] = []
    with pytest.raises(UpstreamError) as caught:
        async for part in model.stream(ask(), streaming=streaming):
            got.append(part)
    assert KEY not in str(caught.value)
    return caught.value, text(got)


class TestReplies:
    @pytest.mark.parametrize("streaming", [True, False])
    async def test_text_finish_and_bill(self, upstream: Upstream, model: OpenAIClient, streaming: bool) -> None:
        upstream.then(says("비가 ", "그친다.", finish="length"))
        got = await parts(model, ask(), streaming=streaming)
        assert text(got) == "비가 그친다."
        assert FinishPart("length") in got
        assert got[-1] == UsagePart(Usage(input=100, output=20, cache_read=64))
        (request,) = upstream.requests
        assert request.body["stream"] is streaming
        assert request.messages == [
            {"role": "system", "content": "Narrate."},
            {"role": "user", "content": "나는 문을 연다."},
        ]
        assert request.headers["Authorization"] == f"Bearer {KEY}"

    @pytest.mark.parametrize("streaming", [True, False])
    async def test_several_choices(self, upstream: Upstream, model: OpenAIClient, streaming: bool) -> None:
        upstream.then(says("one", others=["둘"]))
        got = await parts(model, ask(n=2), streaming=streaming)
        assert (text(got, 0), text(got, 1)) == ("one", "둘")
        assert {part.index for part in got if isinstance(part, FinishPart)} == {0, 1}
        assert upstream.requests[0].body["n"] == 2

    async def test_unknown_fields_reach_the_provider(self, upstream: Upstream, model: OpenAIClient) -> None:
        upstream.lenient = True
        await parts(model, ask(temperature=0.9, min_p=0.05, dry={"multiplier": 0.8}, stop=["\n나:"]))
        body = upstream.requests[0].body
        assert (body["min_p"], body["dry"], body["stop"]) == (0.05, {"multiplier": 0.8}, ["\n나:"])

    async def test_half_a_character_is_sent_as_a_sign_for_it(self, upstream: Upstream, model: OpenAIClient) -> None:
        await parts(model, ask(user="rain \ud800"))
        assert upstream.requests[0].body["user"] == "rain \ufffd"

    async def test_the_clients_stream_options_are_kept_and_the_bill_is_asked_for(
        self, upstream: Upstream, model: OpenAIClient
    ) -> None:
        await parts(model, ask(stream_options={"chunk": 1, "include_usage": False}))
        assert upstream.requests[0].body["stream_options"] == {"chunk": 1, "include_usage": True}
        await parts(model, ask(stream_options={"include_usage": True}), streaming=False)
        assert "stream_options" not in upstream.requests[1].body

    async def test_a_server_that_knows_no_stream_options(self, upstream: Upstream, model: OpenAIClient) -> None:
        upstream.then(fails(422, "extra fields not permitted: stream_options"), says("a"), says("b", usage=None))
        assert text(await parts(model, ask())) == "a"
        got = await parts(model, ask())
        assert text(got) == "b"
        assert not [part for part in got if isinstance(part, UsagePart)]
        assert ["stream_options" in request.body for request in upstream.requests] == [True, False, False]

    @pytest.mark.parametrize("streaming", [True, False])
    async def test_fields_that_are_not_interpreted(
        self, upstream: Upstream, model: OpenAIClient, streaming: bool
    ) -> None:
        calls = [{"index": 0, "id": "c1", "type": "function", "function": {"name": "roll", "arguments": "{}"}}]
        upstream.then(says("x", extra={"tool_calls": calls, "reasoning_content": "음…", "refusal": None}))
        got = await parts(model, ask(), streaming=streaming)
        assert ExtraPart({"tool_calls": calls, "reasoning_content": "음…"}) in got

    async def test_a_key_of_the_client(self, upstream: Upstream, model: OpenAIClient) -> None:
        await parts(model, ask(key="sk-theirs"))
        assert upstream.requests[0].headers["Authorization"] == "Bearer sk-theirs"

    async def test_without_a_key_none_is_sent(self, upstream: Upstream, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-environment")
        model = await opened(base_url=upstream.url)
        await parts(model, ask())
        assert await model.models() == ["narrator-1", "narrator-2"]
        assert all("Authorization" not in request.headers for request in upstream.requests)
        await model.aclose()

    async def test_a_long_prompt_keeps_its_bytes(self, upstream: Upstream, model: OpenAIClient) -> None:
        words = "가\u2028나\x85다 \U0001f409 " * 20_000
        await parts(model, ask(words))
        assert upstream.requests[0].messages[1]["content"] == words


class TestLenience:
    async def test_a_whole_reply_where_a_stream_was_asked(self, upstream: Upstream, model: OpenAIClient) -> None:
        upstream.then(raw(b'{"choices":[{"message":{"content":"whole"},"finish_reason":"stop"}]}', "application/json"))
        assert text(await parts(model, ask())) == "whole"

    async def test_a_stream_where_a_whole_reply_was_asked(self, upstream: Upstream, model: OpenAIClient) -> None:
        upstream.then(raw(b'data: {"choices":[{"delta":{"content":"str"}}]}\n\ndata: [DONE]\n\n'))
        assert text(await parts(model, ask(), streaming=False)) == "str"

    async def test_done_without_a_finish_reason(self, upstream: Upstream, model: OpenAIClient) -> None:
        upstream.then(raw(b'data: {"choices":[{"delta":{"content":"a"}}]}\n\ndata: [DONE]\n\n'))
        assert text(await parts(model, ask())) == "a"

    async def test_a_finish_reason_without_done(self, upstream: Upstream, model: OpenAIClient) -> None:
        upstream.then(raw(b'data: {"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}\n\n'))
        assert text(await parts(model, ask())) == "a"

    async def test_comments_crlf_and_a_last_line_without_end(self, upstream: Upstream, model: OpenAIClient) -> None:
        upstream.then(
            raw(b': PROCESSING\r\n\r\nevent: x\r\ndata:{"choices":[{"delta":{"content":"a"}}]}\r\n\r\ndata: [DONE]')
        )
        assert text(await parts(model, ask())) == "a"

    async def test_unescaped_line_separators_inside_json(self, upstream: Upstream, model: OpenAIClient) -> None:
        words = "a\u2028b\x85c"
        upstream.then(raw(f'data: {{"choices":[{{"delta":{{"content":"{words}"}}}}]}}\n\ndata: [DONE]\n\n'.encode()))
        assert text(await parts(model, ask())) == words

    async def test_content_in_parts(self, upstream: Upstream, model: OpenAIClient) -> None:
        upstream.then(
            raw(b'data: {"choices":[{"delta":{"content":[{"type":"text","text":"a"},{"type":"x"}]}}]}\n\ndata: [DONE]')
        )
        assert text(await parts(model, ask())) == "a"


class TestFailures:
    async def test_refused(self) -> None:
        port = closed_port()
        model = await opened(base_url=f"http://127.0.0.1:{port}/v1", api_key=KEY)
        error, _ = await failure(model)
        assert (error.status, error.kind) == (502, "upstream_unreachable")
        assert f"cannot reach 127.0.0.1:{port}" in str(error)
        assert "providers.openai.base_url" in str(error)
        await model.aclose()

    async def test_silent(self, upstream: Upstream) -> None:
        upstream.otherwise = hangs()
        model = await opened(base_url=upstream.url, api_key=KEY, timeout=0.05)
        error, _ = await failure(model)
        assert (error.status, error.kind) == (504, "upstream_timeout")
        assert "providers.openai.timeout is 0.05 seconds" in str(error)
        await model.aclose()

    async def test_silent_in_mid_reply(self, upstream: Upstream) -> None:
        upstream.otherwise = hangs("옛날 옛적에")
        model = await opened(base_url=upstream.url, api_key=KEY, timeout=0.2)
        error, before = await failure(model)
        assert (error.status, before) == (504, "옛날 옛적에")
        await model.aclose()

    @pytest.mark.parametrize("streaming", [True, False])
    @pytest.mark.parametrize(
        ("status", "answered", "kind", "remedy"),
        [
            (400, 400, "invalid_request_error", "does not take this request"),
            (401, 401, "authentication_error", "api_keys.openai"),
            (403, 403, "permission_error", "check the key"),
            (404, 404, "not_found_error", "check the model's name"),
            (413, 413, "invalid_request_error", "does not take"),
            (500, 502, "upstream_error", "in trouble"),
            (502, 502, "upstream_error", "in trouble"),
            (503, 503, "upstream_error", "in trouble"),
            (529, 503, "overloaded_error", "in trouble"),
        ],
    )
    async def test_a_status(
        self,
        upstream: Upstream,
        model: OpenAIClient,
        streaming: bool,
        status: int,
        answered: int,
        kind: str,
        remedy: str,
    ) -> None:
        upstream.then(fails(status, f"because {KEY}", ""))
        error, _ = await failure(model, streaming=streaming)
        assert (error.status, error.kind, error.retry_after) == (answered, kind, None)
        assert f"answered {status} (because (key))" in str(error)
        assert f"127.0.0.1:{upstream.port}" in str(error)
        assert remedy in str(error)

    async def test_the_providers_own_kind_is_kept(self, upstream: Upstream, model: OpenAIClient) -> None:
        upstream.then(fails(400, "too long", "context_length_error"))
        assert (await failure(model))[0].kind == "context_length_error"

    async def test_a_wrong_key(self, upstream: Upstream, model: OpenAIClient) -> None:
        upstream.key = "another"
        error, _ = await failure(model)
        assert error.status == 401
        assert "sk-abc" not in str(error)

    @pytest.mark.parametrize(
        ("headers", "wait"),
        [
            ({"retry_after": "7"}, 7.0),
            ({"retry_after_ms": "1500"}, 1.5),
            ({"retry_after": "soon"}, None),
            ({"retry_after": "٣"}, None),
            ({"server": "٣", "retry_after": "7"}, 7.0),
            ({"retry_after": "nan"}, None),
            ({}, None),
        ],
    )
    async def test_too_many(
        self, upstream: Upstream, model: OpenAIClient, headers: dict[str, str], wait: float | None
    ) -> None:
        upstream.then(fails(429, "slow down", "rate_limit_error", **headers))
        error, _ = await failure(model)
        assert (error.status, error.kind, error.retry_after) == (429, "rate_limit_error", wait)

    async def test_too_many_until_a_date(self, upstream: Upstream, model: OpenAIClient) -> None:
        upstream.then(fails(429, retry_after=formatdate(time() + 100, usegmt=True)))
        wait = (await failure(model))[0].retry_after
        assert wait is not None
        assert 80 < wait <= 100

    async def test_it_tries_again_as_often_as_configured(self, upstream: Upstream) -> None:
        model = await opened(base_url=upstream.url, api_key=KEY, max_retries=1)
        upstream.then(fails(500, retry_after_ms="1"), says("a"))
        assert text(await parts(model, ask())) == "a"
        assert len(upstream.requests) == 2
        await model.aclose()

    @pytest.mark.parametrize("streaming", [True, False])
    async def test_a_web_page(self, upstream: Upstream, streaming: bool) -> None:
        model = await opened(base_url=f"http://127.0.0.1:{upstream.port}/html", api_key=KEY)
        error, _ = await failure(model, streaming=streaming)
        assert error.status == 502
        assert "web page" in str(error)
        assert "usually ends in /v1" in str(error)
        await model.aclose()

    @pytest.mark.parametrize("body", [b"<html>Bad gateway</html>", b"", b"null", b"[1]", b'"text"', b'{"error":"x"}'])
    @pytest.mark.parametrize("status", [200, 502])
    @pytest.mark.parametrize("kind", ["application/json", "text/plain", "text/event-stream"])
    async def test_bodies_that_are_no_reply(
        self, upstream: Upstream, model: OpenAIClient, body: bytes, status: int, kind: str
    ) -> None:
        for streaming in (True, False):
            upstream.then(raw(body, kind, status))
            assert (await failure(model, streaming=streaming))[0].status == 502

    async def test_reset_in_mid_reply(self, upstream: Upstream, model: OpenAIClient) -> None:
        upstream.then(resets("one ", "two"))
        error, before = await failure(model)
        assert error.status == 502
        assert "broke off" in str(error)
        assert "one " in before

    async def test_truncated(self, upstream: Upstream, model: OpenAIClient) -> None:
        upstream.then(truncates("one ", "two"))
        error, before = await failure(model)
        assert "in the middle" in str(error)
        assert before == "one two"

    async def test_an_error_in_mid_reply(self, upstream: Upstream, model: OpenAIClient) -> None:
        upstream.then(errors("one"))
        error, before = await failure(model)
        assert (error.status, error.kind, before) == (503, "overloaded_error", "one")
        assert "overloaded" in str(error)

    @pytest.mark.parametrize(
        "data", [b"data: {\n\n", b"data: 3\n\n", b'data: {"error": "no"}\n\n', b"data: " + b"[" * 100_000 + b"\n\n"]
    )
    async def test_events_that_are_no_chunk(self, upstream: Upstream, model: OpenAIClient, data: bytes) -> None:
        upstream.then(raw(b'data: {"choices":[{"delta":{"content":"a"}}]}\n\n' + data))
        error, before = await failure(model)
        assert (error.status, before) == (502, "a")


class TestCancelling:
    async def test_closing_the_iterator_ends_the_call(self, upstream: Upstream, model: OpenAIClient) -> None:
        upstream.then(hangs("one"))
        stream = model.stream(ask())
        assert await anext(stream) == TextPart("one")
        await stream.aclose()  # type: ignore[attr-defined]
        async with asyncio.timeout(5):
            await upstream.gone.wait()

    @pytest.mark.parametrize("pieces", [(), ("one",)])
    async def test_cancelling_the_reader_ends_the_call(
        self, upstream: Upstream, model: OpenAIClient, pieces: tuple[str, ...]
    ) -> None:
        upstream.then(hangs(*pieces))
        arrived = asyncio.Event()

        async def read() -> None:
            async with aclosing(model.stream(ask())) as stream:  # type: ignore[type-var]
                async for _ in stream:
                    arrived.set()

        task = asyncio.create_task(read())
        async with asyncio.timeout(5):
            while not upstream.requests:
                await asyncio.wait([task], timeout=0.001)
            if pieces:
                await arrived.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await upstream.gone.wait()

    async def test_a_finished_call_leaves_nothing_behind(self, upstream: Upstream, model: OpenAIClient) -> None:
        upstream.then(says("a"), says("b"))
        assert text(await parts(model, ask())) == "a"
        assert text(await parts(model, ask(), streaming=False)) == "b"
        gc.collect()
        assert not upstream.gone.is_set()


class TestOpening:
    async def test_models(self, model: OpenAIClient) -> None:
        assert await model.models() == ["narrator-1", "narrator-2"]
        assert model.name == "openai"

    @pytest.mark.parametrize(
        ("step", "status"),
        [
            (fails(401), 401),
            (raw(b"<html/>", "text/html"), 502),
            (raw(b"{}", "application/json"), 502),
            (raw(b"[]", "application/json"), 502),
        ],
    )
    async def test_models_that_cannot_be_listed(
        self, upstream: Upstream, model: OpenAIClient, step: Any, status: int
    ) -> None:
        upstream.then(step)
        with pytest.raises(UpstreamError) as caught:
            await model.models()
        assert caught.value.status == status

    async def test_no_key_and_no_url(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("OPENAI_API_KEY", raising=False)
        monkeypatch.delenv("OPENAI_ADMIN_KEY", raising=False)
        with pytest.raises(BadInput, match="OPENAI_API_KEY is not set"):
            await opened()

    async def test_the_environments_key_goes_to_the_provider_itself(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-env")
        monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
        model = await opened()
        assert model.host == "api.openai.com"
        await model.aclose()

    @pytest.mark.parametrize("options", [{"base_url": 3}, {"api_key": 3}, {"timeout": "x"}, {"speed": 1}])
    async def test_bad_options(self, options: dict[str, Any]) -> None:
        with pytest.raises(BadInput, match=next(iter(options))):
            await opened(**options)

    async def test_an_address_that_is_none(self) -> None:
        with pytest.raises(BadInput, match=r"options.base_url: http://\[bad/v1 is no URL"):
            await opened(base_url="http://[bad/v1")

    async def test_a_key_that_no_header_carries(self, upstream: Upstream, model: OpenAIClient) -> None:
        with pytest.raises(UpstreamError, match="characters other than ASCII") as caught:
            await parts(model, ask(key="열쇠"))
        assert (caught.value.status, upstream.requests) == (401, [])

    async def test_what_the_environment_says_of_the_account_goes_to_openai_alone(
        self, upstream: Upstream, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
        monkeypatch.setenv("OPENAI_BASE_URL", upstream.url)
        for address in (None, upstream.url):
            model = await opened(api_key=KEY, base_url=address)
            await parts(model, ask())
            await model.aclose()
        assert [each.headers.get("OpenAI-Organization") for each in upstream.requests] == ["org-1", None]

    async def test_no_key_in_repr(self, model: OpenAIClient) -> None:
        assert KEY not in repr(model)


@given(st.lists(st.text(), min_size=1, max_size=4), st.sampled_from([b"\n", b"\r\n"]), st.data())
def test_events_arrive_however_the_bytes_are_cut(words: list[str], end: bytes, data: st.DataObject) -> None:
    events = [json.dumps(chunk({"content": word}), ensure_ascii=not _encodable(word)) for word in words]
    whole = b"".join(b"data: " + event.encode() + end + end for event in events)
    lines, reader, found = EventLines(), ModelReply(Blame("openai", "h", 1.0), ChatPieces()), []
    at = 0
    while at < len(whole):
        size = data.draw(st.integers(1, 40))
        for event in lines.feed(whole[at : at + size]):
            found += list(reader.event(event))
        at += size
    assert list(lines.finish()) == []
    assert [part.text for part in found if isinstance(part, TextPart)] == [word for word in words if word]


LINES = "data: {}||~data: {}\r|\r|~data: a|data: b||~: c||~event: x|~data:{}||~|~data: a\r||~data: a|\r|~data: ||~a~\r|"
PIECES = st.sampled_from([each.replace("|", "\n").encode() for each in ("\ufeffdata: {}||", *LINES.split("~"))])


@given(st.lists(PIECES, max_size=8), st.booleans())
def test_events_in_whole_pieces_are_those_that_come_byte_by_byte(pieces: list[bytes], bare: bool) -> None:
    by_piece, by_byte = EventLines(bare=bare), EventLines(bare=bare)
    one = [event for piece in pieces for event in by_piece.feed(piece)] + list(by_piece.finish())
    other = [event for at in b"".join(pieces) for event in by_byte.feed(bytes([at]))] + list(by_byte.finish())
    assert one == other


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_every_line_end_of_server_sent_events_is_one(end: bytes) -> None:
    sent = end.join([b": ping", b"data: 1", b"", b"event: error", b"data: 2", b"data: 3", b"", b"data: 4", b""])
    for size in (1, 2, 7, 1_000):
        lines = EventLines()
        found = [told for at in range(0, len(sent), size) for told in lines.feed(sent[at : at + size])]
        assert found == ["1", "2\n3"] and list(lines.finish()) == ["4"], size


INDEXES = st.sampled_from([0, 1, -1, None, "0", True])
TEXTS = st.sampled_from(["a", "", None, 3, ["a"]])


@given(TEXTS, INDEXES, st.sampled_from([None, "", "stop"]), st.sampled_from([{}, {"role": "assistant"}, {"x": 1}]))
def test_a_chunk_of_plain_text_is_read_as_any_other(text: Any, index: Any, finish: Any, beside: Any) -> None:
    """A usage that says nothing has the same chunk read the long way."""
    choice = {"delta": {"content": text, **beside}, "index": index, "finish_reason": finish}
    read = []
    for more in ({}, {"usage": {"prompt_tokens": 0}}):
        reader = ModelReply(Blame("openai", "h", 1.0), ChatPieces())
        found = list(reader.event(json.dumps({"choices": [choice], **more})))
        try:
            list(reader.end())
            read.append((found, True))
        except UpstreamError:
            read.append((found, False))
    assert read[0] == read[1]


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def test_an_endless_line_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("saga_backends.chat.event_lines.LONGEST_LINE", 10)
    lines = EventLines()
    assert list(lines.feed(b"data: 1234")) == []
    with pytest.raises(UpstreamError):
        list(lines.feed(b"5"))


def test_an_endless_event_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("saga_backends.chat.event_lines.LONGEST_LINE", 1_000)
    lines = EventLines()
    with pytest.raises(UpstreamError, match="an event of more than"):
        for _ in range(1_000):
            assert list(lines.feed(b"data: 1234\n")) == []


def test_many_events_are_no_endless_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("saga_backends.chat.event_lines.LONGEST_LINE", 1_000)
    lines = EventLines()
    assert [told for _ in range(100) for told in lines.feed(b"data: 1\ndata: 2\n\n")] == ["1\n2"] * 100


def test_a_key_in_the_kind_of_an_error_is_hidden() -> None:
    blame = Blame("openai", "host", 1.0, ("sk-geheim-0123456789",))
    about = {"message": "no", "type": "bad sk-geheim-0123456789"}
    for error in (blame.refused(400, {"error": about}, {}), blame.reported(about)):
        assert "geheim" not in error.kind and error.kind.endswith("_error"), "a kind is a word, and this is none"


def test_no_part_of_a_key_is_left_where_a_message_is_cut() -> None:
    blame = Blame("openai", "host", 1.0, ("geheim-0123456789",))
    about = {"message": f"{'a' * 285} geheim-0123456789 {'b' * 50}"}
    for error in (
        blame.refused(400, {"error": about}, {}),
        blame.reported(about),
        blame.refused(400, about["message"], {}),
    ):
        assert "geheim" not in str(error)


@pytest.mark.parametrize("inside", ["\n", " ", "\u200b", "\u00ad \ufeff", "\u202e"])
def test_a_key_with_something_inside_is_hidden_whole(inside: str) -> None:
    secret = "sk-UPSTREAMSECRET0123456789abcdefghij"
    blame = Blame("openai", "host", 5.0, [secret])
    for quoted in (secret, secret.lower()):
        for at in (3, 12, 30):
            error = blame.refused(401, {"error": {"message": f"{quoted[:at]}{inside}{quoted[at:]} end"}}, {})
            assert "((key) end)" in str(error)
    assert "((key) end)" in str(blame.refused(401, {"error": {"message": f"{inside.join(secret)} end"}}, {}))


def test_an_error_turns_and_hides_nothing_in_the_clients_window() -> None:
    error = Blame("openai", "host", 5.0).refused(400, {"error": {"message": "a\u202eb\x1b[31m\u200b 한국어 ok"}}, {})
    assert "(a\ufffdb\ufffd[31m\ufffd 한국어 ok)" in str(error)
