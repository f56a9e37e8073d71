"""Which processes of one machine live: each holds a lock on a file as long as it does, by whatever cause it ends."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from saga_core.errors import NotSupported
from saga_core.ids import digest

_FOLDER = ".workers"
_MOMENT = 0.005
"""Seconds between two tries to get a lock that somebody holds who only looks."""


class LifeFiles:
    """A file for each server's name below the data directory. It says which process has the name, and is locked by it.

    See ``Siblings``. The lock is the kernel's: it ends with the process, and no clock is asked.
    """

    def __init__(self, data: Path) -> None:
        self._folder = data / _FOLDER
        self._held: int | None = None

    def announce(self, server: str) -> None:
        """This process is ``server``, a name with the process's token, until it ends. Raises ``OSError``."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(self._file(server), os.O_RDWR | os.O_CREAT, 0o600)
        while not _lock(descriptor, alone=True):
            time.sleep(_MOMENT)  # somebody looks, or the last process of this name is about to be gone
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, server.encode(), 0)
        self._held = descriptor

    def is_gone(self, server: str) -> bool:
        """Whether the process of ``server`` has ended."""
        try:
            descriptor = os.open(self._file(server), os.O_RDONLY)
        except FileNotFoundError:
            return True
        try:
            if _lock(descriptor, alone=False):
                return True
            now = os.pread(descriptor, 1_024, 0).decode("utf-8", "replace")
            # Whoever has the lock writes its name first thing: until then the file names the one before, or nobody.
            return now not in ("", server)
        finally:
            os.close(descriptor)

    def _file(self, server: str) -> Path:
        return self._folder / digest(server.rpartition("#")[0], size=8)


if sys.platform == "win32":

    def _lock(descriptor: int, *, alone: bool) -> bool:
        raise NotSupported("server.workers: several processes need Linux, macOS or another Unix")

else:
    import fcntl

    def _lock(descriptor: int, *, alone: bool) -> bool:
        """Whether the file could be locked, until its descriptor is closed."""
        try:
            fcntl.flock(descriptor, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
