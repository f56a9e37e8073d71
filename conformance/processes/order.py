"""Order: what a second process is told to do."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from attrs import frozen

from conformance.calls import Call

Opener = Callable[[Path], Awaitable[Any]]


@frozen
class Order:
    """What a second process does."""

    opener: Opener
    path: str
    calls: tuple[Call, ...] = ()
    close: bool = False
    """Close the store and leave, rather than wait to be killed."""
    answers: str = ""
    """A file for the answers, typed, and for everything that the store holds then."""
    others: tuple[str, ...] = ()
    """Further paths: each is opened, read, written to by ``calls``, closed, opened and read again."""
    die_at_sync: int = 0
    """Ends at once before the so manieth ``os.fsync`` or ``os.fdatasync``; what an engine of C syncs is not seen."""
    full_from: int = -1
    """From this call on no file may grow beyond the largest that is there, by more than ``room`` bytes."""
    room: int = 0
    asked: tuple[Call, ...] = ()
    """What is asked while no file may grow, besides everything."""
    clock: float = 0.0
    """Seconds by which its clocks are ahead, as Python tells the time."""
