"""The filter that hides SAGA's own context and pages where a reply repeats them. Sans-IO.

Small models continue what they see: they open a reply with the block of context that stood before the player's words,
or with a page. An echo of context goes from its opening sign to its closing sign, or to the first empty line. An echo
of a page begins with the page's title, and has only lines of lists and headings.
"""

from __future__ import annotations

import re
from functools import cache

from saga_core.language import every

_HEAD = re.compile(r"\[ ?(?:(?P<closes>/) ?SAGA ?\]|SAGA ?[:：][^\]\n]{0,200}\])")
_BEGUN = re.compile(r"\[ ?/? ?(?:S(?:A(?:G(?:A ?(?:[:：][^\]\n]{0,200})?)?)?)?)?")
_END = re.compile(r"\[ ?/ ?SAGA ?\]|\n[ \t]*\n")
_REACH = 32
"""Characters within which the end of an echo lies."""
_SIGN = re.compile(r"[\[#]")
_MARK = re.compile(r"#{1,3} *")
_DIGITS = re.compile(r"\d+")
_LINE_OF_PAGE = re.compile(r"[ \t]*[-#>*]|[ \t\r]*\n")
_LONGEST_TITLE = 60
_NOW = "[Now]"


@cache
def _titles() -> frozenset[str]:
    """The titles of pages in all languages, with 0 for the turn."""
    return frozenset(each.texts.pages["then"].format(turn=0) for each in every() if "then" in each.texts.pages)


@cache
def _headings() -> frozenset[str]:
    """The heading of what is true now, in all languages: it stands first in the context."""
    return frozenset({_NOW, *(each.labels.sections.get("now", _NOW) for each in every())})


def _is_title(line: str) -> bool:
    mark = _MARK.match(line)
    return mark is not None and _DIGITS.sub("0", line[mark.end() :].strip()) in _titles()


def _may_become_title(line: str) -> bool:
    """Whether a line that has not ended may become the title of a page, or is one."""
    begun = _DIGITS.sub("0", line[: _LONGEST_TITLE + 1].lstrip("#").lstrip(" "))
    return len(line) <= _LONGEST_TITLE and any(title.startswith(begun.rstrip()) for title in _titles())


def may_echo(text: str) -> bool:
    """Whether a text may repeat SAGA's context or a page."""
    if "[" in text:
        if _HEAD.search(text) is not None:
            return True
        if any(line in _headings() for line in text.split("\n") if line.startswith("[")):
            return True
    return "#" in text and any(line.startswith("#") and _is_title(line) for line in text.split("\n"))


class EchoFilter:
    """Hides repeated context while a reply streams. What it returns does not depend on how the reply is split."""

    def __init__(self) -> None:
        self._held = ""
        self._last = "\n"
        """The last character before what comes next; a reply begins like a line."""
        self._inside = self._page = self._after = False

    def passes(self, text: str) -> bool:
        """Whether the next chunk is shown as it is."""
        if "[" in text or "#" in text or self._held or self._inside or self._page or self._after:
            return False
        self._last = text[-1:] or self._last
        return True

    def feed(self, text: str) -> str:
        """Add a chunk and return what is shown of the reply so far."""
        text, self._held = self._held + text, ""
        shown: list[str] = []
        while text:
            if self._inside:
                end = _END.search(text)
                if end is None:
                    self._held = text[-_REACH:]
                    break
                self._inside, self._after, text = False, True, text[end.end() :]
            elif self._page:
                text = self._pass_page(text)
            elif self._after:  # the white space behind an echo belongs to it
                text = text.lstrip()
                self._after, self._last = not text, "\n"
            else:
                text = self._pass(text, shown)
        return "".join(shown)

    def _pass_page(self, text: str) -> str:
        """Drop the lines of a page, and return what follows it. A line that has not begun is held."""
        line, end, rest = text.partition("\n")
        if _LINE_OF_PAGE.match(line + end):
            if not end:
                self._held = text[:1] if line.strip() else text
                return ""
            return rest
        if not line.strip():
            self._held = text
            return ""
        self._page, self._after = False, True
        return text

    def _pass(self, text: str, shown: list[str]) -> str:
        """Show what stands before an echo, and return what follows its opening sign."""
        for sign in _SIGN.finditer(text):
            at = sign.start()
            begins_line = (text[at - 1] if at else self._last) == "\n"
            line, end, _ = text[at : at + _LONGEST_TITLE + 1].partition("\n") if begins_line else ("", "", "")
            if sign.group() == "[":
                head = _HEAD.match(text, at)
                if head is not None:
                    shown.append(text[:at])
                    self._inside, self._after = head["closes"] is None, head["closes"] is not None
                    return text[head.end() :]
                if end and line in _headings():
                    shown.append(text[:at])
                    self._inside = True
                    return text[at + len(line) :]
                held = _BEGUN.fullmatch(text, at) is not None
                held |= begins_line and not end and any(each.startswith(line) for each in _headings())
            elif end and _is_title(line):
                shown.append(text[:at])
                self._page = True
                return text[at + len(line) + 1 :]
            else:
                held = begins_line and not end and _may_become_title(line)
            if held:
                self._held = text[at:]
                shown.append(text[:at])
                self._last = text[at - 1] if at else self._last
                return ""
        shown.append(text)
        self._last = text[-1]
        return ""

    def finish(self) -> str:
        """End the reply, and return what was held back and is no echo."""
        rest = "" if self._inside or self._page or "SAGA" in self._held or _is_title(self._held) else self._held
        rest = "" if rest in _headings() else rest
        self._held = ""
        return rest
