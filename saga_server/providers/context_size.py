"""How much a server's refusal says about the size of its context."""

from __future__ import annotations

import re

from attrs import frozen

_REFUSALS = frozenset({400, 413, 422, 500, 502, 503})
"""The statuses with which servers refuse a prompt that is too long; 502 for an error without a status."""
_ABOUT = re.compile(
    r"context (?:size|length|window|limit|overflows|\d)|maximum context|n_ctx|max_seq_len|too many tokens|too long"
    r"|token limit|input length"
    r"|tokens? .{0,30}(?:exceed|greater)|(?:exceed|greater).{0,60}tokens?",
    re.IGNORECASE,
)
_EXCEEDS = re.compile(
    r"exceed|too (?:long|many|large)|maximum|greater|overflow|larger|reduce|limit|context \d|only|does not fit",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?<![\w.:/-])\d{1,3}(?:[,_ ]\d{3})+(?!\d)|(?<![\w.:/-])\d{3,9}(?![\w:/-])")
_LIMIT = re.compile(
    r"(?:n_ctx|max_\w{1,20}|context(?: (?:size|length|window|limit))?|maximum|limit|at most|up to|only)[^\d]{0,45}?"
    r"(?P<limit>\d[\d,_]{2,11})",
    re.IGNORECASE,
)
_READ = 1_000
"""Characters of a message that are looked at."""
_LEAST = 256
"""The smallest context that is believed."""


@frozen
class ContextRefusal:
    """A prompt that was too long. The numbers are in the server's tokens; None if it does not say them."""

    limit: int | None
    used: int | None


def context_refusal(message: str, status: int) -> ContextRefusal | None:
    """What an error says about a prompt that is too long; None if it is about something else.

    The forms are those of llama.cpp, KoboldCpp, TabbyAPI, vLLM, LM Studio, Ollama, OpenAI, Anthropic and Gemini. The
    largest number is what was sent, and the limit is the one that stands behind a word for it, else the next smaller.
    """
    message = message[:_READ]
    if status not in _REFUSALS or not (_ABOUT.search(message) and _EXCEEDS.search(message)):
        return None
    numbers = sorted(
        {int(re.sub(r"\D", "", each.group())) for each in _NUMBER.finditer(message)} - {status}, reverse=True
    )
    numbers = [number for number in numbers if number >= _LEAST]
    used = numbers[0] if len(numbers) > 1 else None
    named = [int(re.sub(r"\D", "", each["limit"])) for each in _LIMIT.finditer(message)]
    for limit in named:
        if limit >= _LEAST and (used is None or limit < used):
            return ContextRefusal(limit, used)
    return ContextRefusal(numbers[1] if used is not None else None, used)
