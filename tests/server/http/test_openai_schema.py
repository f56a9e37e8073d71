from __future__ import annotations

import gzip
import json
from io import BytesIO
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saga_core.ports import Usage
from saga_server.doors.chat import DOOR, ChatFormat, read_chat
from saga_server.http import Choice, ClientRequest, Incoming, read_json
from saga_server.http.errors import RequestError
from tests.server.client import CHAT, Client

MESSAGES = [{"role": "user", "content": "안녕"}]


def read(raw: bytes) -> ClientRequest:
    return read_chat(Incoming(body=raw, max_messages=10))


def body(**fields: Any) -> bytes:
    return json.dumps({"model": "m", "messages": MESSAGES, **fields}).encode()


BAD: list[tuple[bytes, str, int, str]] = [
    (b"", "body", 400, "the body is not JSON"),
    (b"{", "body", 400, "the body is not JSON"),
    (b"\xff\xfe", "body", 400, "the body is not UTF-8"),
    (b'{"messages": [{"role": "user", "content": "\xed\xa0\x80"}]}', "body", 400, "the body is not UTF-8"),
    (b"[" * 100_000, "body", 400, "the body is nested too deeply"),
    (b"[]", "body", 400, "the body is a JSON list; send an object"),
    (b"null", "body", 400, "the body is a JSON null; send an object"),
    (b'"x"', "body", 400, "the body is a JSON text; send an object"),
    (b"3", "body", 400, "the body is a JSON number; send an object"),
    (b'{"messages": NaN}', "body", 400, "NaN is no JSON number"),
    (b"{}", "messages", 400, "messages: missing; send a list"),
    (body(messages=[]), "messages", 400, "messages: empty; send a list"),
    (body(messages=None), "messages", 400, "messages: a null; send a list"),
    (body(messages="hi"), "messages", 400, "messages: a text; send a list"),
    (body(messages={"role": "user"}), "messages", 400, "messages: a object; send a list"),
    (body(messages=MESSAGES * 5), "messages", 413, "messages: 5 given; at most 4 are taken (server.max_messages)"),
    (body(messages=["hi"]), "messages[0]", 400, "messages[0]: "),
    (body(messages=[None]), "messages[0]", 400, "messages[0]: "),
    (body(messages=[{}]), "messages[0].role", 400, "messages[0].role: "),
    (body(messages=[*MESSAGES, {"role": "wizard", "content": "x"}]), "messages[1].role", 400, "'wizard'"),
    (body(messages=[{"role": ["user"], "content": "x"}]), "messages[0].role", 400, "messages[0].role: "),
    (body(messages=[{"role": "user", "content": 3}]), "messages[0].content", 400, "messages[0].content: "),
    (body(messages=[{"role": "user", "content": {}}]), "messages[0].content", 400, "messages[0].content: "),
    (body(messages=[{"role": "user", "content": ["x"]}]), "messages[0].content[0]", 400, "messages[0].content[0]"),
    (body(messages=[{"role": "user", "content": [{"type": 1}]}]), "messages[0].content[0]", 400, "content[0]"),
    (
        body(messages=[{"role": "user", "content": [{"type": "text"}]}]),
        "messages[0].content[0].text",
        400,
        "messages[0].content[0].text",
    ),
    (body(model=3), "model", 400, "model: 3 is not allowed; give a text or null"),
    (body(stream="yes"), "stream", 400, 'stream: "yes" is not allowed; give true or false or null'),
    (body(stream=1), "stream", 400, "stream: 1 is not allowed"),
    (body(n=True), "n", 400, "n: true is not allowed; give a whole number or null"),
    (body(n="2"), "n", 400, 'n: "2" is not allowed'),
    (body(n=1.5), "n", 400, "n: 1.5 is not allowed"),
    (body(n=0), "n", 400, "n: 0 is not allowed; give 1 to 16"),
    (body(n=-1), "n", 400, "n: -1 is not allowed; give 1 to 16"),
    (body(n=17), "n", 400, "n: 17 is not allowed; give 1 to 16"),
    (body(stream_options=[]), "stream_options", 400, "stream_options: [] is not allowed; give an object or null"),
    (body(user={}), "user", 400, "user: {} is not allowed; give a text or null"),
    (body(user="x" * 100 + "\n", model=["y" * 500]), "model", 400, "is not allowed"),
]


