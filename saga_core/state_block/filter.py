"""The filter that hides state blocks, and echoes of SAGA's context, in a streamed or a complete reply. Sans-IO."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from threading import Lock

from attrs import frozen
from cachetools import TTLCache

from saga_core.state_block.echoes import EchoFilter, may_echo
from saga_core.state_block.fences import FenceFilter, RawBlock
from saga_core.state_block.loose.candidate import WHITE
from saga_core.state_block.loose.lines import may_hold_report
from saga_core.state_block.loose.reports import ReportFilter
from saga_core.state_block.syntax import FENCE_CHARS, NEWLINES, may_open

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
    """A text without its state blocks, and the blocks: the fenced ones in order, then the loose ones."""

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


_halts = re.compile(f"[{FENCE_CHARS}{NEWLINES}<>]").search
"""Finds a character that may begin a hidden part or that ends the line."""
_white = frozenset(WHITE)


class BlockFilter:
    """Hides the state blocks of one reply while it streams, including reports without a fence of their own.

    Feed the chunks of the reply in order and send the returned text on. The concatenation is the same as the result of
    ``hide``, however the reply is split. A text without a report is returned unchanged. The grammar of blocks is in
    ``saga_core.state_block.syntax``, that of loose reports in ``loose.reports``.

    The filter holds back text that may still belong to a block: white space at the end of the text so far, a run of
    backticks or tildes with a beginning of the word ``state``, and lines that may begin a report.
    """

    def __init__(self) -> None:
        self._echoes = EchoFilter()
        self._fences = FenceFilter()
        self._reports = ReportFilter()

    @property
    def raw_blocks(self) -> tuple[RawBlock, ...]:
        """The blocks that have ended so far; after ``finish``, all blocks."""
        return (*self._fences.raw_blocks, *self._reports.blocks)

    @property
    def blocks(self) -> tuple[str, ...]:
        """The bodies of ``raw_blocks``."""
        return tuple(block.body for block in self.raw_blocks)

    def feed(self, text: str) -> str:
        """Add a chunk and return the visible text that can be sent now.

        Raises ``RuntimeError`` after ``finish``.
        """
        fences, reports = self._fences, self._reports
        if fences.in_prose and reports.in_prose and _halts(text) is None and self._echoes.passes(text):
            if fences.holds_nothing() and reports.holds_nothing() and text[-1:] not in _white:
                return text
            return reports.flow(fences.flow(text))
        shown = self._echoes.feed(fences.feed(text))
        return reports.feed(shown) if shown else ""

    def finish(self) -> str:
        """End the reply and return the visible text that was held back.

        Raises ``RuntimeError`` if called twice.
        """
        rest = self._echoes.feed(self._fences.finish()) + self._echoes.finish()
        return (self._reports.feed(rest) if rest else "") + self._reports.finish()


def hide(text: str, *, loose: bool = True) -> Hidden:
    """Remove the state blocks from ``text``. The result is that of a ``BlockFilter`` for the whole text.

    If ``loose`` is False, reports without a fence of their own stay in the text.
    """
    with _LOCK:
        known = _HIDDEN.get((text, loose))
    if known is None:
        if len(text) < _LONG and not _may_hide(text, loose):
            return Hidden(text, ())
        known = _hide(text, loose)
        note_hidden(text, known, loose=loose)
    return known


def note_hidden(text: str, found: Hidden | None, *, loose: bool = True) -> None:
    """Cache the result of ``hide`` for a long text, computed here or in another process. None: nothing is hidden."""
    with _LOCK, suppress(ValueError):  # the entry alone exceeds the cache size
        _HIDDEN[text, loose] = found or Hidden(text, ())


def unscanned(texts: Iterable[str]) -> list[str]:
    """Return those of ``texts`` that ``hide`` has to scan character by character, and whose result is not cached."""
    checked = _CHECKED.get
    # Nearly all texts of a request are replies that were found to hide nothing when they were new.
    some = [text for text in texts if checked(hash(text)) is not False and _may_hide(text, loose=True)]
    if not some:
        return some
    with _LOCK:
        return [text for text in some if (text, True) not in _HIDDEN]


def _may_hide(text: str, loose: bool) -> bool:
    """A quick check. Each message of a chat needs it several times in each request, so results are cached."""
    if not loose:
        return may_open(text) or may_echo(text)
    found = _CHECKED.get(key := hash(text))
    if found is None:
        if len(_CHECKED) >= _MOST_CHECKED:
            _CHECKED.clear()
        found = _CHECKED[key] = may_open(text) or may_hold_report(text) or may_echo(text)
    return found


def _hide(text: str, loose: bool) -> Hidden:
    if not _may_hide(text, loose):
        return Hidden(text, ())
    echoes, fences = EchoFilter(), FenceFilter()
    visible = echoes.feed(fences.feed(text) + fences.finish()) + echoes.finish()
    if not loose or not may_hold_report(visible):
        return Hidden(visible, fences.raw_blocks)
    reports = ReportFilter()
    visible = reports.feed(visible) + reports.finish()
    return Hidden(visible, (*fences.raw_blocks, *reports.blocks))
