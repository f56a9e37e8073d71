"""The filter that hides state blocks, and echoes of SAGA's context, in a streamed or a complete reply. Sans-IO."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from threading import Lock

from attrs import frozen
from cachetools import TTLCache

from saga_core.language import every
from saga_core.state_block.counted import CountedFilter
from saga_core.state_block.fences import FENCE_CHARS, NEWLINES, FenceFilter, RawBlock, may_open
from saga_core.state_block.unfenced import WHITE, ReportFilter, may_hold_report
from saga_core.trackers import NO_TRACKERS, Trackers

# -- echoes of SAGA's own context and pages --------------------------------------------------------------------
#
# The filter that hides SAGA's own context and pages where a reply repeats them. Sans-IO.
#
# Small models continue what they see: they open a reply with the block of context that stood before the player's words,
# or with a page. An echo of context goes from its opening sign to its closing sign, or to the first empty line. An echo
# of a page begins with the page's title, and has only lines of lists and headings. An opening sign is one that SAGA
# writes itself, wherever it stands; what follows an echo in a line begins a line of its own, so that the halves around
# it cannot become a sign. A closing sign alone is hidden where a line begins. An echo of a note goes from its first
# words to the parenthesis that closes it, or to the end of the line.

_NOTHING = "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
_NOTHING += "\u3164\ufe00-\ufe0f\ufeff\uffa0"
"""Characters that show nothing."""
_GAP = f"[ {_NOTHING}]{{0,3}}"
"""Between the characters of a sign: a blank, and what shows nothing."""
_NAME = _GAP.join(("[S\u017f]", "A", "G", "A"))
_HEAD = re.compile(rf"\[{_GAP}(?:(?P<closes>/){_GAP}{_NAME}{_GAP}\]|{_NAME}{_GAP}[:：](?P<title>[^\]\n]{{0,200}})\])")
_BEGUN = re.compile(
    rf"\[{_GAP}/?{_GAP}(?:[S\u017f]{_GAP}(?:A{_GAP}(?:G{_GAP}(?:A{_GAP}(?:[:：][^\]\n]{{0,200}})?)?)?)?)?"
)
_END = re.compile(rf"\[{_GAP}/{_GAP}{_NAME}{_GAP}\]|\n[ \t]*\n")
_UNSEEN = re.compile(f"[{_NOTHING}]")
_REACH = 32
"""Characters within which the end of an echo lies."""
_REST_OF_SIGN = 64
"""Characters within which a sign ends whose beginning stands before a call of a tool."""
_OPENS = "(\uff08"
_END_OF_NOTE = re.compile("[()\uff08\uff09\n]")
_WIDE = {"(": "[(\uff08]", "\uff08": "[(\uff08]", ":": "[:\uff1a]", "\uff1a": "[:\uff1a]"}
_SIGN = re.compile("[\\[#(\uff08]")
_MARK = re.compile(r"#{1,3} *")
_DIGITS = re.compile(r"\d+")
_LINE_OF_PAGE = re.compile(r"[ \t]*[-#>*]|[ \t\r]*\n")
_LONGEST_TITLE = 60
_NOW = "[Now]"
_TAIL = 256
"""Characters at the end of a text in which the beginning of a sign lies."""
_SLICE = 2_048
"""The maximum number of characters that are filtered at once."""


@cache
def _titles() -> frozenset[str]:
    """The titles of pages in all languages, with 0 for the turn."""
    return frozenset(each.texts.pages["then"].format(turn=0) for each in every() if "then" in each.texts.pages)


@cache
def _headings() -> frozenset[str]:
    """The heading of what is true now, in all languages: it stands first in the context."""
    return frozenset({_NOW, *(each.labels.sections.get("now", _NOW) for each in every())})


@cache
def _signs() -> frozenset[str]:
    """What stands in the signs with which SAGA's context and rules begin, in all languages."""
    opened = (each.labels.opening for each in every())
    ruled = (line for each in every() for line in each.texts.rules.split("\n") if line.startswith("[SAGA:"))
    return frozenset(_plain(sign[len("[SAGA:") : sign.index("]")]) for sign in (*opened, *ruled))


@cache
def _notes() -> tuple[tuple[str, ...], ...]:
    """Patterns for the characters of the first words of a note, in all languages."""
    leads = (each.labels.note.partition("{facts}")[0] for each in every())
    return tuple(tuple(_WIDE.get(char, re.escape(char)) for char in lead if char != " ") for lead in leads)


