from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import ClientPayloadError
from openai import APIError, AsyncOpenAI

from saga_core.errors import StoreError
from saga_core.journal.journal import Journal
from saga_server.http import EXCHANGES, exchange
from tests.server.client import BLOCK, CHAT, Client, words
from tests.server.conftest import Serve
from tests.server.upstream import (
    Step,
    Upstream,
    closed_port,
    errors,
    fails,
    hangs,
    raw,
    resets,
    says,
    truncates,
)

HELLO = words("나는 문을 연다.")


class TestReplies:
    async def test_in_one_piece(self, client: Client, upstream: Upstream) -> None:
        upstream.then(says("문이 ", f"열린다.\n\n{BLOCK}", finish="length"))
        reply = await client.chat(HELLO, temperature=0.5)
        assert reply.status == 200
        assert reply.json["object"] == "chat.completion"
        assert reply.json["model"] == "narrator-1"
        (choice,) = reply.json["choices"]
        assert choice["message"]["role"] == "assistant"
        assert choice["message"]["content"].strip() == "문이 열린다."
        assert choice["finish_reason"] == "length"
        assert reply.json["usage"]["total_tokens"] == 120
        assert reply.json["usage"]["prompt_tokens_details"] == {"cached_tokens": 64}

    async def test_the_provider_gets_sagas_prompt_and_the_clients_fields(
        self, client: Client, upstream: Upstream
    ) -> None:
        upstream.lenient = True
        await client.chat(HELLO, temperature=0.5, min_p=0.1, logit_bias={}, max_tokens=300)
        (request,) = upstream.requests
        assert request.body["temperature"] == 0.5
        assert request.body["max_tokens"] == 500, "200 for the state block, which the player never sees"
        assert request.body["min_p"] == 0.1
        assert request.body["logit_bias"] == {}
        assert request.messages[0]["content"] == "You are the narrator of Ersia."
        assert "```state" in request.text
        assert request.messages[-1]["role"] == "user"
        assert request.messages[-1]["content"].endswith("나는 문을 연다.")
        assert request.headers["Authorization"] == "Bearer sk-up"
        assert not [name for name in request.headers if name.lower().startswith("x-saga")]

    async def test_the_state_follows_the_reply(self, client: Client, upstream: Upstream) -> None:
        upstream.then(says(f"숲이다.\n\n{BLOCK}"))
        first = await client.chat(HELLO)
        state = (await client.get(f"/api/sessions/{first.session}/state")).json
        assert (state["turn"], state["turn_id"], state["location"]) == (1, first.turn, "어둠의 숲")
        await client.chat(words("나는 문을 연다.", "숲이다.", "둘러본다."))
        assert "어둠의 숲" in upstream.requests[1].messages[-1]["content"]

    async def test_in_events(self, client: Client, upstream: Upstream) -> None:
        upstream.then(says("The door ", "opens.\n\n", BLOCK[:20], BLOCK[20:], finish="length"))
        reply = await client.chat(HELLO, stream=True)
        *events, done = reply.events
        assert done == "[DONE]"
        assert reply.headers["Content-Type"] == "text/event-stream; charset=utf-8"
        assert reply.headers["Cache-Control"] == "no-cache"
        assert reply.headers["X-Accel-Buffering"] == "no"
        assert reply.streamed().strip() == "The door opens."
        assert events[0]["choices"][0]["delta"] == {"role": "assistant", "content": ""}
        assert events[-1]["choices"][0] == {"index": 0, "delta": {}, "finish_reason": "length"}
        assert all(event["choices"][0]["finish_reason"] is None for event in events[:-1])
        assert {(event["id"], event["object"], event["model"]) for event in events} == {
            (events[0]["id"], "chat.completion.chunk", "narrator-1")
        }

    async def test_token_counts_in_events_are_for_those_who_ask(self, client: Client, upstream: Upstream) -> None:
        reply = await client.chat(HELLO, stream=True)
        assert not any("usage" in event for event in reply.events[:-1])
        reply = await client.chat(HELLO, stream=True, stream_options={"include_usage": True})
        assert reply.events[-2]["choices"] == []
        assert reply.events[-2]["usage"]["prompt_tokens"] == 100
        assert all(request.body["stream_options"] == {"include_usage": True} for request in upstream.requests)

    @pytest.mark.parametrize("stream", [False, True])
    async def test_headers(self, client: Client, stream: bool) -> None:
        first = await client.chat(HELLO, stream=stream)
        assert float(first.headers["X-SAGA-Context-Ms"]) > 0
        assert "X-SAGA-Late" not in first.headers
        assert "X-SAGA-Notice" not in first.headers
        second = await client.chat(words("나는 문을 연다.", "The rain stops.", "간다."), stream=stream)
        assert second.session == first.session
        assert second.headers["X-SAGA-Parent"] == first.turn
        assert [turn["turn_id"] for turn in await client.turns(first.session)] == [first.turn, second.turn]

    @pytest.mark.parametrize("stream", [False, True])
    async def test_several_choices_are_siblings(self, client: Client, upstream: Upstream, stream: bool) -> None:
        upstream.then(says("one", others=["둘"]))
        reply = await client.chat(HELLO, stream=stream, n=2)
        if stream:
            assert (reply.streamed(0), reply.streamed(1)) == ("one", "둘")
        else:
            assert [choice["message"]["content"] for choice in reply.json["choices"]] == ["one", "둘"]
        tree = (await client.get(f"/api/sessions/{reply.session}/tree")).json
        assert sorted(node["reply"] for node in tree["nodes"] if node["depth"] == 1) == ["one", "둘"]
        after = await client.chat(words("나는 문을 연다.", "둘", "간다."))
        assert after.session == reply.session

    @pytest.mark.parametrize("stream", [False, True])
    async def test_a_provider_that_gives_fewer_choices(self, client: Client, upstream: Upstream, stream: bool) -> None:
        upstream.then(says("one"))
        reply = await client.chat(HELLO, stream=stream, n=3)
        assert len(await client.turns(reply.session)) == 1
        if not stream:
            assert len(reply.json["choices"]) == 1

    @pytest.mark.parametrize("stream", [False, True])
    async def test_fields_that_saga_does_not_know_are_passed_on(
        self, client: Client, upstream: Upstream, stream: bool
    ) -> None:
        calls = [{"index": 0, "id": "c1", "type": "function", "function": {"name": "roll", "arguments": "{}"}}]
        upstream.then(says(extra={"tool_calls": calls, "reasoning_content": "음"}, finish="tool_calls"))
        reply = await client.chat(HELLO, stream=stream)
        if stream:
            (found,) = [
                event["choices"][0]["delta"] for event in reply.events if "tool_calls" in str(event)
                and event["choices"][0]["delta"]
            ]  # fmt: skip
        else:
            found = reply.json["choices"][0]["message"]
        assert (found["tool_calls"], found["reasoning_content"]) == (calls, "음")
        assert await client.turns(reply.session) == []

    async def test_half_a_character_is_passed_on(self, client: Client, upstream: Upstream) -> None:
        events = b"".join(
            b'data: {"choices":[{"index":0,"delta":{"content":"%s"}}]}\n\n' % piece
            for piece in (b"\\ud83d", b"\\udc09")
        )
        upstream.then(raw(events + b"data: [DONE]\n\n"))
        reply = await client.chat(HELLO, stream=True)
        assert reply.status == 200
        assert reply.streamed().encode("utf-16", "surrogatepass").decode("utf-16") == "\U0001f409"

    @pytest.mark.parametrize("path", ["/v1/chat/completions", "/chat/completions", "/s/a/v1/chat/completions"])
    async def test_paths(self, client: Client, path: str) -> None:
        assert (await client.chat(HELLO, path=path)).text == "The rain stops."

    async def test_models(self, client: Client) -> None:
        for path in ("/v1/models", "/models", "/s/a/v1/models", "/s/a/w/b/v1/models"):
            listed = (await client.get(path)).json
            assert listed["object"] == "list"
            assert [model["id"] for model in listed["data"]] == ["narrator-1", "narrator-2"]
            assert {model["object"] for model in listed["data"]} == {"model"}


