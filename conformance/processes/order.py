"""The ``Order`` for a second process."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from attrs import frozen

from conformance.calls import Call

Opener = Callable[[Path], Awaitable[Any]]


@frozen
class Order:
    """The task of a second process."""

    opener: Opener
    path: str
    calls: tuple[Call, ...] = ()
    close: bool = False
    """Whether to close the store and exit rather than wait to be killed."""
    answers: str = ""
    """A file for the typed answers and for the store's contents afterwards."""
    others: tuple[str, ...] = ()
    """Further paths. The process opens and reads each of them, makes ``calls`` on it, reopens it and reads it again."""
    die_at_sync: int = 0
    """If not 0, kill the process before the ``os.fsync`` or ``os.fdatasync`` of this number. C code is not seen."""
    full_from: int = -1
    """During the call with this index, keep files from growing, as ``room`` says."""
    room: int = 0
    """Bytes by which a file may then grow beyond the largest file. With 0, no file can be written to at all."""
    asked: tuple[Call, ...] = ()
    """Calls to make while no file may grow, in addition to reading the whole contents."""
    clock: float = 0.0
    """Seconds by which ``time.time`` and ``time.time_ns`` are ahead in the process."""
