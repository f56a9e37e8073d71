"""A chat frontend: keeps the chat, and sends it with each request."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

import aiohttp
from attrs import define, field, frozen

from saga_server.demo.adventure import Adventure

_MODEL = "saga-offline"
_MAX_TOKENS = 800


class FrontendError(Exception):
    """The proxy gave an answer that a frontend cannot show. The message describes it."""


@frozen
class DemoMessage:
    """One turn on the screen."""

    words: str
    reply: str
    turn: str
    """The id that SAGA gave the turn."""


@frozen
class ServerReply:
    """The answer to one request."""

    said: DemoMessage
    session: str
    parent: str
    context_ms: float
    total_ms: float
    pieces: int
    """In how many pieces the reply arrived."""


@define
class Frontend:
    """Talks to the proxy as SillyTavern and similar frontends do. Of SAGA it knows only the reply's headers."""

    adventure: Adventure
    http: aiohttp.ClientSession
    base_url: str
    """The base URL of the API, without ``/chat/completions``."""
    path: list[DemoMessage] = field(factory=list)
    """The turns on the screen, oldest first."""

    def messages(self, words: str) -> list[dict[str, str]]:
        """Return the prompt: the card, the latest ``window`` turns of the chat, the new words, and the last note."""
        story = self.adventure
        found = [{"role": "system", "content": text} for text in story.card]
        if len(self.path) <= story.window:
            found.append({"role": "assistant", "content": story.greeting})
        for said in self.path[-story.window :]:
            found += [{"role": "user", "content": said.words}, {"role": "assistant", "content": said.reply}]
        return [*found, {"role": "user", "content": words}, {"role": "system", "content": story.after}]

    async def send(self, words: str, *, stream: bool) -> ServerReply:
        """Send the player's words, and add the turn to ``path``. Raises ``FrontendError``."""
        started = time.perf_counter()
        body = {"model": _MODEL, "messages": self.messages(words), "max_tokens": _MAX_TOKENS, "stream": stream}
        async with self.http.post(f"{self.base_url}/chat/completions", json=body) as response:
            if response.status != 200:
                raise FrontendError(f"chat answered {response.status}: {await response.text()}")
            headers, (reply, pieces) = response.headers, await (_streamed(response) if stream else _whole(response))
        said = DemoMessage(words, reply, _header(headers, "X-SAGA-Turn"))
        self.path.append(said)
        return ServerReply(
            said,
            _header(headers, "X-SAGA-Session"),
            _header(headers, "X-SAGA-Parent"),
            float(_header(headers, "X-SAGA-Context-Ms")),
            (time.perf_counter() - started) * 1_000,
            pieces,
        )

    async def swipe(self, *, stream: bool) -> ServerReply:
        """Request another reply to the last words. It replaces the old one."""
        return await self.send(self.path.pop().words, stream=stream)


@define
class Admin:
    """A client of the admin API, which reads what SAGA knows."""

    http: aiohttp.ClientSession
    base: str

    async def ask(self, method: str, path: str, **query: str) -> Any:
        """Send a request to ``/api/…``. Raises ``FrontendError`` unless the status is 200."""
        async with self.http.request(method, f"{self.base}/api/{path}", params=query) as response:
            if response.status != 200:
                raise FrontendError(f"{method} /api/{path} answered {response.status}: {await response.text()}")
            return await response.json()


async def _whole(response: aiohttp.ClientResponse) -> tuple[str, int]:
    reply = await response.json()
    return reply["choices"][0]["message"]["content"] or "", 1


async def _streamed(response: aiohttp.ClientResponse) -> tuple[str, int]:
    texts: list[str] = []
    ended = False
    async for line in response.content:
        if not line.startswith(b"data: {"):
            continue
        chunk = json.loads(line.removeprefix(b"data: "))
        if "error" in chunk:
            raise FrontendError(f"chat failed: {chunk['error'].get('message')}")
        for choice in chunk["choices"]:
            if choice["index"] == 0:
                texts += [text] if (text := choice["delta"].get("content")) else []
                ended = ended or choice["finish_reason"] is not None
    if not ended:
        raise FrontendError("the stream broke off before the reply had ended")
    return "".join(texts), len(texts)


def _header(headers: Mapping[str, str], name: str) -> str:
    value = headers.get(name)
    if value is None:
        raise FrontendError(f"the reply has no header {name}")
    return value
