"""Splits the player's words into sentences, and marks what is speech."""

from __future__ import annotations

import re

QUOTED = re.compile(r"\"([^\"]*)\"|“([^”]*)”|「([^」]*)」|『([^』]*)』")
_END = re.compile(r"(?<=[.!?…。])\s+|\n+")
_LONGEST = 200
"""Characters of a sentence that are understood; the rest is left out."""
_MARKUP = re.compile(r"[*_~`]")
_STOPS = {ord(stop): chr(0xE000 + index) for index, stop in enumerate(".!?…。\n")}
_STARTS = {ord(held): chr(stop) for stop, held in _STOPS.items()}


def sentences(words: str) -> list[str]:
    """The sentences, without markup; what is said in quotes stays whole, whatever stops it holds."""
    held = QUOTED.sub(lambda quote: quote[0].translate(_STOPS), _MARKUP.sub(" ", words))
    return [part.translate(_STARTS).strip()[:_LONGEST] for part in _END.split(held) if part.strip()]


def unquoted(sentence: str) -> str:
    """The sentence without what is said in it."""
    return QUOTED.sub(" ", sentence)


def quote(sentence: str) -> str:
    """The first thing said in the sentence, or ""."""
    found = QUOTED.search(sentence)
    return next((group for group in found.groups() if group), "") if found else ""