class TestOpenAiSdk:
    """The official SDK as client."""

    @pytest.fixture
    async def sdk(self, client: Client) -> AsyncIterator[AsyncOpenAI]:
        async with AsyncOpenAI(base_url=f"{client.server.url}/v1", api_key="sk-mine", max_retries=0) as sdk:
            yield sdk

    async def test_in_one_piece(self, sdk: AsyncOpenAI, upstream: Upstream) -> None:
        upstream.then(says(f"비가 그친다.\n{BLOCK}"))
        messages: Any = HELLO
        reply = await sdk.chat.completions.create(model="m", messages=messages)
        assert reply.choices[0].message.content is not None
        assert reply.choices[0].message.content.strip() == "비가 그친다."
        assert reply.usage is not None
        assert reply.usage.total_tokens == 120

    async def test_in_events(self, sdk: AsyncOpenAI, upstream: Upstream) -> None:
        upstream.then(says("비가 ", "그친다.", others=["눈이 온다."]))
        messages: Any = HELLO
        stream = await sdk.chat.completions.create(
            model="m", messages=messages, n=2, stream=True, stream_options={"include_usage": True}
        )
        texts, usage = ["", ""], None
        async for event in stream:
            usage = event.usage or usage
            for choice in event.choices:
                texts[choice.index] += choice.delta.content or ""
        assert texts == ["비가 그친다.", "눈이 온다."]
        assert usage is not None

    async def test_a_failure_in_mid_stream_raises(self, sdk: AsyncOpenAI, upstream: Upstream) -> None:
        upstream.then(truncates("one "))
        messages: Any = HELLO
        got = ""
        with pytest.raises(APIError, match="in the middle"):
            async for event in await sdk.chat.completions.create(model="m", messages=messages, stream=True):
                got += event.choices[0].delta.content or ""
        assert got == "one "

    async def test_models(self, sdk: AsyncOpenAI) -> None:
        assert [model.id async for model in sdk.models.list()] == ["narrator-1", "narrator-2"]


