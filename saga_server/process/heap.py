"""Settings of glibc's heaps: their number, and returning free memory. Other C libraries are left alone."""

from __future__ import annotations

import ctypes
import os
import sys
from typing import Any

_ARENA_MAX = -8
"""``M_ARENA_MAX`` of glibc's malloc.h."""
_ARENAS = 2


def few_arenas() -> None:
    """Let all threads share two heaps. Call it before any thread starts. Does nothing if ``MALLOC_ARENA_MAX`` is set.

    By default each of the first sixteen threads gets a heap of its own, which costs 5 MB in a server with one session.
    Because of the interpreter's lock, hardly any two threads allocate memory at the same time.
    """
    limit = _glibc("mallopt")
    if limit is not None and "MALLOC_ARENA_MAX" not in os.environ:
        limit(_ARENA_MAX, _ARENAS)


def give_back() -> None:
    """Return free memory to the system, including free memory between blocks in use, which glibc would keep.

    Call it in a thread: it takes some milliseconds, and does not hold the interpreter's lock.
    """
    trim = _glibc("malloc_trim")
    if trim is not None:
        trim(0)


def _glibc(name: str) -> Any:
    return getattr(ctypes.CDLL(None), name, None) if sys.platform == "linux" else None
