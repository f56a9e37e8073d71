"""Reads a request, outside of the event loop if much of its text is new."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from saga_core.state_block import SCANNED, unscanned
from saga_core.transcript.dialogue import Transcript, identity_keys, read_transcript
from saga_core.transcript.identities import Facts, facts_of, read_ahead, remember, without_keys

_LONG = 64 * 1_024
"""Maximum characters of new text that are processed on the event loop, in all messages of a request together."""
_FAR = 2 * _LONG
"""Minimum characters that are processed by ``elsewhere``."""

Elsewhere = Callable[[Callable[[Sequence[str]], list[Facts]], Sequence[str]], Awaitable[list[Facts]]]
"""Calls a function of texts without blocking the event loop, for example in another process."""


async def read_request(messages: Sequence[Mapping[str, Any]], elsewhere: Elsewhere | None = None) -> Transcript:
    """As ``read_transcript``, without blocking the event loop for long texts, for thousands of short ones, or for texts
    that may hold state blocks.

    ``elsewhere`` does the slow work on long texts and on those that may hold state blocks. Without it, a thread does.
    """
    texts = _texts(messages)
    short = _size(texts) < _LONG or (max(map(len, texts)) < _LONG and _size(without_keys(texts)) < _LONG)
    scanned = unscanned(texts)
    if short and _size(scanned) < SCANNED:
        # In a continued chat only the last few messages are new, and a thread would only cost time.
        return read_transcript(messages)
    slow = list(dict.fromkeys((*(text for text in texts if len(text) >= _LONG), *scanned)))
    facts = await elsewhere(facts_of, slow) if elsewhere is not None and _size(slow) >= _FAR else ()
    return await asyncio.to_thread(_read, messages, slow, facts)


def _read(messages: Sequence[Mapping[str, Any]], slow: Sequence[str], facts: Sequence[Facts]) -> Transcript:
    for text, known in zip(slow, facts, strict=False):
        remember(text, known)
    read_ahead(slow)
    transcript = read_transcript(messages)
    if slow:  # a reply without its thoughts is another text
        read_ahead(unscanned(each.sent for each in transcript.utterances))
    identity_keys(transcript.utterances)  # fill the cache for the matcher
    return transcript


def _size(texts: Sequence[str]) -> int:
    return sum(map(len, texts))


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