BEFORE: list[tuple[Step, int, str]] = [
    (fails(400, "bad"), 400, "server_error"),
    (fails(401, "key", "invalid_request_error"), 401, "invalid_request_error"),
    (fails(404, "model", ""), 404, "not_found_error"),
    (fails(429, "slow", "rate_limit_error", retry_after="7"), 429, "rate_limit_error"),
    (fails(500, "boom", ""), 502, "upstream_error"),
    (raw(b"<html>hi</html>", "text/html"), 502, "upstream_error"),
    (raw(b"", "text/event-stream"), 502, "upstream_error"),
    (resets(), 502, "upstream_error"),
    (truncates(), 502, "upstream_error"),
    (errors(), 503, "overloaded_error"),
]


class TestFailuresOfUpstream:
    @pytest.mark.parametrize("stream", [False, True])
    @pytest.mark.parametrize(("step", "status", "kind"), BEFORE)
    async def test_before_the_first_byte(
        self,
        client: Client,
        upstream: Upstream,
        step: Step,
        status: int,
        kind: str,
        stream: bool,
        caplog: pytest.LogCaptureFixture,
    ) -> None:
        upstream.then(step)
        reply = await client.chat(HELLO, stream=stream)
        assert reply.status == status
        (told,) = [record.message for record in caplog.records if record.name == "saga.server"]
        assert told.startswith("a reply of narrator-1 failed: ")
        assert f"127.0.0.1:{upstream.port}" in told, "the log has it too"
        assert reply.error["type"] == kind
        assert reply.error["code"] == "upstream"
        assert f"127.0.0.1:{upstream.port}" in reply.error["message"]
        assert "sk-up" not in reply.raw.decode()
        assert reply.headers.get("Retry-After") == ("7" if status == 429 else None)
        assert (await client.get("/api/sessions")).json["sessions"] == []

    @pytest.mark.parametrize("stream", [False, True])
    async def test_nobody_there(self, serve: Serve, stream: bool) -> None:
        url = f"http://127.0.0.1:{closed_port()}/v1"
        async with serve(providers={"openai": {"base_url": url, "max_retries": 0}}) as client:
            reply = await client.chat(HELLO, stream=stream)
            assert (reply.status, reply.error["type"]) == (502, "upstream_unreachable")
            models = await client.get("/v1/models")
            assert (models.status, models.error["type"]) == (502, "upstream_unreachable")
            assert (await client.get("/readyz")).status == 200

    async def test_silence(self, serve: Serve, upstream: Upstream) -> None:
        upstream.then(hangs())
        provider = {"base_url": upstream.url, "max_retries": 0, "timeout": 0.05}
        async with serve(providers={"openai": provider}) as client:
            assert (await client.chat(HELLO)).status == 504

    @pytest.mark.parametrize("step", [resets("one ", "two"), truncates("one ", "two"), errors("one ", "two")])
    async def test_in_mid_stream(self, client: Client, upstream: Upstream, step: Step) -> None:
        upstream.then(step)
        reply = await client.chat(HELLO, stream=True)
        assert reply.status == 200
        *_, error, done = reply.events
        assert done == "[DONE]"
        assert set(error) == {"error"}
        shown = reply.streamed()
        assert shown.startswith("one")
        (turn,) = await client.turns(reply.session)
        assert (turn["reply"], turn["finish"], turn["turn_id"]) == (shown, "aborted", reply.turn)
        after = await client.chat(words("나는 문을 연다.", shown, "간다."))
        assert after.headers["X-SAGA-Parent"] == reply.turn

    async def test_in_the_middle_of_a_reply_in_one_piece(self, client: Client, upstream: Upstream) -> None:
        upstream.then(truncates("one"))
        reply = await client.chat(HELLO)
        assert (reply.status, reply.error["code"]) == (502, "upstream")

    async def test_the_next_request_is_served(self, client: Client, upstream: Upstream) -> None:
        upstream.then(resets("one"), fails(500))
        await client.chat(HELLO, stream=True)
        await client.chat(HELLO)
        assert (await client.chat(HELLO)).text == "The rain stops."

    async def test_silence_of_a_provider_does_not_keep_the_server(self, serve: Serve, upstream: Upstream) -> None:
        upstream.then(hangs("one"))
        provider = {"base_url": upstream.url, "max_retries": 0}
        async with (
            serve(providers={"openai": provider}, server={"drain_timeout": 0}) as client,
            client.request("POST", CHAT, json=_body(stream=True)) as response,
        ):
            await response.content.readuntil(b"one")
            await client.server.stop()
            rest = await response.content.read()
        assert b"shutting down" in rest
        assert rest.endswith(b"data: [DONE]\n\n")
        assert upstream.gone.is_set()


