"""Names the calls of stores that do not end, so that what waits for them can say why."""

from __future__ import annotations

import asyncio
from types import TracebackType

from saga_core.counters import Counters

LATE_SECONDS = 8.0
"""After how long a call that has not ended is a degraded mode: before a reply ends without its recording."""


class under_way:
    """Note a call of the store ``name``, which the setting ``where`` names, for as long as it runs.

    A turn makes about twenty such calls, so that nothing is put in words before it is needed.
    """

    __slots__ = ("_asked", "_counters", "_late", "_mode")

    def __init__(self, counters: Counters, where: str, name: str, call: str) -> None:
        self._counters, self._asked, self._mode = counters, (where, name, call), ""

    def __enter__(self) -> None:
        self._counters.calls[self] = self._asked
        self._late = asyncio.get_running_loop().call_later(LATE_SECONDS, self._degrade)

    def __exit__(self, kind: object, error: BaseException | None, trace: TracebackType | None) -> None:
        self._late.cancel()
        calls = self._counters.calls
        del calls[self]
        if isinstance(error, asyncio.CancelledError):
            error.add_note(_told(self._asked))
        if self._mode and not any(each._mode == self._mode for each in calls if isinstance(each, under_way)):
            self._counters.recover(self._mode)

    def _degrade(self) -> None:
        self._mode = f"{self._asked[0]}.hangs"
        self._counters.degrade(self._mode, f"{_told(self._asked)} for {LATE_SECONDS:g} s; what needs it waits")


def _told(asked: tuple[str, str, str]) -> str:
    return "{}: {} has not answered `{}`".format(*asked)


def what_hangs(late: TimeoutError, counters: Counters) -> str:
    """Return the call of a store that a timeout cut off, or else the one that has run for the longest."""
    cut: tuple[str, ...] = getattr(late.__cause__, "__notes__", ())
    return next(iter((*cut, *map(_told, counters.calls.values()))), "a store has not answered")
