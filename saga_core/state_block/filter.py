"""The filter that hides what a reply reports of the state from the player, as it streams or whole. Sans-IO."""

from __future__ import annotations

import re
from contextlib import suppress
from threading import Lock

from attrs import frozen
from cachetools import TTLCache

from saga_core.state_block.fences import FenceFilter, RawBlock
from saga_core.state_block.loose.lines import may_hold_report
from saga_core.state_block.loose.reports import ReportFilter
from saga_core.state_block.syntax import FENCE_CHARS, NEWLINES, may_open

_LONG = 4_096
"""Characters from which on what a text hides is remembered: a request asks for it ten times, at up to 3 µs each."""
_REMEMBERED = 16 << 20
"""Characters of such texts, as they were and as they are shown."""


@frozen
class Hidden:
    """A text without its state blocks, and the blocks: those in fences of their own in order, then the loose ones."""

    visible: str
    blocks: tuple[RawBlock, ...]

    @property
    def size(self) -> int:
        """Characters that are kept with it, about."""
        return _LONG + 2 * len(self.visible) + 2 * sum(len(block.body) for block in self.blocks)


_SECONDS = 60.0
"""How long: a request is over by then, and long texts are not kept in memory for nobody."""
_HIDDEN: TTLCache[tuple[str, bool], Hidden] = TTLCache(_REMEMBERED, _SECONDS, getsizeof=lambda hidden: hidden.size)
_LOCK = Lock()


_halts = re.compile(f"[{FENCE_CHARS}{NEWLINES}<>]").search
"""What in a line of the story may begin anything that is hidden, or ends the line."""


class BlockFilter:
    """Hides the state blocks of one reply while it streams, and the reports that have no fence of their own.

    Feed the pieces of the reply in order and send on what comes back; however the reply is cut, the
    concatenation is the same, that of ``hide``. A text that reports nothing comes out as it went in.
    ``saga_core.state_block.syntax`` has the grammar of blocks, ``reports`` that of loose reports.

    Held back is what may yet belong to a block: white space at the end of the text so far, a run of backticks or
    tildes with a beginning of the word ``state``, and a line, or a run of lines, with which a report may begin.
    """

    def __init__(self) -> None:
        self._fences = FenceFilter()
        self._reports = ReportFilter()

    @property
    def raw_blocks(self) -> tuple[RawBlock, ...]:
        """The blocks that have ended so far; after ``finish``, all of them."""
        return (*self._fences.raw_blocks, *self._reports.blocks)

    @property
    def blocks(self) -> tuple[str, ...]:
        """The bodies of ``raw_blocks``."""
        return tuple(block.body for block in self.raw_blocks)

    def feed(self, text: str) -> str:
        """The visible text that may be sent now that ``text`` has arrived.

        Raises RuntimeError after ``finish``.
        """
        fences, reports = self._fences, self._reports
        if fences.in_prose and reports.in_prose and _halts(text) is None:
            return reports.flow(fences.flow(text))
        shown = fences.feed(text)
        return reports.feed(shown) if shown else ""

    def finish(self) -> str:
        """The visible text that was held back, now that the reply has ended.

        Raises RuntimeError when called twice.
        """
        return self._reports.feed(self._fences.finish()) + self._reports.finish()


def hide(text: str, *, loose: bool = True) -> Hidden:
    """``text`` without its state blocks: what a ``BlockFilter`` gives for it, in one piece.

    ``loose`` false leaves reports without a fence of their own where they are.
    """
    if len(text) < _LONG:
        return _hide(text, loose)
    with _LOCK:
        known = _HIDDEN.get((text, loose))
    if known is None:
        known = _hide(text, loose)
        note_hidden(text, known, loose=loose)
    return known


def note_hidden(text: str, found: Hidden | None, *, loose: bool = True) -> None:
    """Remember what ``hide`` gave for a long text, here or in another process; None: all of it is visible."""
    with _LOCK, suppress(ValueError):  # it alone is more than is remembered
        _HIDDEN[text, loose] = found or Hidden(text, ())


def _hide(text: str, loose: bool) -> Hidden:
    if not may_open(text) and not (loose and may_hold_report(text)):
        return Hidden(text, ())
    fences = FenceFilter()
    visible = fences.feed(text) + fences.finish()
    if not loose or not may_hold_report(visible):
        return Hidden(visible, fences.raw_blocks)
    reports = ReportFilter()
    visible = reports.feed(visible) + reports.finish()
    return Hidden(visible, (*fences.raw_blocks, *reports.blocks))