def _body(**fields: Any) -> dict[str, Any]:
    return {"model": "narrator-1", "messages": HELLO, **fields}


class TestClientsThatGo:
    async def test_in_mid_stream(self, client: Client, upstream: Upstream) -> None:
        upstream.then(hangs("비가 ", "오기 "))
        async with client.request("POST", CHAT, json=_body(stream=True)) as response:
            session, turn = response.headers["X-SAGA-Session"], response.headers["X-SAGA-Turn"]
            await response.content.readuntil("오기".encode())
            response.close()
        async with asyncio.timeout(5):
            await upstream.gone.wait()
        (kept,) = await client.turns(session)
        assert (kept["turn_id"], kept["reply"].strip(), kept["finish"]) == (turn, "비가 오기", "aborted")
        assert await client.metric('saga_chat_requests_total{end="aborted"}') == 1
        after = await client.chat(words("나는 문을 연다.", "비가 오기", "그래도 간다."))
        assert (after.session, after.headers["X-SAGA-Parent"]) == (session, turn)

    @pytest.mark.parametrize("stream", [False, True])
    async def test_before_the_first_byte(self, client: Client, upstream: Upstream, stream: bool) -> None:
        upstream.then(hangs())
        request = asyncio.create_task(client.chat(HELLO, stream=stream))
        async with asyncio.timeout(5):
            while not upstream.requests:
                await asyncio.wait([request], timeout=0.002)
            request.cancel()
            await upstream.gone.wait()
            assert client.server._runner is not None
            await client.server._runner.app[EXCHANGES].settle()
        assert (await client.get("/api/sessions")).json["sessions"] == []

    async def test_of_two_one_may_go(self, client: Client, upstream: Upstream) -> None:
        gate = asyncio.Event()
        upstream.then(says("one ", "two", gate=gate))
        stays = asyncio.create_task(client.chat(HELLO, stream=True))
        async with client.request("POST", CHAT, json=_body(stream=True)) as response:
            await response.content.readuntil(b"one")
            response.close()
        gate.set()
        assert (await stays).streamed() == "one two"
        assert not upstream.gone.is_set()


