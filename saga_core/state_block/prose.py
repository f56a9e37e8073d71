"""The prose of a reply: what it tells, without what cards and presets put around it.

Cards ask for plans, panels, tables, choices and commands for variables beside the story. The client needs them, and
often does not send them back. They are told from the story by structure: comments, fenced blocks, tables, and elements
that begin a line and are no formatting. If nothing is left, an element holds the story, and the one with the most prose
is opened.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from heapq import nlargest

_FENCE = re.compile(r"[ \t]{0,8}(?P<fence>`{3,}|~{3,})")
_TAG = re.compile(r"<(?P<end>/?)(?P<name>[^\W\d][\w:.-]{0,60})(?P<rest>(?:\s[^<>]{0,4000})?/?)>")
_TABLE = re.compile(r"^(?:[ \t]*[-*_]{3,}[ \t]*\n)?(?:[ \t]*\|[^\n]*\|[ \t]*(?:\n|$)){2,}", re.M)
_BAR = re.compile(r"^(?:[^\n|]{1,200}\|){2,40}[^\n|]{0,200}$", re.M)
"""A line of cells, such as ``[Day 3 | 17:40 | Ferry]``."""
_ROW = re.compile(r"[ \t]{0,8}(?:>[ \t]?[-*+•]?|[-*+•])[ \t][^\n:：]{1,60}[:：]")
"""A row of a board, such as ``- key: value`` or ``> **key**: value``. A dialogue has names alone."""
_HEADING = re.compile(r"[ \t>]{0,8}(?:\*\*[^\n*]{1,60}\*\*|#{1,6}[ \t][^\n]{1,60})[ \t]{0,8}")
_ROWS = 2
"""The least rows of a board."""
_MACRO = re.compile(r"\{\{[^{}\n]{1,400}\}\}")
"""A frontend's macro, which it evaluates and does not send back."""
_IMAGE = re.compile(r"!\[[^\[\]\n]*\]\([^()\n]*\)")
"""A picture of Markdown."""
_TOKENS = re.compile(r"(?:<\|[^\W\d][\w ]{0,40}\|?>\s*|<[^\W\d]\w{0,40}\|>\s*)+(?!assistant\b)")
"""Special tokens of a model's template, which servers may leave in a reply."""
CHANNEL, _ANSWER = "analysis", "assistantfinal"
"""The names of OpenAI's channels, where a server drops the tokens around them."""
_PANEL = frozenset({"div", "section", "table"})
_STYLED = re.compile(r"\s(?:class|style)\s*=")
_INNER_TAGS = 2
"""A styled box with this many tags in it is a panel. One with fewer is a text, such as a letter."""
_GAP = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")
_LETTER = re.compile(r"[^\W\d_]")
_LEAST = 8
"""Letters of the shortest text that is prose by itself."""
_FORMATTING = frozenset(
    "a abbr b big blockquote br center cite code dd del dfn div dl dt em font h1 h2 h3 h4 h5 h6 hr i img ins kbd li"
    " mark ol p q rp rt ruby s samp small span strike strong sub sup tt u ul var wbr".split()
)
_LONGEST = 262_144
"""Longer texts are taken as they are."""
_DEEP = 4
_MOST_OPENED = 64
"""How many elements are opened in the search for the story: the longest. A text may have ten thousand of them."""


def has_markup(text: str) -> bool:
    """A quick check whether a text may hold anything besides prose."""
    if "<" in text or "```" in text or "~~~" in text or "|" in text or "{{" in text or "![" in text:
        return True
    return (":" in text or "：" in text) and _without_boards(text) != text


def prose_of(text: str) -> str:
    """Return the prose of a reply. A text without markup is returned as it is."""
    return _prose_of(text) if has_markup(text) and len(text) <= _LONGEST else text


@lru_cache(maxsize=64)
def _prose_of(text: str) -> str:
    """Cached, because a reply is asked about several times when it is recorded."""
    found = _told(text, _DEEP)
    return text if found is None or found == text.strip() else found


def end_of_thoughts(text: str) -> int:
    """Where the elements or the tokens of a template end with which a reply begins; 0 if no story follows.

    What a model writes in elements before its story is a plan, whatever they are called.
    """
    if end := end_of_tokens(text):
        return end
    for name, part, at in _parts(text):
        if name is None and part.strip():
            break
        end = at if name is not None else end
    return end if len(_LETTER.findall(_told_outside(text[end:]))) >= _LEAST else 0


def end_of_tokens(text: str) -> int:
    """Where the story begins in a reply that begins with a token, a thought, and further tokens; 0 if it does not."""
    if text.startswith(CHANNEL):
        return text.find(_ANSWER) + len(_ANSWER) if _ANSWER in text else 0
    first = _TOKENS.match(text, len(text) - len(text.lstrip()))
    if first is None:
        return 0
    for run in _TOKENS.finditer(text, first.end()):
        if text[first.end() : run.start()].strip():
            return run.end() if _LETTER.search(text, run.end()) else 0
    return 0


