"""The log context: the request, session and turn that a task works on.

Tasks inherit it from the task that creates them. Work that belongs to no request calls ``set_log_context(request="")``.
"""

from __future__ import annotations

from contextvars import ContextVar

from attrs import frozen


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
