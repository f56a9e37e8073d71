"""Other content of a message: other people's words with marks of who speaks, and a frontend's own instructions.

Some frontends put each message into a wrapper (``<Mina's Message>…</Mina's Message>``), some send the whole chat as one
message, and some put their instructions to the model into a user message. All of it is recognised by text alone.
"""

from __future__ import annotations

import html
import re
from functools import cache

from attrs import frozen

from saga_core.language import Language, languages_in
from saga_core.looked_through import LONG, looked_through

WRAPPER = "s Message>"
"""Stands in every text that has a wrapper: a quick test."""
SYSTEM = "system"
SYSTEM_MARK = f"{SYSTEM}: "
"""Before a system text that is sent in the role of the user."""

_TAG = re.compile(r"<(/?)([^<>\n]{1,60})['’]s Message>")
_HTML = re.compile(r"<[^<>\n]{0,200}>")
_ROLE = re.compile(r"^(user|assistant)[:：][ \t]?", re.M)
NAME = re.compile(r"^([^\W\d_][^\n:：.!?\"“*。\[\]<>{}]{0,39})[:：][ \t]", re.M)
"""A name in front of a line, as many a text has it that is no chat."""


def _opening(bracketed: tuple[str, ...], free: tuple[str, ...] = ()) -> re.Pattern[str]:
    """What begins a line with one of these, in a bracket or with or without."""
    kinds = [rf"\[\s{{0,8}}+(?:{'|'.join(bracketed)})"] if bracketed else []
    kinds += [rf"\[?\s{{0,8}}+(?:{'|'.join(free)})"] if free else []
    # As many blanks as somebody types: a page of empty lines must not be gone through at each of them.
    return re.compile(rf"(?:\A|\n)[ \t]{{0,40}}+(?:{'|'.join(kinds)})", re.I)


@cache
def _notes(languages: tuple[Language, ...]) -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """Instructions at the end of a text, those that stop the story, and those that ask for the player's line. Made when
    they are first needed."""
    asked = [each.requests for each in languages]
    bracketed = (
        *(nudge for each in asked for nudge in each.nudges),
        *(note for each in asked for note in each.errands),
    )
    stops = tuple(stop for each in asked for stop in each.stops)
    lines = tuple(line for each in asked for line in each.impersonation)
    return _opening(bracketed, stops), _opening((), stops), _opening(lines)


_EXCERPTS = 3


@frozen
class Said:
    """A part of a message with its speaker: by name, or by role if no name is given."""

    speaker: str
    role: str
    text: str


def unwrap(text: str) -> str:
    """``text`` without wrappers' tags."""
    return _TAG.sub("", text) if WRAPPER in text else text


def wrapped(text: str) -> list[Said]:
    """The wrapped parts of a text, in order. A wrapper that is not closed is none."""
    parts: list[Said] = []
    opened: re.Match[str] | None = None
    for tag in _TAG.finditer(text):
        if not tag[1]:
            opened = tag
        elif opened is not None and tag[2] == opened[2]:
            parts.append(Said(tag[2].strip(), "", text[opened.end() : tag.start()].strip()))
            opened = None
    return parts


def behind_wrappers(text: str) -> str:
    """What a frontend says behind the last wrapper of a text, without its marks; empty without a wrapper."""
    end = max((tag.end() for tag in _TAG.finditer(text) if tag[1]), default=len(text))
    return "\n".join(line.removeprefix(SYSTEM_MARK) for line in text[end:].strip().split("\n"))


def marked(text: str) -> list[Said]:
    """The parts behind ``user: `` and ``assistant: `` at the beginning of a line. What stands before is no part."""
    return [Said("", found[1], part) for found, part in _behind(_ROLE, text)]


def _behind(mark: re.Pattern[str], text: str) -> list[tuple[re.Match[str], str]]:
    marks = list(mark.finditer(text))
    ends = (*(found.start() for found in marks[1:]), len(text))
    return [(found, text[found.end() : end].strip()) for found, end in zip(marks, ends, strict=False)]


def roles(parts: list[Said]) -> list[str]:
    """Who is the player among the speakers, as far as names tell: the one who spoke last, as in most requests."""
    names = {part.speaker for part in parts}
    if len(names) == 1:
        # One name for both: they take turns.
        guessed = ["user" if (len(parts) - at) % 2 else "assistant" for at in range(len(parts))]
    else:
        guessed = ["user" if part.speaker == parts[-1].speaker else "assistant" for part in parts]
    return [part.role or guess for part, guess in zip(parts, guessed, strict=True)]


def tells_nothing_else(text: str, *, behind: bool) -> bool:
    """Whether a text is the lines of a chat from its first word on, and an instruction ends it.

    ``behind``: whether one stands behind it. A chat that is played has a card or a prompt in front.
    """
    marks = NAME.findall(looked_through(text))
    if len(marks) < 2 or NAME.match(text) is None:
        return False
    return behind or (len(marks) > 2 and marks[-1] == SYSTEM and marks[0] != SYSTEM)


def excerpts(text: str) -> list[str]:
    """The whole text, what is left of it without an instruction's line above or below, and each without tags."""
    found = _without_lines(text)
    if "</" in text:
        found += _without_lines(html.unescape(_HTML.sub("", text)))
    return found


def _without_lines(text: str) -> list[str]:
    lines = [line for line in text.strip().split("\n") if line.strip()]
    cuts = ((at, len(lines)) for at in range(1, min(len(lines), 1 + _EXCERPTS)))
    found = [text, *("\n".join(lines[start:end]) for start, end in (*cuts, (0, len(lines) - 1)))]
    return [each for each in found if each]


def split_note(text: str) -> tuple[str, str]:
    """A text and the instruction of a frontend that stands at its end, either of which may be empty.

    It is looked for in the last 64,000 characters.
    """
    at = max(0, len(text) - LONG)
    found = _notes(languages_in(text[at:]))[0].search(text, at)
    if found is None:
        return text, ""
    return text[: found.start()].rstrip(), text[found.start() :].strip()


def stops_the_story(text: str) -> bool:
    """Whether a frontend's instruction interrupts the story: for a summary, a picture's description, a mood."""
    text = looked_through(text)
    return _notes(languages_in(text))[1].search(text) is not None


def asks_for_a_line(text: str) -> bool:
    """Whether it asks for the player's next line."""
    text = looked_through(text)
    return _notes(languages_in(text))[2].search(text) is not None
