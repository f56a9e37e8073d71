"""Other content of a message: words of several speakers with marks, and a frontend's own instructions.

Some frontends put each message into a wrapper (``<Mina's Message>…</Mina's Message>``), some send the whole chat as one
message, and some put their instructions to the model into a user message. All of these are recognized by text alone.
"""

from __future__ import annotations

import html
import re
from functools import cache

from attrs import frozen

from saga_core.language import Language, languages_in
from saga_core.looked_through import LONG, looked_through, without_empty_lines

WRAPPER = "s Message>"
"""Part of every wrapper, used as a quick test."""
SYSTEM = "system"
SYSTEM_MARK = f"{SYSTEM}: "
"""The prefix of a system text that is sent in the user role."""

_TAG = re.compile(r"<(/?)([^<>\n]{1,60})['’]s Message>")
_HTML = re.compile(r"<[^<>\n]{0,200}>")
_ROLE = re.compile(r"^(user|assistant)[:：][ \t]?", re.M)
NAME = re.compile(r"^([^\W\d_][^\n:：.!?\"“*。\[\]<>{}]{0,39})[:：][ \t]", re.M)
"""A name in front of a line. Many texts that are not a chat have such lines."""


def _opening(bracketed: tuple[str, ...], free: tuple[str, ...] = ()) -> re.Pattern[str]:
    """Return a pattern for lines that begin with ``[`` and one of ``bracketed``, or with one of ``free``, where the
    bracket is optional."""
    kinds = [rf"\[\s{{0,8}}+(?:{'|'.join(bracketed)})"] if bracketed else []
    kinds += [rf"\[?\s{{0,8}}+(?:{'|'.join(free)})"] if free else []
    # The number of blanks is limited, so that a page of empty lines is not rescanned at each line.
    return re.compile(rf"(?:\A|\n)[ \t]{{0,40}}+(?:{'|'.join(kinds)})", re.I)


@cache
def _notes(languages: tuple[Language, ...]) -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """Return the patterns of instructions at the end of a text, of those that stop the story, and of those that ask for
    the player's line. Compiled on first use."""
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
    """A part of a message with its speaker, by name, or by role if there is no name."""

    speaker: str
    role: str
    text: str


def unwrap(text: str) -> str:
    """Return ``text`` without the tags of wrappers."""
    return _TAG.sub("", text) if WRAPPER in text else text


def wrapped(text: str) -> list[Said]:
    """Return the wrapped parts of a text, in order. Unclosed wrappers are ignored."""
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
    """Return the frontend's text after the last wrapper, without system marks; empty without a wrapper."""
    end = max((tag.end() for tag in _TAG.finditer(text) if tag[1]), default=len(text))
    return "\n".join(line.removeprefix(SYSTEM_MARK) for line in text[end:].strip().split("\n"))


def marked(text: str) -> list[Said]:
    """Return the parts after ``user: `` and ``assistant: `` at the beginning of a line. Text before them is ignored."""
    return [Said("", found[1], part) for found, part in _behind(_ROLE, text)]


def _behind(mark: re.Pattern[str], text: str) -> list[tuple[re.Match[str], str]]:
    marks = list(mark.finditer(text))
    ends = (*(found.start() for found in marks[1:]), len(text))
    return [(found, text[found.end() : end].strip()) for found, end in zip(marks, ends, strict=False)]


def roles(parts: list[Said]) -> list[str]:
    """Return the role of each part. By names, the last speaker is the player, as in most requests."""
    names = {part.speaker for part in parts}
    if len(names) == 1:
        # One name for both speakers: they alternate.
        guessed = ["user" if (len(parts) - at) % 2 else "assistant" for at in range(len(parts))]
    else:
        guessed = ["user" if part.speaker == parts[-1].speaker else "assistant" for part in parts]
    return [part.role or guess for part, guess in zip(parts, guessed, strict=True)]


def tells_nothing_else(text: str, *, behind: bool) -> bool:
    """Whether a text consists only of the lines of a chat, followed by an instruction.

    ``behind`` means that an instruction follows the text. A real chat has a card or a prompt before its lines.
    """
    marks = NAME.findall(looked_through(text))
    if len(marks) < 2 or NAME.match(text) is None:
        return False
    return behind or (len(marks) > 2 and marks[-1] == SYSTEM and marks[0] != SYSTEM)


def excerpts(text: str) -> list[str]:
    """Return the text, its parts without possible instruction lines at either end, and each of these without tags."""
    found = _without_lines(text)
    if "</" in text:
        found += _without_lines(html.unescape(_HTML.sub("", text)))
    return found


def _without_lines(text: str) -> list[str]:
    lines = [line for line in filter(None, text.strip().split("\n")) if not line.isspace()]
    cuts = ((at, len(lines)) for at in range(1, min(len(lines), 1 + _EXCERPTS)))
    found = [text, *("\n".join(lines[start:end]) for start, end in (*cuts, (0, len(lines) - 1)))]
    return [each for each in found if each]


def split_note(text: str) -> tuple[str, str]:
    """Split a text into its words and a frontend's instruction at its end. Either may be empty.

    The instruction is searched in the last 64,000 characters.
    """
    at = max(0, len(text) - LONG)
    pattern = _notes(languages_in(text[at:]))[0]
    if pattern.search(without_empty_lines(text[at:])) is None or (found := pattern.search(text, at)) is None:
        return text, ""
    return text[: found.start()].rstrip(), text[found.start() :].strip()


def stops_the_story(text: str) -> bool:
    """Whether a frontend's instruction interrupts the story for a summary, a picture's description or a mood."""
    text = looked_through(text)
    return _notes(languages_in(text))[1].search(text) is not None


def asks_for_a_line(text: str) -> bool:
    """Whether an instruction asks for the player's next line."""
    text = looked_through(text)
    return _notes(languages_in(text))[2].search(text) is not None
