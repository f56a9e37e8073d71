"""What an operator sees of the work: counters of events, the degraded modes that are in force, and the log context."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Any

from attrs import define, field, frozen

log = logging.getLogger("saga")

Listener = Callable[[str, Mapping[str, Any]], None]
"""A callback that receives the name of an event and its details. It must neither block nor raise."""


@define
class Counters:
    """Counts by name and the degraded modes in force, for ``/api/status`` and ``/metrics``."""

    counts: Counter[str] = field(factory=Counter)
    degraded: dict[str, str] = field(factory=dict)
    """Name of the degraded mode -> reason as text."""
    listeners: list[Listener] = field(factory=list)
    calls: dict[object, tuple[str, str, str]] = field(factory=dict)
    """The calls of stores that run, the oldest first: the setting, the store and the call."""

    def emit(self, event: str, **about: Any) -> None:
        """Call all listeners with the event."""
        for listener in self.listeners:
            listener(event, about)

    def add(self, name: str, amount: int = 1) -> None:
        """Add ``amount`` to the counter ``name``."""
        self.counts[name] += amount

    def degrade(self, name: str, reason: str) -> None:
        """Enter a degraded mode. It is logged when it begins, counted each time, and visible until ``recover``."""
        self.counts[f"degraded.{name}"] += 1
        if self.degraded.get(name) != reason:
            log.warning("degraded: %s: %s", name, reason)
            self.emit("degraded", name=name, reason=reason)
        self.degraded[name] = reason

    def recover(self, name: str) -> None:
        """Leave a degraded mode."""
        if self.degraded.pop(name, None) is not None:
            log.info("recovered: %s", name)
            self.emit("recovered", name=name)


# -- the log context -------------------------------------------------------------------------------------------
#
# The log context: the request, session and turn that a task works on.
#
# Tasks inherit it from the task that creates them. Work that belongs to no request calls
# ``set_log_context(request="")``.


@frozen
class Subject:
    """The ids of a request, session and turn; empty if there is none."""

    request: str = ""
    session: str = ""
    turn: str = ""


_NOTHING = Subject()
_subject: ContextVar[Subject] = ContextVar("saga_subject", default=_NOTHING)


def subject() -> Subject:
    """Return the subject of the running task."""
    return _subject.get()


def set_log_context(*, request: str | None = None, session: str | None = None, turn: str | None = None) -> None:
    """Set the subject of the running task. None keeps a value, except that a new id clears the ids after it."""
    found = subject()
    if request is not None:
        found = Subject(request)
    if session is not None:
        found = Subject(found.request, session)
    if turn is not None:
        found = Subject(found.request, found.session, turn)
    _subject.set(found)
