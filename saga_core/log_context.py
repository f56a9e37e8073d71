"""The log context: the request, the session and the turn that a task works on.

Tasks inherit it from the task that creates them. Work on behalf of no request calls ``set_log_context(request="")``.
"""

from __future__ import annotations

from contextvars import ContextVar

from attrs import frozen


@frozen
class Subject:
    """Ids; empty where there is none."""

    request: str = ""
    session: str = ""
    turn: str = ""


_NOTHING = Subject()
_subject: ContextVar[Subject] = ContextVar("saga_subject", default=_NOTHING)


def subject() -> Subject:
    """What the running task is busy with."""
    return _subject.get()


def set_log_context(*, request: str | None = None, session: str | None = None, turn: str | None = None) -> None:
    """From now on the running task is busy with this. What is None stays; another session has no turn yet."""
    found = subject()
    if request is not None:
        found = Subject(request)
    if session is not None:
        found = Subject(found.request, session)
    if turn is not None:
        found = Subject(found.request, found.session, turn)
    _subject.set(found)
