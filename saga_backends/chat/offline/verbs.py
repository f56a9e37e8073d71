"""Finds verbs, which name actions, in a text. The tables of verbs are in ``verbs_ko`` and ``verbs_en``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from attrs import frozen

from saga_backends.chat.offline.intent import Act


@frozen
class Verb:
    """Words for one action. ``deadly`` means an intent to kill."""

    act: Act
    pattern: re.Pattern[str]
    deadly: bool = False


@frozen
class Spoken:
    """A verb found in a text."""

    verb: Verb
    begin: int
    end: int


def spoken(text: str, verbs: tuple[Verb, ...]) -> Iterator[Spoken]:
    """Yield the verbs of ``text`` from left to right.

    Of overlapping verbs, only the first is used. If two begin together, the longer one is used.
    """
    found = [Spoken(verb, match.start(), match.end()) for verb in verbs for match in verb.pattern.finditer(text)]
    reached = 0
    for one in sorted(found, key=lambda one: (one.begin, -one.end)):
        if one.begin >= reached:
            reached = one.end
            yield one
