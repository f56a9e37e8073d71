"""The heaps of the C library: how many there are, and when free memory is returned. Does nothing without glibc."""

from __future__ import annotations

import ctypes
import os
import sys
from typing import Any

_ARENA_MAX = -8
"""``M_ARENA_MAX`` of glibc's malloc.h."""
_ARENAS = 2


def few_arenas() -> None:
    """Let all threads share two heaps, unless ``MALLOC_ARENA_MAX`` is set. Call it before any thread is started.

    By default each of the first sixteen threads gets a heap of its own. Modules imported in threads are then spread
    over several heaps, which costs 5 MB in a server with a session. Because of the interpreter's lock, hardly two
    threads allocate at the same time.
    """
    limit = _glibc("mallopt")
    if limit is not None and "MALLOC_ARENA_MAX" not in os.environ:
        limit(_ARENA_MAX, _ARENAS)


def give_back() -> None:
    """Return free memory to the system. By itself, glibc keeps free memory that lies between blocks in use.

    Run it in a thread: it takes some milliseconds, and releases the interpreter's lock.
    """
    trim = _glibc("malloc_trim")
    if trim is not None:
        trim(0)


def _glibc(name: str) -> Any:
    return getattr(ctypes.CDLL(None), name, None) if sys.platform == "linux" else None
