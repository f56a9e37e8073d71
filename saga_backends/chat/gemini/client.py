"""Gemini's own API: Google itself, and whoever speaks as it does."""

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
"""The version in a path; without one it is ``/v1beta``."""


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
    """Calls that show the key as Google's API wants it: in a header, never in an address."""

    def shown(self, key: str | None) -> dict[str, str]:
        """The header that shows ``key``, or the client's own."""
        key = key or self.api_key
        return {"x-goog-api-key": key} if key else {}


@define(eq=False)
class GeminiChat:
    """A provider behind Gemini's API. A call is cancelled as soon as its iterator is closed.

    Options: ``name`` (the provider's, for messages), ``base_url`` (the host's root, or with the API's version),
    ``api_key``, ``timeout`` (seconds that the provider may stay silent), ``max_retries`` and ``retry_seconds`` (how
    often, and for how long after its beginning, a call is repeated that failed before the reply began) and ``facts``
    (``models.facts`` of the configuration).
    """

    calls: Calls
    openai: Calls
    """For what Google has at its OpenAI API, where the key is a bearer token."""
    facts: Mapping[str, Mapping[str, Any]] = field(factory=dict)
    _learned: Learned = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._learned = Learned(self.calls.host)

    @property
    def name(self) -> str:
        """The provider's name."""
        return self.calls.name

    @property
    def host(self) -> str:
        """The provider's host and port, for messages."""
        return self.calls.host

    async def stream(self, request: ChatRequest, *, streaming: bool = True) -> AsyncGenerator[ChatPart, None]:
        """The reply in parts. Raises ``UpstreamError``, also after some parts.

        Most models give one reply to a request: several choices are several requests.
        """
        replies = several(request, lambda index: self._patient(request, index, streaming))
        async with aclosing(replies) as parts:
            async for part in parts:
                yield part

    async def models(self) -> list[str]:
        """The ids of the models that write. Raises ``UpstreamError``."""
        answer = await self.calls.get("/models?pageSize=1000")
        listed = answer.get("models") if isinstance(answer, Mapping) else None
        if not isinstance(listed, list):
            raise UpstreamError(f"{self.host} lists no models under 'models'")
        return listed_models({"data": [_as_openai(model) for model in listed if _writes(model)]}, self.host)

    async def pass_on(self, path: str, body: bytes, content_type: str, api_key: str | None) -> Passed:
        """What Google's OpenAI API answers to ``body`` at ``path``. Raises ``UpstreamError``."""
        address = f"{str(self.calls.client.base_url).rstrip('/')}/openai{path}"
        return await self.openai.passed(address, body, content_type, api_key)

    async def aclose(self) -> None:
        """Let go of connections."""
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
        """The response, and what was sent for it. What a refusal names is left out, and not sent again."""
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
    """Where a model is: under ``models``, unless its name says where."""
    placed = model.startswith(("models/", "tunedModels/", "publishers/"))
    return f"/{quote(model, safe='/')}" if placed and ".." not in model else f"/models/{quote(model, safe='')}"
