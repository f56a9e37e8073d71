"""SAGA between an official SDK and a strict local provider, for every dialect."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from attrs import frozen
from openai import AsyncOpenAI

from tests.fake_providers.anthropic import AnthropicMessages
from tests.fake_providers.gemini import GeminiServer
from tests.fake_providers.openai import OpenAIChatServer
from tests.fake_providers.server import ProtocolServer
from tests.server.client import Client

KEY = "sk-geheim-geheim-1"
GOOGLES_OPENAI = "google-openai"
DIALECTS: Mapping[str, tuple[str, str]] = {
    "anthropic": ("anthropic", "claude-sonnet-5-5"),
    "openai": ("openai", "gpt-5.6-sol"),
    "google": ("google", "gemini-2.5-flash"),
    "openrouter": ("openrouter", "anthropic/claude-sonnet-5.5"),
    "local": ("any", "qwen3:14b"),
}
"""What is tested to the dialect that is spoken and a model of it."""
OLDER: Mapping[str, tuple[str, str]] = {
    "anthropic-old": ("anthropic", "claude-haiku-4-5"),
    "openai-old": ("openai", "gpt-4.1"),
    GOOGLES_OPENAI: (GOOGLES_OPENAI, "gemini-2.5-flash"),
}
"""Models that take what newer ones refuse, and Google's OpenAI API."""


def provider_server(dialect: str) -> ProtocolServer:
    """A strict server of the dialect, which wants ``KEY``."""
    if dialect == "anthropic":
        return AnthropicMessages(key=KEY)
    if dialect == "any":
        return OpenAIChatServer(dialect="local", key=KEY)
    if dialect == "google":
        return GeminiServer(key=KEY)
    name = "google" if dialect == GOOGLES_OPENAI else dialect
    assert name in ("openai", "google", "openrouter")
    return OpenAIChatServer(dialect=name, key=KEY)  # type: ignore[arg-type]


def settings_for(dialect: str, server: ProtocolServer, **more: Any) -> dict[str, Any]:
    """The provider's section in a configuration."""
    name = "google" if dialect == GOOGLES_OPENAI else dialect
    return {"base_url": server.url, "api_key": KEY, "dialect": name, "max_retries": 0, **more}


@frozen
class Stage:
    """One dialect, ready to be played on."""

    dialect: str
    model: str
    upstream: ProtocolServer
    saga: Client
    sdk: AsyncOpenAI
    """The official SDK, which has SAGA's address as its base URL."""

    @staticmethod
    @asynccontextmanager
    async def of(case: str, *, sections: Mapping[str, Any] | None = None, **settings: Any) -> AsyncIterator[Stage]:
        """The stage for a case; ``settings`` are the provider's, ``sections`` those of the configuration."""
        dialect, model = {**DIALECTS, **OLDER}[case]
        async with provider_server(dialect) as upstream:
            providers = {"up": settings_for(dialect, upstream, **settings)}
            tree = {"providers": providers, **(sections or {})}
            async with (
                Client.of(tree, {}) as saga,
                AsyncOpenAI(base_url=f"{saga.server.url}/v1", api_key="unused", max_retries=0, timeout=20.0) as sdk,
            ):
                yield Stage(dialect, model, upstream, saga, sdk)

    async def say(self, messages: list[dict[str, Any]], *, stream: bool, **fields: Any) -> str:
        """The reply's text as the SDK gives it."""
        ask: Any = self.sdk.chat.completions.create
        if not stream:
            answer = await ask(model=self.model, messages=messages, **fields)
            return answer.choices[0].message.content or ""
        text = ""
        async for chunk in await ask(model=self.model, messages=messages, stream=True, **fields):
            for choice in chunk.choices:
                text += choice.delta.content or ""
        return text