class TestIdenticalRequests:
    @pytest.mark.parametrize("stream", [False, True])
    async def test_at_the_same_time_are_one(self, client: Client, upstream: Upstream, stream: bool) -> None:
        gate = asyncio.Event()
        upstream.then(says("one ", "two", gate=gate))
        first = asyncio.create_task(client.chat(HELLO, stream=stream))
        second = asyncio.create_task(client.chat(HELLO, stream=stream))
        async with asyncio.timeout(5):
            while not upstream.requests or await client.metric('saga_engine{name="counters.begun.narration"}') < 1:
                await asyncio.wait([first], timeout=0.002)
        third = await client.chat(words("다른 말"))
        gate.set()
        one, two = await first, await second
        assert one.raw == two.raw
        assert one.turn == two.turn
        assert len(upstream.requests) == 2
        assert third.turn != one.turn
        assert len(await client.turns(one.session)) == 1

    @pytest.mark.parametrize("header", ["Kind", "Member", "Tools", "Chat", "Player"])
    async def test_with_another_name_beside_them_are_not(self, client: Client, upstream: Upstream, header: str) -> None:
        named = {"Kind": "ephemeral", "Tools": "off"}.get(header, "Tom")
        gate = asyncio.Event()
        upstream.then(says("one ", gate=gate), says("two ", gate=gate))
        first = asyncio.create_task(client.chat(HELLO))
        second = asyncio.create_task(client.chat(HELLO, headers={f"X-SAGA-{header}": named}))
        async with asyncio.timeout(5):
            while len(upstream.requests) < 2:
                await asyncio.wait([first], timeout=0.002)
        gate.set()
        one, two = await first, await second
        assert one.turn != two.turn

    async def test_one_after_the_other_are_siblings(self, client: Client, upstream: Upstream) -> None:
        upstream.then(says("one"), says("two"))
        one, two = await client.chat(HELLO), await client.chat(HELLO)
        assert (one.text, two.text) == ("one", "two")
        assert one.headers["X-SAGA-Parent"] == two.headers["X-SAGA-Parent"]
        tree = (await client.get(f"/api/sessions/{one.session}/tree")).json
        assert [node["depth"] for node in tree["nodes"]].count(1) == 2


