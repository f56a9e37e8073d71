"""Thirty dialogues in which a model uses every tool, as data: fifteen English ones and fifteen Korean ones.

A dialogue is a session and its steps. A step either plays a turn or uses a tool over MCP:

``say``
    The player's words. ``swipe: true`` asks for another reply to the last ones, and ``after: N`` goes on behind turn N.
``model``
    What the model answers, one round for each request: ``text``, ``state`` (the lines of a block), and ``calls`` of
    tools. A call of a tool that stands in ``tools`` is the client's, which answers it with ``result``.
``sees``, ``lacks``
    Texts that the answers to the calls of this turn hold, and texts that they must not hold.
``shows``
    What the player reads, if it is not the rounds' texts with an empty line between them.
``use``
    The tool, with its arguments (``with``), and what its answer holds and lacks, or why it is ``refused``. The session
    is filled in. ``$change`` stands for the last change, ``$turn`` for the last turn, ``$NAME`` for a character's id.
    ``confined: true`` uses the address of that session alone.
``state``
    What ``GET /api/sessions/{id}/state`` answers then.

At the end, the path must hold the replies that the chat holds, and the tree ``nodes`` turns besides the root.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2
import pytest
import yaml
from attrs import define, field
from mcp import Client as Mcp
from mcp.client.streamable_http import streamable_http_client

from saga_server.tools.catalog import RECALL, ROLL, TOOLS
from tests.server.client import Client, Reply
from tests.server.conftest import Serve
from tests.server.upstream import Step, Upstream, says

LANGUAGES = ("en", "ko")
HERE = Path(__file__).parent / "dialogues"
DIALOGUES: Mapping[str, list[Any]] = {
    each: yaml.load((HERE / f"{each}.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader) for each in LANGUAGES
}
QUICK = 2
"""The dialogues of each language that every run plays; the others are deep."""


def all_of(language: str) -> list[Any]:
    deep = pytest.mark.deep
    return [
        pytest.param(each, number, id=each["session"], marks=() if number < QUICK else deep)
        for number, each in enumerate(DIALOGUES[language])
    ]


def _round(given: Mapping[str, Any]) -> Step:
    calls = [
        {"index": at, "id": f"{name}_{at}", "type": "function", "function": {"name": name, "arguments": json.dumps(of)}}
        for at, (name, of) in enumerate(pair for call in given.get("calls", ()) for pair in call.items())
    ]
    block = f"\n\n```state\n{given['state'].strip()}\n```" if "state" in given else ""
    extra = {"tool_calls": calls} if calls else None
    return says(given.get("text", ""), block, extra=extra, finish="tool_calls" if calls else "stop")


@define
class Stage:
    """One dialogue while it is played."""

    session: str
    saga: Client
    upstream: Upstream
    stream: bool
    chat: list[str] = field(factory=list)
    change: str = ""
    turn: str = ""

    async def play(self, step: Mapping[str, Any]) -> None:
        """Play a turn, with the client's answers to its own calls."""
        if step.get("swipe"):
            self.chat.pop()
        else:
            if "after" in step:
                del self.chat[2 * step["after"] :]
            self.chat.append(step["say"])
        self.upstream.then(*map(_round, step["model"]))
        before, roles = len(self.upstream.requests), ("user", "assistant")
        messages = [{"role": roles[at % 2], "content": text} for at, text in enumerate(self.chat)]
        tools = [
            {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {}}}}
            for name in step.get("tools", ())
        ]
        fields: dict[str, Any] = {"tools": tools} if tools else {}
        headers = {"X-SAGA-Session": quote(self.session), "X-SAGA-Member": quote(step.get("member", ""))}
        reply = await self.saga.chat(messages, headers=headers, stream=self.stream, **fields)
        while own := self._calls(reply):
            assert [call["function"]["name"] for call in own] == step["tools"], "the client sees its own calls alone"
            messages += [
                {"role": "assistant", "content": None, "tool_calls": own},
                *({"role": "tool", "tool_call_id": call["id"], "content": step["result"]} for call in own),
            ]
            reply = await self.saga.chat(messages, headers=headers, stream=self.stream, **fields)
        assert reply.status == 200, reply.raw
        assert not self.upstream.script, "the model was asked for all that it had to say"
        shown = (reply.streamed() if self.stream else reply.text).strip()
        texts = [each["text"] for each in step["model"] if "text" in each]
        assert shown == step.get("shows", "\n\n".join(texts)).strip()
        assert '"tool_calls":' not in reply.raw.decode()
        asked = [message for each in self.upstream.requests[before:] for message in each.messages]
        answered = " ".join(str(message["content"]) for message in asked if message["role"] == "tool")
        _holds(answered, step)
        self.turn = reply.turn
        self.chat.append(shown)

    def _calls(self, reply: Reply) -> list[Any]:
        choices = [choice for event in (reply.events if self.stream else [reply.json]) if event != "[DONE]"
                   for choice in event.get("choices", ())]  # fmt: skip
        deltas = [choice.get("delta") or choice.get("message") or {} for choice in choices]
        return [call for delta in deltas for call in delta.get("tool_calls", ())]

    async def use(self, step: Mapping[str, Any]) -> None:
        """Use a tool as the official client does."""
        base = f"/s/{quote(self.session, safe='')}" if step.get("confined") else ""
        url = f"{self.saga.server.url}{base}/mcp?allow=read&allow=note&allow=change"
        async with httpx2.AsyncClient(timeout=60) as http, Mcp(streamable_http_client(url, http_client=http)) as to:
            tool = next(each for each in TOOLS if each.name == step["use"])
            given = {name: await self._filled(to, value) for name, value in step.get("with", {}).items()}
            own = {"session": self.session} if "session" in tool.params and not base else {}
            result = await to.call_tool(tool.name, {**own, **given})
        text = getattr(result.content[0], "text", "")
        if "refused" in step:
            assert result.is_error and step["refused"] in text, text
            return
        assert not result.is_error, text
        _holds(text, step)
        self.change = json.loads(text).get("change", self.change)

    async def _filled(self, to: Mcp, value: Any) -> Any:
        if not isinstance(value, str) or not value.startswith("$"):
            return value
        if value in ("$change", "$turn"):
            return self.change if value == "$change" else self.turn
        listed = await to.call_tool("people_places_things", {"session": self.session})
        people = json.loads(getattr(listed.content[0], "text", ""))["entities"]
        return next(each["id"] for each in people if value[1:] == each["name"])


