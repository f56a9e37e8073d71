"""Client for Anthropic's Messages API, at Anthropic or at compatible servers."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any, get_args

from attrs import define, field

from saga_backends.chat.anthropic.reply import MessageReader
from saga_backends.chat.anthropic.request import VERSION, MessagesRequest, Thinking, messages_request
from saga_backends.chat.calls import Calls, open_calls
from saga_backends.chat.lessons import Learned
from saga_backends.chat.merging import several
from saga_backends.chat.model_list import listed_models
from saga_backends.chat.prefill import Unrepeated
from saga_backends.http_client import open_http
from saga_core.errors import BadInput, UpstreamError
from saga_core.ports import ChatPart, ChatRequest
from saga_core.registry import Backend, OpenOptions
from saga_core.upstream import rules_of

ADDRESS = "https://api.anthropic.com"


async def _open(options: OpenOptions) -> AnthropicChat:
    given = options.take(
        name="anthropic",
        base_url=None,
        api_key=None,
        timeout=600.0,
        max_retries=2,
        retry_seconds=30.0,
        thinking="model",
        facts={},
    )
    for option in ("base_url", "api_key"):
        if given[option] is not None and not isinstance(given[option], str):
            raise BadInput(f"options.{option}: give a text")
    if given["thinking"] not in get_args(Thinking):
        raise BadInput(f"options.thinking: {given['thinking']!r} given; give one of {', '.join(get_args(Thinking))}")
    address = (given["base_url"] or ADDRESS).rstrip("/").removesuffix("/v1")
    client = await open_http(address, given["timeout"], {"anthropic-version": VERSION})
    return AnthropicChat(open_calls(client, given, given["api_key"]), given["thinking"], given["facts"])


BACKEND = Backend(
    kind="chat",
    name="anthropic",
    open=_open,
    summary="Claude through Anthropic's own API",
)


@define(eq=False)
class AnthropicChat:
    """A provider with the Messages API. A call is cancelled when its iterator is closed.

    Options are those of the ``openai`` backend except ``dialect``. ``base_url`` is the root of the host. The option
    ``thinking`` is ``model`` to let the model decide, or ``off`` to avoid thinking as far as possible. It is overridden
    by ``reasoning_effort`` in a request.
    """

    calls: Calls
    thinking: Thinking = "model"
    facts: Mapping[str, Mapping[str, Any]] = field(factory=dict)
    _learned: Learned = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._learned = Learned(self.calls.host)

    @property
    def name(self) -> str:
        """The name of the provider."""
        return self.calls.name

    @property
    def host(self) -> str:
        """The provider's host and port, for messages."""
        return self.calls.host

    async def stream(self, request: ChatRequest, *, streaming: bool = True) -> AsyncGenerator[ChatPart, None]:
        """Yield the reply in parts. Raises ``UpstreamError``, also after some parts.

        The API gives one reply per request, so several choices take several requests. The others are sent when the
        first reply begins, so that they find the prompt in the cache.
        """
        replies = several(request, lambda index: self._patient(request, index, streaming))
        async with aclosing(replies) as parts:
            async for part in parts:
                yield part

    async def models(self) -> list[str]:
        """Return the ids of the models that the provider lists. Raises ``UpstreamError``."""
        return listed_models(await self.calls.get("/v1/models?limit=1000"), self.host)

    async def aclose(self) -> None:
        """Close the connections."""
        await self.calls.client.aclose()

    def _patient(self, request: ChatRequest, index: int, streaming: bool) -> AsyncGenerator[ChatPart, None]:
        return self.calls.patiently(lambda: self._attempt(request, index, streaming))

    async def _attempt(self, request: ChatRequest, index: int, streaming: bool) -> AsyncGenerator[ChatPart, None]:
        response, sent = await self._post(request, streaming)
        reader = MessageReader(self.calls.blame(request.api_key), Unrepeated(sent.beginning), index)
        first = sent.adjusted if index == 0 else ()
        replied = self.calls.parts(response, reader, request.api_key, streaming=streaming, first=first)
        async with aclosing(replied) as parts:
            async for part in parts:
                yield part

    async def _post(self, request: ChatRequest, streaming: bool) -> tuple[Any, MessagesRequest]:
        """Send the request; return the response and what was sent. Refused parameters are left out and not resent."""
        trial = self._learned.trial(request.model, rules_of(request.model, "anthropic", self.facts))
        while True:
            sent = messages_request(request, trial.rules, self.thinking, streaming=streaming)
            try:
                headers = {"anthropic-version": sent.version}
                response = await self.calls.post("/v1/messages", sent.body, request.api_key, headers)
            except UpstreamError as error:
                if not trial.learn(error, sent.body):
                    raise
            else:
                return response, sent
