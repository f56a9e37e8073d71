"""What a story counts by its profile alone, and the profile that a card speaks of."""

from __future__ import annotations

import re

from saga_core.language import every, language_of, normalized
from saga_core.trackers.declaring import tracker_in_line
from saga_core.trackers.profiles import ADVENTURE, MYSTERY, ROMANCE
from saga_core.trackers.tracker import Tracker

_ENOUGH = 3
"""Different words of a sort of story that a card must have, and how many times as many as those of another sort."""

_READ = 65_536
"""Characters of a card that are looked at. Some clients send a whole chat as one text."""


def trackers_of(profile: str, language: str) -> tuple[Tracker, ...]:
    """What a story of a profile counts by itself, named in a language."""
    texts = language_of(language).profiles
    return tuple(map(tracker_in_line, {ROMANCE: texts.romance, MYSTERY: texts.mystery}.get(profile, ())))


def guessed_profile(card: str) -> str:
    """The profile of what a card speaks of; empty if it does not speak clearly of one sort of story."""
    plain = normalized("NFKC", card[:_READ]).casefold()
    found: dict[str, int] = {}
    for profile in (ROMANCE, MYSTERY, ADVENTURE):
        patterns = (str(getattr(each.genres, profile)) for each in every())
        found[profile] = len({word for pattern in patterns if pattern for word in re.findall(pattern, plain)})
    best = max(found, key=lambda profile: found[profile])
    others = max(count for profile, count in found.items() if profile != best)
    clear = found[best] >= max(_ENOUGH, _ENOUGH * others)
    return best if clear and best != ADVENTURE else ""