def _holds(text: str, step: Mapping[str, Any]) -> None:
    for each in step.get("sees", ()):
        assert each in text, f"{each!r} is not in {text!r}"
    for each in step.get("lacks", ()):
        assert each not in text, f"{each!r} is in {text!r}"


@asynccontextmanager
async def staged(serve: Serve, upstream: Upstream) -> AsyncIterator[Client]:
    provider = {"base_url": upstream.url, "api_key": "sk-up", "max_retries": 0}
    async with serve(providers={"openai": provider}, tools="memory") as client:
        yield client


async def played(dialogue: Mapping[str, Any], stream: bool, serve: Serve, upstream: Upstream) -> None:
    async with staged(serve, upstream) as saga:
        stages: dict[str, Stage] = {}
        for step in dialogue["steps"]:
            name = step.get("session", dialogue["session"])
            stage = stages.setdefault(name, Stage(name, saga, upstream, stream))
            if "use" in step:
                await stage.use(step)
            else:
                await stage.play(step)
            if "state" in step:
                state = (await saga.get(f"/api/sessions/{quote(name, safe='')}/state")).json
                assert {key: state[key] for key in step["state"]} == step["state"]
        stage = stages[dialogue["session"]]
        address = quote(stage.session, safe="")
        assert [turn["reply"] for turn in await saga.turns(address)] == stage.chat[1::2]
        tree = (await saga.get(f"/api/sessions/{address}/tree")).json
        assert len(tree["nodes"]) - 1 == dialogue["nodes"], "calls are no turns, and swipes are siblings"


@pytest.mark.parametrize(("dialogue", "number"), all_of("en"))
async def test_english(dialogue: Mapping[str, Any], number: int, serve: Serve, upstream: Upstream) -> None:
    await played(dialogue, number % 2 == 0, serve, upstream)


@pytest.mark.parametrize(("dialogue", "number"), all_of("ko"))
async def test_korean(dialogue: Mapping[str, Any], number: int, serve: Serve, upstream: Upstream) -> None:
    await played(dialogue, number % 2 == 1, serve, upstream)


@pytest.mark.parametrize("language", LANGUAGES)
def test_there_are_fifteen_and_they_use_every_tool(language: str) -> None:
    steps = [step for each in DIALOGUES[language] for step in each["steps"]]
    called = {
        name for step in steps for each in step.get("model", ()) for call in each.get("calls", ()) for name in call
    }
    assert len(DIALOGUES[language]) == 15
    assert {step["use"] for step in steps if "use" in step} == {each.name for each in TOOLS}
    assert {RECALL.name, ROLL.name} <= called
    assert any(step.get("swipe") for step in steps) and any("after" in step for step in steps)
