"""Watches the event loop from another thread, and logs where the loop is when a round takes too long."""

from __future__ import annotations

import logging
import sys
import threading
import time
from types import FrameType

from attrs import define, field

from saga_server.process.event_loop import LoopWatch

_log = logging.getLogger("saga.loop")

BLOCKED_SECONDS = 0.5
"""A round that takes this long counts as blocked, because every client waits for its end."""
_LOOKS_SECONDS = 0.2
_AROUND = ("saga_server.process.event_loop", "saga_server.cli")
"""Modules that run the loop. They are on every stack."""
_OURS = ("saga_core", "saga_backends", "saga_server")


@define(eq=False)
class LoopGuard:
    """A thread that checks five times a second whether a round of the loop takes too long, and notes its place.

    A call that never releases the interpreter's lock, such as one search with a regular expression, is noted only when
    it ends. The place is then the line that made the call.
    """

    watch: LoopWatch
    thread: int = field(factory=threading.get_ident)
    """The id of the loop's thread."""
    blocked_seconds: float = BLOCKED_SECONDS
    _ended: threading.Event = field(factory=threading.Event, init=False)
    _guard: threading.Thread | None = field(default=None, init=False)

    def start(self) -> None:
        """Start the thread."""
        self._guard = threading.Thread(target=self._look, name="saga-loop-guard", daemon=True)
        self._guard.start()

    def stop(self) -> None:
        """End the thread."""
        self._ended.set()
        if self._guard is not None:
            self._guard.join()

    def _look(self) -> None:
        told = 0.0
        while not self._ended.wait(min(_LOOKS_SECONDS, self.blocked_seconds / 2)):
            began = self.watch.running_since
            if began and began != told and time.perf_counter() - began >= self.blocked_seconds:
                told = began
                place = _place(sys._current_frames().get(self.thread))
                self.watch.blocked_at(place)
                _log.warning("the event loop is blocked for %g s or longer, at %s", self.blocked_seconds, place)


def _place(frame: FrameType | None) -> str:
    """Return module, line and function of SAGA's innermost frame, or else of the innermost frame."""
    each = frame
    while each is not None:
        module = str(each.f_globals.get("__name__", ""))
        if module.partition(".")[0] in _OURS and not module.startswith(_AROUND):
            return _told(each)
        each = each.f_back
    return "an unknown place" if frame is None else _told(frame)


def _told(frame: FrameType) -> str:
    return f"{frame.f_globals.get('__name__', '?')}:{frame.f_lineno} {frame.f_code.co_name}"
