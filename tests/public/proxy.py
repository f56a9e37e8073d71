"""SAGA's server as a memory: its narrator says what the set says, and its context is what the narrator was sent."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Any, Self

from attrs import define, field

from tests.fake_providers.openai import OpenAIChatServer
from tests.fake_providers.steps import says
from tests.fork.memories import SHOWN
from tests.fork.runner import Message
from tests.public.chat import Chat, told
from tests.server.client import Client, Reply

_MEMORY = re.compile(r"^\[SAGA: what is true now\]\n(?P<told>.*?)^\[/SAGA\]$", re.M | re.S)
_EARLIER = re.compile(r"^\[Earlier\]\n(?:(?!\[).*\n)*", re.M)


@define
class Proxy:
    """A server with a scripted narrator. ``with Proxy(...) as proxy: proxy.memory(chat)``."""

    settings: Mapping[str, Any] = {}
    """Further sections of the configuration."""
    reports: bool = True
    """Whether the narrator ends its replies with a state block."""
    loop: asyncio.Runner = field(factory=asyncio.Runner, init=False)
    stack: AsyncExitStack = field(factory=AsyncExitStack, init=False)
    upstream: OpenAIChatServer = field(factory=OpenAIChatServer, init=False)
    client: Client = field(init=False)

    def __enter__(self) -> Self:
        self.loop.run(self._open())
        return self

    def __exit__(self, *_: object) -> None:
        self.loop.run(self.stack.aclose())
        self.loop.close()

    async def _open(self) -> None:
        await self.stack.enter_async_context(self.upstream)
        sections = {
            "providers": {"openai": {"base_url": self.upstream.url, "api_key": "sk-up", "max_retries": 0}},
            "extraction": {"reporting": "block", "automatic": "never"},
            # On a busy machine, a source that misses the deadline would be missing from the figures.
            "recall": {"deadline_ms": 10_000},
            **self.settings,
        }
        self.client = await self.stack.enter_async_context(Client.of(sections, {}))

    def memory(self, chat: Chat) -> ProxyMemory:
        """A memory of one chat."""
        return ProxyMemory(self, chat.id)


@define
class ProxyMemory:
    """One session of the server."""

    proxy: Proxy
    name: str
    chat: Sequence[Message] = ()
    session: str = ""

    def add(self, messages: Sequence[Message]) -> None:
        """Ask for the last reply, with what the frontend still sends of the chat."""
        self.chat = messages
        *history, reply = messages
        block = (
            "\n".join(["", "", "```state", *(reply["report"] or ("present: []",)), "```"]) if self.proxy.reports else ""
        )
        self.session = self.proxy.loop.run(self._play(history, reply["content"], block)).session

    async def _play(self, history: Sequence[Message], reply: str, block: str) -> Reply:
        answer = await self._ask(history, reply + block)
        if answer.text != reply:
            raise RuntimeError(f"{self.name}: SAGA showed {answer.text!r} of {reply!r}")
        drained = await self.proxy.client.post("/api/drain", params={"timeout": "60"})
        if not drained.json["settled"]:
            raise RuntimeError(f"{self.name}: background work did not end: {drained.json}")
        return answer

    async def _ask(self, history: Sequence[Message], reply: str) -> Reply:
        self.proxy.upstream.then(says(reply))
        sent = told([history[0], *history[1:][-SHOWN - 1 :]])
        answer = await self.proxy.client.chat(sent, headers={"X-SAGA-Session": self.name})
        if answer.status != 200:
            raise RuntimeError(f"{self.name}: {answer.status}: {answer.raw.decode()}")
        return answer

    def context(self, question: str) -> str:
        """The messages that the narrator was sent with the question, without the question."""
        self.proxy.loop.run(self._ask([*self.chat, {"role": "user", "content": question}], "…"))
        return in_order(_texts(self.proxy.upstream.requests[-1].body["messages"]).replace(question, ""))

    def state(self) -> Mapping[str, Any]:
        """The state after the last turn, from the API."""
        answer = self.proxy.loop.run(self.proxy.client.get(f"/api/sessions/{self.session}/state"))
        found: Mapping[str, Any] = answer.json
        return found


def _texts(messages: Sequence[Mapping[str, Any]]) -> str:
    parts = [
        content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)
        for content in (message["content"] for message in messages)
    ]
    return "\n".join(parts)


def in_order(prompt: str) -> str:
    """A prompt in the order of what it tells: earlier turns, the end of the chat, and what SAGA says is true now.

    A reader who takes the last of several values needs that. The prompt says instead that what is true now counts.
    """
    found = _MEMORY.search(prompt)
    if found is None:
        return prompt
    earlier = "".join(_EARLIER.findall(found["told"]))
    return "\n".join((earlier, _MEMORY.sub("", prompt), _EARLIER.sub("", found["told"])))
