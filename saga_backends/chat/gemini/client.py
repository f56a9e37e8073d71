"""Client for Gemini's own API, at Google or at compatible servers."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any
from urllib.parse import quote

from attrs import define, field

from saga_backends.chat.calls import Calls
from saga_backends.chat.gemini.reply import GeminiReader
from saga_backends.chat.gemini.request import GeminiRequest, gemini_request
from saga_backends.chat.lessons import Learned
from saga_backends.chat.merging import several
from saga_backends.chat.model_list import listed_models
from saga_backends.chat.prefill import Unrepeated
from saga_backends.http_client import open_http
from saga_core.errors import BadInput, UpstreamError
from saga_core.ports import ChatPart, ChatRequest, Passed
from saga_core.registry import Backend, OpenOptions
from saga_core.upstream import rules_of

ADDRESS = "https://generativelanguage.googleapis.com"
_VERSION = re.compile(r"/v\d+(?:alpha|beta)?\d*(?:/|\Z)")
"""The API version in a path. If there is none, ``/v1beta`` is added."""


async def _open(options: OpenOptions) -> GeminiChat:
    given = options.take(
        name="google",
        base_url=None,
        api_key=None,
        timeout=600.0,
        max_retries=2,
        retry_seconds=30.0,
        facts={},
    )
    for option in ("base_url", "api_key"):
        if given[option] is not None and not isinstance(given[option], str):
            raise BadInput(f"options.{option}: give a text")
    address = (given["base_url"] or ADDRESS).rstrip("/")
    if not _VERSION.search(address):
        address += "/v1beta"
    client = await open_http(address, given["timeout"], {})
    settings = {name: given[name] for name in ("name", "timeout", "max_retries", "retry_seconds", "api_key")}
    return GeminiChat(GeminiCalls(client=client, **settings), Calls(client=client, **settings), given["facts"])


BACKEND = Backend(
    kind="chat",
    name="gemini",
    open=_open,
    summary="Gemini through Google's own API",
)


class GeminiCalls(Calls):
    """Calls that send the key in the header that Google's API expects, and never in the URL."""

    def shown(self, key: str | None) -> dict[str, str]:
        """Return the header for ``key``, or for the default key."""
        key = key or self.api_key
        return {"x-goog-api-key": key} if key else {}


@define(eq=False)
class GeminiChat:
    """A provider with Gemini's API. A call is cancelled when its iterator is closed.

    Options: ``name`` (of the provider, for messages), ``base_url`` (the root of the host, with or without the API
    version), ``api_key``, ``timeout`` (how many seconds the provider may be silent), ``max_retries`` and
    ``retry_seconds`` (how often, and for how many seconds after its start, a call is retried that fails before the
    reply begins) and ``facts`` (``models.facts`` of the configuration).
    """

    calls: Calls
    openai: Calls
    """Calls to Google's OpenAI-compatible API, which takes the key as a bearer token."""
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

        Most models give one reply per request, so several choices take several requests.
        """
        replies = several(request, lambda index: self._patient(request, index, streaming))
        async with aclosing(replies) as parts:
            async for part in parts:
                yield part

    async def models(self) -> list[str]:
        """Return the ids of the models that generate text. Raises ``UpstreamError``."""
        answer = await self.calls.get("/models?pageSize=1000")
        listed = answer.get("models") if isinstance(answer, Mapping) else None
        if not isinstance(listed, list):
            raise UpstreamError(f"{self.host} lists no models under 'models'")
        return listed_models({"data": [_as_openai(model) for model in listed if _writes(model)]}, self.host)

    async def pass_on(self, path: str, body: bytes, content_type: str, api_key: str | None) -> Passed:
        """Pass ``body`` on to ``path`` of Google's OpenAI API and return the reply. Raises ``UpstreamError``."""
        address = f"{str(self.calls.client.base_url).rstrip('/')}/openai{path}"
        return await self.openai.passed(address, body, content_type, api_key)

    async def aclose(self) -> None:
        """Close the connections."""
        await self.calls.client.aclose()

    def _patient(self, request: ChatRequest, index: int, streaming: bool) -> AsyncGenerator[ChatPart, None]:
        return self.calls.patiently(lambda: self._attempt(request, index, streaming))

    async def _attempt(self, request: ChatRequest, index: int, streaming: bool) -> AsyncGenerator[ChatPart, None]:
        response, sent = await self._post(request, streaming)
        reader = GeminiReader(self.calls.blame(request.api_key), Unrepeated(sent.beginning), index)
        first = sent.adjusted if index == 0 else ()
        replied = self.calls.parts(response, reader, request.api_key, streaming=streaming, first=first)
        async with aclosing(replied) as parts:
            async for part in parts:
                yield part

    async def _post(self, request: ChatRequest, streaming: bool) -> tuple[Any, GeminiRequest]:
        """Send the request; return the response and what was sent. Refused parameters are left out and not resent."""
        trial = self._learned.trial(request.model, rules_of(request.model, "google", self.facts))
        path = _path(request.model) + (":streamGenerateContent?alt=sse" if streaming else ":generateContent")
        while True:
            sent = gemini_request(request, trial.rules)
            try:
                return await self.calls.post(path, sent.body, request.api_key, {}), sent
            except UpstreamError as error:
                if not trial.learn(error, sent.settings):
                    raise


def _writes(model: Any) -> bool:
    methods = model.get("supportedGenerationMethods") if isinstance(model, Mapping) else None
    return not isinstance(methods, list) or "generateContent" in methods


def _as_openai(model: Any) -> Any:
    name = model.get("name") if isinstance(model, Mapping) else None
    return {"id": name.removeprefix("models/")} if isinstance(name, str) else model


def _path(model: str) -> str:
    """Return the path of a model, which is under ``models`` unless the name contains its own path."""
    placed = model.startswith(("models/", "tunedModels/", "publishers/"))
    return f"/{quote(model, safe='/')}" if placed and ".." not in model else f"/models/{quote(model, safe='')}"
