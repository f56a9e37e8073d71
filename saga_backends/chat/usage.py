"""Reads the token counts of a provider."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from saga_core.ports import MOST_TOKENS, Usage


def usage_of(bill: Mapping[str, Any]) -> Usage:
    """Return the tokens that a bill in the format of OpenAI's API counts."""
    details = bill.get("prompt_tokens_details")
    cached = details if isinstance(details, Mapping) else {}
    return Usage(
        input=token_count(bill.get("prompt_tokens")),
        output=token_count(bill.get("completion_tokens")),
        cache_read=token_count(cached.get("cached_tokens")) or token_count(bill.get("prompt_cache_hit_tokens")),
        cache_write=token_count(cached.get("cache_write_tokens")),
    )


def token_count(value: Any) -> int:
    """Return a number of tokens, or 0 if ``value`` is none."""
    return value if type(value) is int and 0 < value < MOST_TOKENS else 0
