"""Models as judges: of OpenAI, Anthropic and Google, or behind a server that speaks the API of one of them."""

from __future__ import annotations

import os
import re

import anthropic
import openai
from attrs import define

NAMES = {"openai": ("openai",), "anthropic": ("anthropic", "claude"), "google": ("google", "gemini"), "local": ()}
"""Providers, and the words in a narrator's name that say that it is of that provider."""
GOOGLE = "https://generativelanguage.googleapis.com/v1beta/openai/"
_REASONS = re.compile(r"(?:openai/)?(?:o\d|gpt-[5-9])")
"""OpenAI's models that refuse a temperature."""

_MOST = 1_500
"""The most tokens of an answer, where it has to be said."""


@define
class OpenAIJudge:
    """A judge behind OpenAI's chat API."""

    model: str
    provider: str
    client: openai.AsyncOpenAI

    async def __call__(self, system: str, question: str) -> str:
        answer = await self.client.chat.completions.create(
            model=self.model,
            messages=[{"role": "system", "content": system}, {"role": "user", "content": question}],
            temperature=openai.omit if _REASONS.match(self.model) else 0,
            # A small model may never end. Hosted ones end by themselves, and think first.
            max_tokens=_MOST if self.provider == "local" else openai.omit,
        )
        return answer.choices[0].message.content or ""


@define
class AnthropicJudge:
    """A judge behind Anthropic's Messages API."""

    model: str
    client: anthropic.AsyncAnthropic
    provider: str = "anthropic"

    async def __call__(self, system: str, question: str) -> str:
        answer = await self.client.messages.create(
            model=self.model, max_tokens=_MOST, system=system, messages=[{"role": "user", "content": question}]
        )
        return "".join(block.text for block in answer.content if block.type == "text")


Judge = OpenAIJudge | AnthropicJudge


def judge_of(named: str, provider: str, url: str | None = None) -> Judge:
    """The judge ``named`` MODEL or PROVIDER:MODEL. ``url`` is another address with the provider's API.

    Keys are in ``OPENAI_API_KEY``, ``ANTHROPIC_API_KEY`` and ``GEMINI_API_KEY``. A local server needs none. Raises
    ``ValueError`` for an unknown provider.
    """
    first, colon, rest = named.partition(":")
    if colon and first in NAMES:
        provider, named = first, rest
    match provider:
        case "anthropic":
            return AnthropicJudge(named, anthropic.AsyncAnthropic(base_url=url))
        case "google":
            key = os.environ.get("GEMINI_API_KEY", "")
            return OpenAIJudge(named, provider, openai.AsyncOpenAI(base_url=url or GOOGLE, api_key=key))
        case "local":
            if url is None:
                raise ValueError(f"{named}: a local judge needs its address")
            return OpenAIJudge(named, provider, openai.AsyncOpenAI(base_url=url, api_key="none"))
        case "openai":
            return OpenAIJudge(named, provider, openai.AsyncOpenAI(base_url=url))
    raise ValueError(f"{provider!r} is no provider: give one of {', '.join(NAMES)}")


def same_provider(narrators: list[str], judges: list[Judge]) -> list[str]:
    """The judges that are of a narrator's own provider."""
    told = " ".join(narrators).casefold()
    return [judge.model for judge in judges if any(word in told for word in NAMES[judge.provider])]
