"""kill -9 while a tool is at work, of the client or of SAGA: nothing is lost, and a turn is one."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from tests.crash.test_kill import Server
from tests.fake_providers.openai import OpenAIChatServer
from tests.fake_providers.server import Wire
from tests.fake_providers.steps import calls, says
from tests.server.client import BLOCK

REPLIES = (
    "The die stops at seventeen. The gate creaks open before you.",
    "Behind it the river lies black and still under the lamps.",
)
TOOLS = [{"type": "function", "function": {"name": "roll", "parameters": {"type": "object", "properties": {}}}}]


@pytest.mark.deep
async def test_a_chat_of_which_nothing_is_recorded_yet(tmp_path: Path) -> None:
    await _played(tmp_path, REPLIES[:1])


@pytest.mark.deep
async def test_a_chat_that_has_turns(tmp_path: Path) -> None:
    await _played(tmp_path, REPLIES)


async def _played(tmp_path: Path, replies: Sequence[str]) -> None:
    """Each reply after a call and a kill: all in one session, to which each call is billed."""
    async with OpenAIChatServer(dialect="local") as upstream, aiohttp.ClientSession() as client:
        settings = {"providers": {"openai": {"base_url": upstream.url, "max_retries": 0}}}
        (tmp_path / "saga.yaml").write_text(json.dumps(settings), encoding="utf-8")
        server = Server(tmp_path)
        chat: list[dict[str, Any]] = [
            {"role": "system", "content": "Ysolde keeps the salt gate."},
            {"role": "assistant", "content": "The gate lamp hisses."},
        ]

        async def ask() -> tuple[dict[str, Any], dict[str, str]]:
            body = {"model": "m", "messages": chat, "tools": TOOLS}
            async with client.post(f"{server.url}/chat/completions", json=body) as response:
                assert response.status == 200, await response.text()
                return (await response.json())["choices"][0]["message"], dict(response.headers)

        await server.start()
        sessions, turns, parents = [], [], []
        for number, reply in enumerate(replies):
            chat.append({"role": "user", "content": f"I roll the die at the gate, {number}."})
            upstream.then(calls("roll", "{}", "She shakes the cup. "))
            step, headers = await ask()
            sessions.append(headers["X-SAGA-Session"])
            await server.kill()
            await server.start()
            called = {"role": "assistant", "content": step["content"], "tool_calls": step["tool_calls"]}
            result = {"role": "tool", "tool_call_id": step["tool_calls"][0]["id"], "content": "17"}
            chat += [called, result]
            upstream.then(says(reply, "\n\n", BLOCK))
            said, headers = await ask()
            assert said["content"].strip() == reply
            sessions.append(headers["X-SAGA-Session"])
            turns.append(headers["X-SAGA-Turn"])
            parents.append(headers["X-SAGA-Parent"])
            chat.append({"role": "assistant", "content": said["content"]})
        assert len(set(sessions)) == 1
        assert parents[1:] == turns[:-1]
        root = server.url.removesuffix("/v1")
        async with client.get(f"{root}/api/sessions/{sessions[0]}/turns") as response:
            path = (await response.json())["turns"]
        assert [(turn["turn_id"], turn["reply"]) for turn in path[1:]] == list(zip(turns, replies, strict=True))
        async with client.get(f"{root}/api/sessions/{sessions[0]}/cost") as response:
            assert (await response.json())["narration"]["calls"] == 2 * len(replies)
        async with client.get(f"{root}/api/sessions?fleeting=all") as response:
            assert len((await response.json())["sessions"]) == 1
        await server.kill()


@pytest.mark.deep
async def test_a_call_that_saga_answers_itself(tmp_path: Path) -> None:
    """kill -9 while the narrator goes on after an answer: what was recorded stays, and asking again is one turn."""
    async with OpenAIChatServer(dialect="local") as upstream, aiohttp.ClientSession() as client:
        settings = {"providers": {"openai": {"base_url": upstream.url, "max_retries": 0}}, "tools": "memory"}
        (tmp_path / "saga.yaml").write_text(json.dumps(settings), encoding="utf-8")
        server = Server(tmp_path)
        chat = [{"role": "user", "content": "I look behind the gate."}]

        async def ask() -> tuple[str, dict[str, str]]:
            async with client.post(f"{server.url}/chat/completions", json={"model": "m", "messages": chat}) as response:
                assert response.status == 200, await response.text()
                return (await response.json())["choices"][0]["message"]["content"].strip(), dict(response.headers)

        await server.start()
        upstream.then(says(REPLIES[1], "\n\n", BLOCK))
        told, first = await ask()
        chat += [{"role": "assistant", "content": told}, {"role": "user", "content": "What was the river like?"}]
        answered = asyncio.Event()

        async def hangs(wire: Wire) -> web.StreamResponse:
            answered.set()
            await asyncio.Event().wait()
            return await wire.end()

        upstream.then(calls("recall", '{"query": "river"}'), hangs)
        asking = asyncio.create_task(ask())
        await answered.wait()
        assert "black and still" in json.dumps(upstream.requests[-1].body["messages"][-1])
        await server.kill()
        with pytest.raises(aiohttp.ClientError):
            await asking
        await server.start()
        upstream.then(calls("recall", '{"query": "river"}'), says("Black and still.", "\n\n", BLOCK))
        told, last = await ask()
        assert (told, last["X-SAGA-Parent"]) == ("Black and still.", first["X-SAGA-Turn"])
        root = server.url.removesuffix("/v1")
        async with client.get(f"{root}/api/sessions/{first['X-SAGA-Session']}/turns") as response:
            path = (await response.json())["turns"]
        assert [turn["reply"] for turn in path[1:]] == [REPLIES[1], "Black and still."]
        await server.kill()


@pytest.mark.deep
async def test_notes_over_mcp(tmp_path: Path) -> None:
    """kill -9 between and within calls of a tool that writes: each note that was answered is there, once."""
    async with aiohttp.ClientSession(headers={"Accept": "application/json, text/event-stream"}) as client:
        server = Server(tmp_path)
        (tmp_path / "saga.yaml").write_text("{}", encoding="utf-8")
        await server.start()
        body = {"model": "m", "messages": [{"role": "user", "content": "I wait at the gate."}]}
        named = {"X-SAGA-Session": "Gate"}
        async with client.post(f"{server.url}/chat/completions", json=body, headers=named) as response:
            assert response.status == 200

        async def note(text: str) -> None:
            params = {"name": "remember", "arguments": {"session": "Gate", "text": text}}
            message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
            with suppress(aiohttp.ClientError):
                async with client.post(f"{server.url.removesuffix('/v1')}/mcp", json=message) as response:
                    if not (await response.json())["result"].get("isError"):
                        answered.append(text)

        answered: list[str] = []
        for number in range(4):
            notes = [asyncio.create_task(note(f"Mara lied {number}.{each}")) for each in range(12)]
            await asyncio.wait(notes, return_when=asyncio.FIRST_COMPLETED)
            await server.kill()
            await asyncio.gather(*notes)
            await server.start()
        async with client.get(f"{server.url.removesuffix('/v1')}/api/sessions/Gate/changes") as response:
            kept = json.dumps((await response.json())["changes"], ensure_ascii=False)
        assert len(answered) >= 4
        assert {text: kept.count(f'"{text}"') for text in answered} == dict.fromkeys(answered, 1)
        await server.kill()