@cache
def _note() -> re.Pattern[str]:
    """A pattern for the first words of a note."""
    return re.compile("|".join(_GAP.join(lead) for lead in _notes()), re.IGNORECASE)


@cache
def _begun_note(share: float = 0.0) -> re.Pattern[str]:
    """A pattern for a beginning of these words, of more than a share of them."""
    found = []
    for lead in _notes():
        least, begun = max(1, int(share * len(lead)) + 1), ""
        for char in reversed(lead[least:]):
            begun = f"(?:{char}{_GAP}{begun})?"
        found.append("".join(f"{char}{_GAP}" for char in lead[:least]) + begun)
    return re.compile("|".join(found), re.IGNORECASE)


def _plain(title: str) -> str:
    return "".join(_UNSEEN.sub("", title).split()).casefold()


def _head(text: str, at: int, begins_line: bool) -> re.Match[str] | None:
    """Return a sign of SAGA at an index."""
    head = _HEAD.match(text, at)
    if head is None or (begins_line if head["closes"] else _plain(head["title"]) in _signs()):
        return head
    return None


def _begins_sign(text: str) -> bool:
    """Whether a text that ends with the reply is more than half of a sign of SAGA, or of the first words of a note."""
    if _begun_note(0.5).fullmatch(text):
        return True
    name, colon, title = _UNSEEN.sub("", text).lstrip("[/ ").replace("：", ":").partition(":")
    begun = _plain(title)
    return name.strip().replace("\u017f", "S") == "SAGA" and (
        not colon or any(each.startswith(begun) for each in _signs())
    )


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
        if any(_head(text, each.start(), begins_line=True) for each in _HEAD.finditer(text)):
            return True
        if any(line in _headings() for line in text.split("\n") if line.startswith("[")):
            return True
    if any(each in text for each in _OPENS) and _note().search(text) is not None:
        return True
    tail = text[-_TAIL:]
    begun = max(map(tail.rfind, ("[", *_OPENS)))
    if begun >= 0 and _begins_sign(tail[begun:]):
        return True
    return "#" in text and any(line.startswith("#") and _is_title(line) for line in text.split("\n"))


class EchoFilter:
    """Hides repeated context while a reply streams. What it returns does not depend on how the reply is split."""

    def __init__(self) -> None:
        self._held = ""
        self._last = "\n"
        """The last character before what comes next; a reply begins like a line."""
        self._inside = self._page = self._after = self._cut = False
        self._depth = 0
        """The number of open parentheses of the note inside of which the reply is."""
        self.half = ""
        """The beginning of a sign with which the part of the reply before this one ended."""

    def passes(self, text: str) -> bool:
        """Whether the next chunk, which has no sign, is shown as it is."""
        if self._held or self._inside or self._page or self._after or self.half:
            return False
        self._last = text[-1:] or self._last
        return True

    def feed(self, text: str) -> str:
        """Add a chunk and return what is shown of the reply so far."""
        # Many signs in one text would be cut off its beginning one by one.
        return "".join(self._feed(text[at : at + _SLICE]) for at in range(0, len(text), _SLICE))

    def _feed(self, text: str) -> str:
        text, self._held = self._held + text, ""
        if self.half and text:
            whole = self.half + text.lstrip()
            if _head(whole, 0, begins_line=True) or _note().match(whole):
                text = whole
            elif len(text) < _REST_OF_SIGN and "]" not in text and "\n" not in text.lstrip():
                self._held = text
                return ""
            self.half = ""
        shown: list[str] = []
        while text:
            if self._inside:
                end = self._end_of(text)
                if end is None:
                    break
                self._inside, self._after, text = False, True, text[end:]
            elif self._page:
                text = self._pass_page(text)
            elif self._after:  # the white space behind an echo belongs to it
                text = text.lstrip()
                self._after, self._last = not text, "\n"
                if text and self._cut:
                    shown.append("\n")
                    self._cut = False
            else:
                text = self._pass(text, shown)
        return "".join(shown)

    def _end_of(self, text: str) -> int | None:
        """The index behind the end of an echo. None if it goes on; what may be a part of its end is held."""
        if not self._depth:
            end = _END.search(text)
            self._held = "" if end else text[-_REACH:]
            return end.end() if end else None
        for sign in _END_OF_NOTE.finditer(text):
            self._depth = 0 if sign.group() == "\n" else self._depth + (1 if sign.group() in _OPENS else -1)
            if not self._depth:
                return sign.end()
        return None

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
                head = _head(text, at, begins_line)
                if head is not None:
                    shown.append(text[:at])
                    self._cut |= not begins_line
                    self._inside, self._after = head["closes"] is None, head["closes"] is not None
                    return text[head.end() :]
                if end and line in _headings():
                    shown.append(text[:at])
                    self._inside = True
                    return text[at + len(line) :]
                held = _BEGUN.fullmatch(text, at) is not None
                held |= begins_line and not end and any(each.startswith(line) for each in _headings())
            elif sign.group() != "#":
                lead = _note().match(text, at)
                if lead is not None:
                    shown.append(text[:at])
                    self._cut |= not begins_line
                    self._inside, self._depth = True, 1
                    return text[lead.end() :]
                held = _begun_note().fullmatch(text, at) is not None
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

    def begun(self) -> str:
        """The beginning of a sign with which the text so far ends."""
        return self._held if _begins_sign(self._held) and not (self._inside or self._page or self.half) else ""

    def finish(self) -> str:
        """End the reply, and return what was held back and is no echo."""
        rest = "" if self._inside or self._page or _is_title(self._held) else self._held
        rest = "" if rest in _headings() or _begins_sign(rest) else rest
        self._held = ""
        return rest


