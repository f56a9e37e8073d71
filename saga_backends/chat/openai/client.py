"""Client for servers with the OpenAI chat API and their dialects."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any
from urllib.parse import urlsplit

from attrs import define, field

from saga_backends.chat.calls import Calls, open_calls
from saga_backends.chat.json_text import read_text
from saga_backends.chat.lessons import Learned
from saga_backends.chat.merging import choices_of
from saga_backends.chat.model_list import listed_models
from saga_backends.chat.openai.reply import ReplyReader
from saga_backends.chat.openai.request import openai_body
from saga_backends.chat.text_completion import TextReader, server_root, text_body, text_path
from saga_backends.http_client import open_http
from saga_core.errors import BadInput, UpstreamError
from saga_core.ports import AdjustedPart, ChatPart, ChatRequest, Passed
from saga_core.registry import Backend, OpenOptions
from saga_core.upstream import facts_of, rules_of

ADDRESS = "https://api.openai.com/v1"
_ACCOUNT = {"OPENAI_ORG_ID": "OpenAI-Organization", "OPENAI_PROJECT_ID": "OpenAI-Project"}
"""Maps environment variables to the headers that tell OpenAI which account to bill."""
_HOSTS = {
    "api.openai.com": "openai",
    "generativelanguage.googleapis.com": "google",
    "openrouter.ai": "openrouter",
}


async def _open(options: OpenOptions) -> OpenAIChat:
    given = options.take(
        name="openai",
        base_url=None,
        api_key=None,
        timeout=600.0,
        max_retries=2,
        retry_seconds=30.0,
        dialect="",
        facts={},
    )
    for option in ("base_url", "api_key"):
        if given[option] is not None and not isinstance(given[option], str):
            raise BadInput(f"options.{option}: give a text")
    base_url, api_key, headers = given["base_url"], given["api_key"], dict[str, str]()
    if base_url is None:  # environment variables only apply to OpenAI itself
        base_url = os.environ.get("OPENAI_BASE_URL") or ADDRESS
        api_key = api_key or os.environ.get("OPENAI_API_KEY")
        if not api_key:
            remedy = "give it or base_url"
            raise BadInput(f"options.api_key: none is given, and OPENAI_API_KEY is not set; {remedy}")
        headers = {header: os.environ[name] for name, header in _ACCOUNT.items() if os.environ.get(name)}
    client = await open_http(base_url, given["timeout"], headers)
    calls = open_calls(client, given, api_key)
    return OpenAIChat(calls, given["dialect"] or dialect_at(base_url), given["facts"])


BACKEND = Backend(
    kind="chat",
    name="openai",
    open=_open,
    summary="any server that speaks the OpenAI chat API",
)


def dialect_at(base_url: str) -> str:
    """Return the dialect of the server at ``base_url``: ``openai``, ``google``, ``openrouter`` or ``any``."""
    return _HOSTS.get(urlsplit(base_url).hostname or "", "any")


@define(eq=False)
class OpenAIChat:
    """A provider with the OpenAI chat API. A call is cancelled when its iterator is closed.

    Options: ``name`` (of the provider, for messages), ``base_url``, ``api_key``, ``timeout`` (how many seconds the
    provider may be silent), ``max_retries`` and ``retry_seconds`` (how often, and for how many seconds after its start,
    a call is retried that fails before the reply begins), ``dialect`` (``openai``, ``google``, ``openrouter`` or
    ``any``; if empty, it is derived from the address) and ``facts`` (``models.facts`` of the configuration).
    """

    calls: Calls
    dialect: str
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
        """Yield the reply in parts. Raises ``UpstreamError``, also after some parts."""
        async with aclosing(self.calls.patiently(lambda: self._attempt(request, streaming))) as parts:
            async for part in parts:
                yield part

    async def models(self) -> list[str]:
        """Return the ids of the models that the provider lists. Raises ``UpstreamError``."""
        return listed_models(await self.calls.get("/models"), self.host)

    async def relay(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request to ``path`` below the server's root and return the JSON reply. Raises ``UpstreamError``."""
        address = server_root(str(self.calls.client.base_url)) + path
        if method == "GET":
            return await self.calls.get(address)
        response = await self.calls.post(address, body, None, {})
        try:
            return await asyncio.to_thread(read_text, await self.calls.body(response))
        except ValueError:
            raise UpstreamError(f"{self.host} answered {path} with something that is not JSON") from None
        except self.calls.transport_errors as error:
            raise self.calls.failure(error) from error
        finally:
            await response.aclose()

    async def pass_on(self, path: str, body: bytes, content_type: str, api_key: str | None) -> Passed:
        """Pass ``body`` on to ``path`` below the base URL and return the reply. Raises ``UpstreamError``."""
        return await self.calls.passed(path, body, content_type, api_key)

    async def aclose(self) -> None:
        """Close the connections."""
        await self.calls.client.aclose()

    async def _attempt(self, request: ChatRequest, streaming: bool) -> AsyncGenerator[ChatPart, None]:
        blame, text = self.calls.blame(request.api_key), request.text
        reader, first = ReplyReader(blame, choices=choices_of(request)), list[AdjustedPart]()
        if text is not None:
            path = text_path(text, str(self.calls.client.base_url), streaming=streaming)
            body = text_body(request, text, streaming=streaming)
            response = await self.calls.post(path, body, request.api_key, {})
            reader = TextReader(blame, choices=choices_of(request), wire=text.wire)
        else:
            response, first = await self._post(request, streaming)
        replied = self.calls.parts(response, reader, request.api_key, streaming=streaming, first=first)
        async with aclosing(replied) as parts:
            async for part in parts:
                yield part

    async def _post(self, request: ChatRequest, streaming: bool) -> tuple[Any, list[AdjustedPart]]:
        """Send the request; return the response and the adjustments. Refused parameters are left out and not resent."""
        facts = facts_of(request.model, self.dialect, self.facts)
        trial = self._learned.trial(request.model, rules_of(request.model, self.dialect, self.facts))
        while True:
            body, adjusted = openai_body(request, self.dialect, trial.rules, facts, streaming=streaming)
            try:
                return await self.calls.post("/chat/completions", body, request.api_key, {}), adjusted
            except UpstreamError as error:
                if not trial.learn(error, body):
                    raise
