"""Keeps what other code left in memory out of the engines' files.

Kuzu 0.11.3 and Ladybug 0.22 write pages of which they filled only a part. The rest of such a page is whatever the
allocated memory held before: texts of any session, also of a deleted one.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_M_PERTURB = -6
"""Of glibc's malloc.h: memory is filled when it is allocated, with the complement of this byte."""
_ZEROS = 0xFF
_OFF = 0

_lock = threading.Lock()
_users = 0


@contextmanager
def cleared_memory() -> Iterator[None]:
    """While any thread is inside, memory is allocated cleared, except blocks of about a kilobyte and less.

    Does nothing without glibc, or if the environment sets what memory is filled with.
    """
    _enter(1)
    try:
        yield
    finally:
        _enter(-1)


def _enter(change: int) -> None:
    global _users
    with _lock:
        before, _users = _users, _users + change
        if bool(before) != bool(_users):
            _fill(_ZEROS if _users else _OFF)


def _fill(byte: int) -> None:
    chosen = "MALLOC_PERTURB_" in os.environ or "glibc.malloc.perturb" in os.environ.get("GLIBC_TUNABLES", "")
    if sys.platform == "linux" and not chosen:
        library = ctypes.CDLL(None)
        if hasattr(library, "gnu_get_libc_version"):
            library.mallopt(_M_PERTURB, byte)
