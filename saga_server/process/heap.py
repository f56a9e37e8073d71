"""The C library's heaps: how many there are, and what goes back to the system. Only glibc is asked."""

from __future__ import annotations

import ctypes
import os
import sys
from typing import Any

_ARENA_MAX = -8
"""``M_ARENA_MAX`` of glibc's malloc.h."""
_ARENAS = 2


def few_arenas() -> None:
    """Let all threads share two heaps; call it before there are threads. ``MALLOC_ARENA_MAX`` says otherwise.

    Else each of the first sixteen threads has one of its own, and keeps what was imported there apart: 5 MB of a server
    with a session. The interpreter's lock leaves hardly two of them to ask for memory at once.
    """
    limit = _glibc("mallopt")
    if limit is not None and "MALLOC_ARENA_MAX" not in os.environ:
        limit(_ARENA_MAX, _ARENAS)


def give_back() -> None:
    """Return memory that is free to the system: glibc keeps what lies between two pieces that are in use.

    For a thread: it takes some milliseconds, without the interpreter's lock.
    """
    trim = _glibc("malloc_trim")
    if trim is not None:
        trim(0)


def _glibc(name: str) -> Any:
    return getattr(ctypes.CDLL(None), name, None) if sys.platform == "linux" else None
