"""One store object for a path, in this process and among all others."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from pathlib import Path

from saga_core.errors import StoreLocked, StoreUnavailable

_open_paths: set[str] = set()
_guard = threading.Lock()


class PathLock:
    """Held from ``PathLock(path)`` to ``release()``, or until the process dies, by whatever cause.

    ``path`` is the data that is protected; the lock is a file beside it (``state.db`` has ``state.db.lock``), or in
    it when it is a directory, and stays there when released. Raises ``StoreLocked`` when another store object or
    process holds it, ``StoreUnavailable`` when the lock file cannot be made.
    """

    def __init__(self, path: Path) -> None:
        self.file = path / ".lock" if path.is_dir() else path.with_name(path.name + ".lock")
        self._name = os.path.realpath(path)
        self._descriptor: int | None = None
        with _guard:
            if self._name in _open_paths:
                raise StoreLocked(f"{path}: is open already in this process; close that store first, or share it")
            self._descriptor = _acquire(path, self.file)
            _open_paths.add(self._name)

    def release(self) -> None:
        """Let others open the path. A second call does nothing."""
        with _guard:
            if self._descriptor is None:
                return
            _open_paths.discard(self._name)
            try:
                # A child forked meanwhile shares the descriptor: closing ours alone would leave the lock with it.
                _unlock(self._descriptor)
            finally:
                os.close(self._descriptor)
                self._descriptor = None


def _acquire(path: Path, file: Path) -> int:
    try:
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise StoreUnavailable(
            f"{path}: its lock file {file} cannot be opened ({error.strerror}); "
            "give a path in a directory that this user may write"
        ) from error
    try:
        _lock(descriptor)
    except OSError as error:
        holder = ""
        with contextlib.suppress(OSError):  # only for the message: Windows does not let others read a locked file
            holder = os.pread(descriptor, 20, 0).decode("ascii", "replace").strip() if _HAS_PREAD else ""
        os.close(descriptor)
        if isinstance(error, BlockingIOError | PermissionError):
            who = f"process {holder}" if holder else "another process"
            raise StoreLocked(f"{path}: is open in {who}; stop it, or give this one another path") from error
        raise StoreUnavailable(
            f"{path}: its lock file {file} cannot be locked ({error.strerror}); put it on a file system that has locks"
        ) from error
    with contextlib.suppress(OSError):  # only for the message: a full disk must not keep a store from opening
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"{os.getpid()}\n".encode())
    return descriptor


_HAS_PREAD = hasattr(os, "pread")

if sys.platform == "win32":
    import msvcrt

    # Far behind the number that is written there, since Windows locks are mandatory.
    _LOCKED_AT = 1 << 30

    def _lock(descriptor: int) -> None:
        os.lseek(descriptor, _LOCKED_AT, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        os.lseek(descriptor, 0, os.SEEK_SET)

    def _unlock(descriptor: int) -> None:
        os.lseek(descriptor, _LOCKED_AT, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _unlock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)