class TestBadRequests:
    @pytest.mark.parametrize(("raw", "param", "status", "message"), BAD)
    async def test_each_is_told_with_its_field(
        self, strict: Client, raw: bytes, param: str, status: int, message: str
    ) -> None:
        reply = await strict.post(CHAT, data=raw, headers={"Content-Type": "application/json"})
        assert reply.status == status
        assert reply.error["type"] == "invalid_request_error"
        assert reply.error["param"] == param
        assert message in reply.error["message"]

    async def test_a_body_that_is_too_large(self, strict: Client) -> None:
        reply = await strict.post(CHAT, data=BytesIO(b'"' + b"x" * (1 << 20) + b'"'))
        assert (reply.status, reply.error["param"]) == (413, "body")
        assert "1 MB (server.max_body_mb)" in reply.error["message"]

    async def test_a_packed_body(self, strict: Client) -> None:
        headers = {"Content-Encoding": "gzip"}
        assert (await strict.post(CHAT, data=gzip.compress(body()), headers=headers)).status == 200
        large = await strict.post(CHAT, data=gzip.compress(b" " * (4 << 20)), headers=headers)
        assert (large.status, large.error["param"]) == (413, "body")
        reply = await strict.post(CHAT, data=b"this is not gzip", headers=headers)
        assert (reply.status, reply.error["param"]) == (400, "body")
        assert "the body cannot be read" in reply.error["message"]

    async def test_paths_and_methods_that_do_not_exist(self, strict: Client) -> None:
        reply = await strict.get("/v1/nothing")
        assert (reply.status, reply.error["type"]) == (404, "not_found_error")
        assert "/v1/chat/completions" in reply.error["message"]
        reply = await strict.get(CHAT)
        assert (reply.status, reply.headers["Allow"]) == (405, "POST")
        assert reply.error["message"] == f"{CHAT} takes POST, not GET"

    async def test_nothing_of_it_is_recorded(self, strict: Client) -> None:
        await strict.post(CHAT, data=b"{}")
        assert (await strict.get("/api/sessions")).json["sessions"] == []

    @pytest.fixture
    async def strict(self, serve: Any) -> Any:
        async with serve(server={"max_body_mb": 1, "max_messages": 4}) as client:
            yield client

    async def test_oddities_that_are_no_fault(self, strict: Client) -> None:
        for raw in (
            body(n=None, stream=None, user=None, stream_options=None, model=None),
            body(messages=[{"role": "system", "content": None}, *MESSAGES]),
            body(messages=[{"role": "user", "content": []}]),
            body(messages=[{"role": "developer", "content": "x"}, {"role": "assistant", "content": "y"}]),
            body(messages=[{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:,x"}}]}]),
            b'{"messages": [{"role": "user", "content": "half a \\ud83d character"}]}',
            b'\n {"messages": [{"role": "user", "content": "x"}], "n": null}',
        ):
            reply = await strict.post(CHAT, data=raw)
            assert reply.status == 200, (raw, reply.raw)


class TestReading:
    def test_fields(self) -> None:
        ask = read(body(stream=True, n=2, stream_options={"include_usage": True, "x": 1}, top_k=3, user="u"))
        assert (ask.model, ask.stream, ask.choices, ask.user, ask.wants_usage) == ("m", True, 2, "u", True)
        assert ask.params == {"n": 2, "top_k": 3, "user": "u", "stream_options": {"include_usage": True, "x": 1}}

    def test_stream_options_without_stream_are_not_for_upstream(self) -> None:
        ask = read(body(stream_options={"include_usage": True}))
        assert (ask.params, ask.wants_usage) == ({}, True)

    def test_half_characters_are_replaced_in_keys_too(self) -> None:
        found = read_json(b'{"\\ud83d": ["\\udc09", "\\ud83d\\udc09", 1, null]}')
        assert found == {"\ufffd": ["\ufffd", "\U0001f409", 1, None]}

    @given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
    def test_any_bytes_are_read_or_refused(self, raw: bytes) -> None:
        try:
            read(raw)
        except RequestError as error:
            assert error.param

    @given(
        st.fixed_dictionaries(
            {"messages": st.just(MESSAGES)},
            optional=dict.fromkeys(
                ("model", "stream", "n", "stream_options", "user"),
                st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.just({}) | st.just([]),
            ),
        )
    )
    def test_any_fields_are_read_or_refused_by_name(self, fields: dict[str, Any]) -> None:
        try:
            ask = read(json.dumps(fields).encode())
        except RequestError as error:
            assert error.param in fields
        else:
            assert 1 <= ask.choices <= 16


class TestWriting:
    @given(st.text(), st.integers(0, 15), st.text(min_size=1))
    def test_every_chunk_is_one_event_of_json(self, text: str, index: int, model: str) -> None:
        writer = ChatFormat(model, id="chatcmpl-1", created=7)
        for raw in (
            writer.begin(index),
            writer.text(index, text),
            writer.extra(index, {"reasoning_content": text}),
            writer.finish(index, text),
            writer.usage(Usage(1, 2, 3, 4), None),
        ):
            line = raw.decode()
            assert line.startswith("data: ")
            assert line.endswith("\n\n")
            assert "\n" not in line[:-2]
            event = json.loads(line[6:])
            assert (event["id"], event["created"], event["model"]) == ("chatcmpl-1", 7, model)
        assert json.loads(writer.text(index, text)[6:])["choices"][0]["delta"]["content"] == text

    def test_korean_is_not_escaped(self) -> None:
        assert "숲".encode() in ChatFormat("m").text(0, "숲")

    def test_half_a_character_survives(self) -> None:
        assert b"\\ud83d" in ChatFormat("m").text(0, "a\ud83d")

    def test_a_whole_reply(self) -> None:
        first, choice = Choice(0), Choice(1, finish="length")
        first.add("one", {})
        choice.add("", {"reasoning_content": "a", "tool_calls": [1], "x": 1})
        choice.add("둘", {"reasoning_content": "b", "tool_calls": [2], "x": 2})
        answer = json.loads(ChatFormat("m").whole([first, choice], Usage(10, 5, 4, 0), None))
        assert answer["choices"][1] == {
            "index": 1,
            "message": {
                "role": "assistant", "content": "둘", "reasoning_content": "ab", "tool_calls": [1, 2], "x": 2,
            },
            "logprobs": None,
            "finish_reason": "length",
        }  # fmt: skip
        assert answer["usage"] == {
            "prompt_tokens": 10,
            "completion_tokens": 5,
            "total_tokens": 15,
            "prompt_tokens_details": {"cached_tokens": 4},
        }
        assert "usage" not in json.loads(ChatFormat("m").whole([Choice(0)], None, None))

    def test_models(self) -> None:
        assert DOOR.models is not None
        listed = DOOR.models.all(["a"])
        assert listed["data"][0].pop("created") > 1_700_000_000
        assert listed == {"object": "list", "data": [{"id": "a", "object": "model", "owned_by": "saga"}]}
