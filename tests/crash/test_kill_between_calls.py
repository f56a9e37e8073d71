"""kill -9 while a tool of the client is at work: its result comes to another process, and the turn is one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.crash.test_kill import Server
from tests.fake_providers.openai import OpenAIChatServer
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