def without_echoes(text: str) -> str:
    """Return a text without what it repeats of SAGA's context and pages."""
    if not may_echo(text):
        return text
    echoes = EchoFilter()
    return echoes.feed(text) + echoes.finish()


# -- the filter ------------------------------------------------------------------------------------------------

_LONG = 4_096
"""The length in characters from which results are cached even if a quick check finds nothing to hide. One request needs
the result of a text about ten times."""
SCANNED = 8 * 1_024
"""The maximum number of characters of a request that are scanned on the event loop, in all messages together. A
megabyte takes up to six seconds."""
_ENTRY = 512
"""The approximate size of a cache entry in characters, without its texts."""
_REMEMBERED = 16 << 20
"""The maximum size of the cache in characters, counting the texts and their visible parts."""


@frozen
class Hidden:
    """A text without its state blocks, and the blocks: the fenced ones in order, then the unfenced ones."""

    visible: str
    blocks: tuple[RawBlock, ...]

    @property
    def size(self) -> int:
        """The approximate number of characters that the cache entry holds."""
        return _ENTRY + 2 * len(self.visible) + 2 * sum(len(block.body) for block in self.blocks)


_SECONDS = 60.0
"""The lifetime of a cache entry. A request is over by then, so long texts do not stay in memory unused."""
_HIDDEN: TTLCache[tuple[str, bool], Hidden] = TTLCache(_REMEMBERED, _SECONDS, getsizeof=lambda hidden: hidden.size)
_LOCK = Lock()
_CHECKED: dict[int, bool] = {}
"""The results of the quick check, by the hash of the text."""
_MOST_CHECKED = 1 << 16


_halts = re.compile(f"[{FENCE_CHARS}{NEWLINES}<>{_SIGN.pattern[1:]}").search
"""Finds a character that may begin a hidden part or an echo, or that ends the line."""
_white = frozenset(WHITE)


