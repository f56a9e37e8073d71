"""Splits the player's words into sentences and finds quoted speech."""

from __future__ import annotations

import re

QUOTED = re.compile(r"\"([^\"]*)\"|“([^”]*)”|「([^」]*)」|『([^』]*)』")
_END = re.compile(r"(?<=[.!?…。])\s+|\n+")
_LONGEST = 200
"""The maximum number of characters of a sentence. The rest is ignored."""
_MARKUP = re.compile(r"[*_~`]")
_STOPS = {ord(stop): chr(0xE000 + index) for index, stop in enumerate(".!?…。\n")}
_STARTS = {ord(held): chr(stop) for stop, held in _STOPS.items()}


def sentences(words: str) -> list[str]:
    """Return the sentences without markup. Quoted speech is never split, even if it contains full stops."""
    held = QUOTED.sub(lambda quote: quote[0].translate(_STOPS), _MARKUP.sub(" ", words))
    return [part.translate(_STARTS).strip()[:_LONGEST] for part in _END.split(held) if part.strip()]


def unquoted(sentence: str) -> str:
    """Return the sentence without quoted speech."""
    return QUOTED.sub(" ", sentence)


def quote(sentence: str) -> str:
    """Return the first quoted speech in the sentence, or ""."""
    found = QUOTED.search(sentence)
    return next((group for group in found.groups() if group), "") if found else ""