class TestRecording:
    @pytest.fixture
    def gate(self, monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
        """Recording waits for it."""
        gate, append = asyncio.Event(), Journal.append

        async def waiting(*given: Any, **named: Any) -> Any:
            await gate.wait()
            return await append(*given, **named)

        monkeypatch.setattr(Journal, "append", waiting)
        return gate

    @pytest.fixture
    def broken(self, monkeypatch: pytest.MonkeyPatch) -> None:
        async def breaks(*given: Any, **named: Any) -> Any:
            raise StoreError("the disk is full")

        monkeypatch.setattr(Journal, "append", breaks)

    async def test_a_stream_ends_after_it(self, client: Client, gate: asyncio.Event) -> None:
        async with client.request("POST", CHAT, json=_body(stream=True)) as response:
            await response.content.readuntil(b"stops.")
            rest = asyncio.create_task(response.content.read())
            done, _ = await asyncio.wait([rest], timeout=0.05)
            assert not done
            gate.set()
            ending = (await rest).decode()
        assert '"finish_reason":"stop"' in ending
        assert ending.endswith("data: [DONE]\n\n")

    async def test_a_reply_in_one_piece_comes_after_it(self, client: Client, gate: asyncio.Event) -> None:
        request = asyncio.create_task(client.chat(HELLO))
        done, _ = await asyncio.wait([request], timeout=0.1)
        assert not done
        gate.set()
        assert (await request).status == 200

    @pytest.mark.usefixtures("broken")
    async def test_when_it_fails_the_reply_comes_and_says_so(self, client: Client) -> None:
        reply = await client.chat(HELLO)
        assert (reply.status, reply.text) == (200, "The rain stops.")
        assert "the disk is full" in reply.headers["X-SAGA-Notice"]
        assert await client.metric('saga_commits_total{result="failed"}') == 1
        assert "journal.write" in (await client.get("/api/status")).json["degraded"]
        streamed = await client.chat(HELLO, stream=True)
        assert streamed.streamed() == "The rain stops."
        assert streamed.events[-1] == "[DONE]"
        assert await client.metric('saga_commits_total{result="failed"}') == 2
        for number in range(9):
            client.server.saga.counters.degrade(f"curation.memory.{number}", "it says 'Big lorem ipsum'" * 9)
        lost = await client.chat(words("hello [[saga:profile=nowhere]]"))
        assert lost.headers["X-SAGA-Notice"].startswith(reply.headers["X-SAGA-Notice"].partition(";")[0])
        assert "a marker is not heeded" in lost.headers["X-SAGA-Notice"]

    async def test_when_it_breaks_unexpectedly_the_reply_comes(
        self, client: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        async def breaks(*given: Any, **named: Any) -> Any:
            raise ZeroDivisionError("a mistake")

        monkeypatch.setattr(Journal, "append", breaks)
        assert (await client.chat(HELLO)).text == "The rain stops."
        assert "a mistake" in caplog.text

    async def test_when_it_takes_too_long_the_reply_comes_and_it_goes_on(
        self, client: Client, gate: asyncio.Event, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(exchange, "COMMIT_SECONDS", 0.01)
        reply = await client.chat(HELLO)
        assert "longer than 0.01 s" in reply.headers["X-SAGA-Notice"]
        drained = (await client.post("/api/drain?timeout=0.01")).json
        assert not drained["settled"]
        assert [(each["kind"], each["turn"]) for each in drained["waiting"]] == [("record", reply.turn)]
        gate.set()
        assert [turn["turn_id"] for turn in await client.turns(reply.session)] == [reply.turn]


class TestUnexpected:
    async def test_a_mistake_is_told_by_number_and_logged(
        self, client: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        async def breaks(*given: Any, **named: Any) -> Any:
            raise ZeroDivisionError("a mistake")

        monkeypatch.setattr(type(client.server.saga), "begin", breaks)
        reply = await client.chat(HELLO)
        assert (reply.status, reply.error["type"]) == (500, "server_error")
        assert "a mistake" not in reply.raw.decode()
        assert "Traceback" not in reply.raw.decode()
        number = reply.error["message"].split()[-1]
        assert number in caplog.text
        assert "ZeroDivisionError" in caplog.text

    async def test_a_reply_that_breaks_off_is_seen_by_a_plain_client(self, client: Client, upstream: Upstream) -> None:
        upstream.then(resets("one"))
        try:
            reply = await client.chat(HELLO, stream=True)
        except ClientPayloadError:
            pytest.fail("the stream has to end properly")
        assert json.dumps(reply.events[-2]).count("broke off") == 1
