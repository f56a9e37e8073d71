"""Reads a request, outside of the event loop if much of its text is not cached."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from saga_core.transcript.dialogue import Transcript, identity_keys, read_transcript
from saga_core.transcript.identities import Facts, facts_of, known_keys, read_ahead, remember

_LONG = 64 * 1_024
"""Maximum characters that are processed on the event loop. A megabyte of marks takes three seconds."""
_FAR = 2 * _LONG
"""Minimum characters of long texts that are processed by ``elsewhere``."""

Elsewhere = Callable[[Callable[[Sequence[str]], list[Facts]], Sequence[str]], Awaitable[list[Facts]]]
"""Calls a function of texts without blocking the event loop, for example in another process."""


async def read_request(messages: Sequence[Mapping[str, Any]], elsewhere: Elsewhere | None = None) -> Transcript:
    """As ``read_transcript``, without blocking the event loop for one long text or for thousands of short ones.

    ``elsewhere`` does the slow work on long texts. Without it, a thread does.
    """
    texts = _texts(messages)
    long = [text for text in texts if len(text) >= _LONG]
    if not long:
        # In a continued chat only the last few messages are new, and a thread would only cost time.
        fresh = sum(len(text) for text, key in zip(texts, known_keys(texts), strict=True) if key is None)
        if fresh < _LONG:
            return read_transcript(messages)
    facts = await elsewhere(facts_of, long) if elsewhere is not None and sum(map(len, long)) >= _FAR else ()
    return await asyncio.to_thread(_read, messages, long, facts)


def _read(messages: Sequence[Mapping[str, Any]], long: Sequence[str], facts: Sequence[Facts]) -> Transcript:
    for text, known in zip(long, facts, strict=False):
        remember(text, known)
    read_ahead(long)
    transcript = read_transcript(messages)
    identity_keys(transcript.utterances)  # fill the cache for the matcher
    return transcript


def _texts(messages: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the texts of the dialogue messages."""
    found: list[str] = []
    for message in messages:
        if type(message) is not dict or message.get("role") not in ("assistant", "user"):
            continue  # anything but an object is rejected when the message is read
        content = message.get("content")
        if type(content) is str:
            found.append(content)
        elif isinstance(content, list):
            parts = (part.get("text") for part in content if isinstance(part, Mapping))
            found += [text for text in parts if isinstance(text, str)]
    return found
