"""Tells which processes on this machine are alive. Each holds a lock on a file until it ends, for whatever reason."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from saga_core.errors import NotSupported
from saga_core.ids import digest

_FOLDER = ".workers"
_MOMENT = 0.005
"""Seconds between two tries to get a lock that another process holds for a moment to check it."""


class LivenessFiles:
    """A file for each server name below the data directory, which names its process and is locked by that process.

    It implements ``Siblings``. The kernel releases the lock when the process ends, so no clock is involved.
    """

    def __init__(self, data: Path) -> None:
        self._folder = data / _FOLDER
        self._held: int | None = None

    def announce(self, server: str) -> None:
        """Register this process, until it ends, as ``server``: a name with the process's token. Raises ``OSError``."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(self._file(server), os.O_RDWR | os.O_CREAT, 0o600)
        while not _lock(descriptor, alone=True):
            time.sleep(_MOMENT)  # another process is checking, or the last process of this name is just ending
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
            # A process writes its name right after it gets the lock. Until then the file is empty or has the last name.
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
        """Try to lock the file until its descriptor is closed. Returns whether that worked."""
        try:
            fcntl.flock(descriptor, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