class BlockFilter:
    """Hides the state blocks of one reply while it streams, including reports without a fence of their own.

    Feed the chunks of the reply in order and send the returned text on. The concatenation is the same as the result of
    ``hide``, however the reply is split. A text without a report is returned unchanged. The grammar of blocks is in
    ``saga_core.state_block.fences``, that of unfenced reports in ``unfenced``.

    The filter holds back text that may still belong to a block: white space at the end of the text so far, a run of
    backticks or tildes with a beginning of the word ``state``, and lines that may begin a report. ``own`` are the
    story's trackers, which may stand in such a report.
    """

    def __init__(self, own: Trackers = NO_TRACKERS) -> None:
        self._echoes = EchoFilter()
        self._fences = FenceFilter()
        self._reports = ReportFilter()
        self._counted: CountedFilter | None = None
        self._own = own

    def next_part(self) -> tuple[str, BlockFilter]:
        """End a part of a reply behind which a call is answered. Returns the text that was held back, and the filter of
        the next part, in which an open block and the beginning of a fence or of a sign go on if the text does."""
        after = BlockFilter(self._own)
        fence, half = self._fences.open_fence, self._fences.take_half()
        earlier = self._reports.open_fence
        rest = self._echoes.feed(self._fences.finish())
        after._echoes.half = self._echoes.begun()
        rest += self._echoes.finish()
        shown = self._finished((self._reports.feed(rest) if rest else "") + self._reports.finish())
        opened = self._fences.raw_blocks if fence else self._reports.raw_blocks
        if fence or (earlier and opened and opened[-1].open):
            after._reports.go_on(opened[-1].body, fence or earlier)
        return shown + after._fences.feed(half), after

    @property
    def raw_blocks(self) -> tuple[RawBlock, ...]:
        """The blocks that have ended so far; after ``finish``, all blocks."""
        counted = self._counted.raw_blocks if self._counted is not None else ()
        return (*self._fences.raw_blocks, *self._reports.raw_blocks, *counted)

    @property
    def blocks(self) -> tuple[str, ...]:
        """The bodies of ``raw_blocks``."""
        return tuple(block.body for block in self.raw_blocks)

    def feed(self, text: str) -> str:
        """Add a chunk and return the visible text that can be sent now.

        Raises ``RuntimeError`` after ``finish``.
        """
        fences, reports = self._fences, self._reports
        if self._counted is None and self._own:
            self._counted = CountedFilter(self._own)
        counted = self._counted
        if counted is not None and not counted.in_prose:
            shown = self._feed(text)
            return counted.feed(shown) if shown else ""
        if _halts(text) is None and fences.in_prose and reports.in_prose and self._echoes.passes(text):
            if fences.holds_nothing() and reports.holds_nothing() and text[-1:] not in _white:
                return text
            return reports.flow(fences.flow(text))
        shown = self._feed(text)
        return counted.feed(shown) if shown and counted is not None else shown

    def _feed(self, text: str) -> str:
        shown = self._fences.feed(text)
        shown = self._echoes.feed(shown) if shown else ""
        return self._reports.feed(shown) if shown else ""

    def _finished(self, shown: str) -> str:
        if self._counted is None:
            return shown
        return (self._counted.feed(shown) if shown else "") + self._counted.finish()

    def finish(self) -> str:
        """End the reply and return the visible text that was held back.

        Raises ``RuntimeError`` if called twice.
        """
        rest = self._echoes.feed(self._fences.finish()) + self._echoes.finish()
        return self._finished((self._reports.feed(rest) if rest else "") + self._reports.finish())


def hide(text: str, *, unfenced: bool = True) -> Hidden:
    """Remove the state blocks from ``text``. The result is that of a ``BlockFilter`` for the whole text.

    If ``unfenced`` is False, reports without a fence of their own stay in the text.
    """
    with _LOCK:
        known = _HIDDEN.get((text, unfenced))
    if known is None:
        if len(text) < _LONG and not _may_hide(text, unfenced):
            return Hidden(text, ())
        known = _hide(text, unfenced)
        note_hidden(text, known, unfenced=unfenced)
    return known


def note_hidden(text: str, found: Hidden | None, *, unfenced: bool = True) -> None:
    """Cache the result of ``hide`` for a long text, computed here or in another process. None: nothing is hidden."""
    with _LOCK, suppress(ValueError):  # the entry alone exceeds the cache size
        _HIDDEN[text, unfenced] = found or Hidden(text, ())


def unscanned(texts: Iterable[str]) -> list[str]:
    """Return those of ``texts`` that ``hide`` has to scan character by character, and whose result is not cached."""
    checked = _CHECKED.get
    # Nearly all texts of a request are replies that were found to hide nothing when they were new.
    some = [text for text in texts if checked(hash(text)) is not False and _may_hide(text, unfenced=True)]
    if not some:
        return some
    with _LOCK:
        return [text for text in some if (text, True) not in _HIDDEN]


def _may_hide(text: str, unfenced: bool) -> bool:
    """A quick check. Each message of a chat needs it several times in each request, so results are cached."""
    if not unfenced:
        return may_open(text) or may_echo(text)
    found = _CHECKED.get(key := hash(text))
    if found is None:
        if len(_CHECKED) >= _MOST_CHECKED:
            _CHECKED.clear()
        found = _CHECKED[key] = may_open(text) or may_hold_report(text) or may_echo(text)
    return found


def _hide(text: str, unfenced: bool) -> Hidden:
    if not _may_hide(text, unfenced):
        return Hidden(text, ())
    echoes, fences = EchoFilter(), FenceFilter()
    visible = echoes.feed(fences.feed(text) + fences.finish()) + echoes.finish()
    if not unfenced or not may_hold_report(visible):
        return Hidden(visible, fences.raw_blocks)
    reports = ReportFilter()
    visible = reports.feed(visible) + reports.finish()
    return Hidden(visible, (*fences.raw_blocks, *reports.raw_blocks))