def _told_outside(text: str) -> str:
    """The prose of a text that stands outside of its elements."""
    return _plain("".join(part if name is None else "\n" for name, part, _ in _parts(_uncommented(text))))


def _told(text: str, deep: int) -> str | None:
    """The prose of a text; None if it has none."""
    rest = _told_outside(text)
    if len(_LETTER.findall(rest)) >= _LEAST:
        return rest
    parts = [part for name, part, _ in _parts(_uncommented(text)) if name and deep]
    if len(parts) > _MOST_OPENED:
        parts = nlargest(_MOST_OPENED, parts, key=len)
    opened = [told for part in parts if (told := _told(part, deep - 1)) is not None]
    return max(opened, key=lambda told: len(_LETTER.findall(told)), default=None)


def _uncommented(text: str) -> str:
    kept, at = [], 0
    while (start := text.find("<!--", at)) >= 0 and (end := text.find("-->", start)) >= 0:
        kept += [text[at:start], "\0"]
        at = end + 3
    return "".join((*kept, text[at:]))


def _unfenced(text: str) -> str:
    """The text without blocks between two fences of one kind. A fence that nothing closes is a line of the text."""
    kept: list[str] = []
    opened, fence = -1, ""
    for line in text.split("\n"):
        found = _FENCE.match(line)
        kept.append(line)
        if found is None:
            continue
        if opened < 0:
            opened, fence = len(kept) - 1, found["fence"]
        elif line.strip() == fence:
            del kept[opened:]
            kept.append("")
            opened = -1
    return "\n".join(kept)


def _plain(text: str) -> str:
    text = _TABLE.sub("\n", _unfenced(text) if "```" in text or "~~~" in text else text)
    text = _IMAGE.sub("", _MACRO.sub("", _BAR.sub("", text))).strip()
    if ":" in text or "：" in text:
        text = _without_boards(text)
    return _GAP.sub("\n\n", text.replace("\0", "")).strip()


def _without_boards(text: str) -> str:
    """The text without two or more rows of a board at its beginning or end, and their heading."""
    lines = text.strip().split("\n")
    first, last = _board(lines), len(lines) - _board(lines[::-1])
    if not first and last == len(lines):
        return text
    while last > first and (not lines[last - 1].strip() or (last < len(lines) and _HEADING.fullmatch(lines[last - 1]))):
        last -= 1
    return "\n".join(lines[first:last]).strip()


def _board(lines: Sequence[str]) -> int:
    """How many lines a board at the beginning has."""
    begin = next((at for at, line in enumerate(lines[:2]) if not _HEADING.fullmatch(line) and line.strip()), 0)
    rows = next((at for at, line in enumerate(lines[begin:]) if _ROW.match(line) is None), len(lines) - begin)
    return begin + rows if rows >= _ROWS else 0


def _parts(text: str) -> Iterator[tuple[str | None, str, int]]:
    """Split a text into what stands outside of elements (None), and the content of elements with their names.

    The number is where a part ends.
    """
    at = 0
    begins: list[re.Match[str]] = []
    closed = {tag["name"].casefold(): tag.start() for tag in _TAG.finditer(text) if tag["end"]}
    for tag in _TAG.finditer(text):
        name = tag["name"].casefold()
        panel = name in _PANEL and (bool(begins) or _is_panel(text, tag, closed))
        if tag.start() < at or (name in _FORMATTING and not panel and not _is_alone(text, tag, closed)):
            continue
        if begins:
            if name != begins[0]["name"].casefold():
                continue
            if not tag["end"]:
                if not tag["rest"].endswith("/"):
                    begins.append(tag)
                continue
            opened = begins.pop()
            if begins:
                continue
            yield None, text[at : opened.start()], opened.start()
            yield name, text[opened.end() : tag.start()], tag.end()
            at = tag.end()
        elif not tag["end"] and _begins_line(text, at, tag.start()):
            if tag["rest"].endswith("/") or _is_alone(text, tag, closed):
                yield None, text[at : tag.start()], tag.start()
                yield name, "", tag.end()
                at = tag.end()
            elif closed.get(name, -1) > tag.start():
                begins.append(tag)
    yield None, text[at:], len(text)


def _is_panel(text: str, tag: re.Match[str], closed: Mapping[str, int]) -> bool:
    end = closed.get(tag["name"].casefold(), -1)
    return _STYLED.search(tag["rest"]) is not None and text.count("<", tag.end(), max(end, 0)) >= _INNER_TAGS


def _is_alone(text: str, tag: re.Match[str], closed: Mapping[str, int]) -> bool:
    """Whether a tag with attributes is never closed and ends its line, as one for a picture does."""
    if "=" not in tag["rest"] or closed.get(tag["name"].casefold(), -1) > tag.start():
        return False
    return not text[tag.end() :].partition("\n")[0].strip()


def _begins_line(text: str, at: int, start: int) -> bool:
    """Whether nothing but blanks, comments and elements stands before ``start`` in its line."""
    before = text[max(at, text.rfind("\n", 0, start) + 1) : start]
    return not before.strip(" \t>\0")
