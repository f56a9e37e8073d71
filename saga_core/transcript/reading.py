"""Reading a request: beside the event loop, where much of its text was not read lately."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from saga_core.transcript.dialogue import Transcript, identity_keys, read_transcript
from saga_core.transcript.identities import Facts, facts_of, known_keys, read_ahead, remember

_LONG = 64 * 1_024
"""Characters that are looked through on the loop, at most: a megabyte of marks takes three seconds."""
_FAR = 2 * _LONG
"""Characters of long texts that are looked through elsewhere."""

Elsewhere = Callable[[Callable[[Sequence[str]], list[Facts]], Sequence[str]], Awaitable[list[Facts]]]
"""Calls a function of texts where it holds nobody up."""


async def read_request(messages: Sequence[Mapping[str, Any]], elsewhere: Elsewhere | None = None) -> Transcript:
    """``read_transcript``, so that others wait neither for one long text nor for thousands of short ones.

    ``elsewhere`` does what takes long with long texts; a thread does without it.
    """
    texts = _texts(messages)
    long = [text for text in texts if len(text) >= _LONG]
    if not long:
        # Of a chat that goes on, the last few messages are all that is new: a thread would only cost time.
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
    identity_keys(transcript.utterances)  # they are at hand when a place is looked for
    return transcript


def _texts(messages: Sequence[Mapping[str, Any]]) -> list[str]:
    """The texts of the dialogue."""
    found: list[str] = []
    for message in messages:
        if type(message) is not dict or message.get("role") not in ("assistant", "user"):
            continue  # no server gives what is no object; it is refused when it is read
        content = message.get("content")
        if type(content) is str:
            found.append(content)
        elif isinstance(content, list):
            parts = (part.get("text") for part in content if isinstance(part, Mapping))
            found += [text for text in parts if isinstance(text, str)]
    return found
