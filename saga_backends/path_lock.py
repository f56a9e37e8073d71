"""Locks that allow only one store object per path, within this process and across processes."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Iterable
from pathlib import Path

from saga_core.errors import StoreLocked, StoreUnavailable

_open_paths: set[str] = set()
_open_files: set[tuple[int, int]] = set()
"""The device and inode of each open file, because a file may have several names."""
_guard = threading.Lock()
_inherited: dict[str, bool] = {}
"""Real paths that another process locked for this one, mapped to whether this process is the first to open them."""


def inherit(paths: Iterable[Path], *, first: bool) -> None:
    """Share ``paths`` with other processes. A parent process holds the locks and has passed them on.

    ``first`` means that no other process has opened the paths, and that none will until this process has done so.
    """
    with _guard:
        _inherited.update({os.path.realpath(path): first for path in paths})


class PathLock:
    """An exclusive lock on ``path``, held from construction until ``release()`` or until the process ends.

    The lock is a separate file beside the data (``state.db.lock`` for ``state.db``), or ``.lock`` inside ``path`` if
    that is a directory. The lock file stays on disk after the release. Where the platform has advisory locks, an
    existing data file is locked as well, because a hard link to it would have a different lock file. A path passed to
    ``inherit`` is already locked, and stays locked until the last process that shares it ends.

    Raises ``StoreLocked`` if another store object or process holds the lock, and ``StoreUnavailable`` if the lock file
    cannot be created.
    """

    def __init__(self, path: Path) -> None:
        self.file = path / ".lock" if path.is_dir() else path.with_name(path.name + ".lock")
        self._name = os.path.realpath(path)
        self._descriptor: int | None = None
        self._data: int | None = None
        self._inode: tuple[int, int] | None = None
        with _guard:
            inode = _inode(path)
            self.is_shared = self._name in _inherited
            """Whether other processes may have the path open too."""
            self.is_first = _inherited.get(self._name, True)
            """Whether no other process has the path open yet."""
            if self._name in _open_paths or (inode in _open_files and not self.is_shared):
                raise StoreLocked(f"{path}: is open already in this process; close that store first, or share it")
            if self.is_shared:
                _open_paths.add(self._name)
                return
            self._descriptor = _acquire(path, self.file)
            try:
                self._data = _acquire_data(path) if inode is not None else None
            except BaseException:
                _unlock(self._descriptor)
                os.close(self._descriptor)
                self._descriptor = None
                raise
            _open_paths.add(self._name)
            if inode is not None:
                self._inode = inode
                _open_files.add(inode)

    @property
    def descriptors(self) -> tuple[int, ...]:
        """The descriptors that hold the lock. Processes that inherit them keep the lock until they end or unlock it."""
        return tuple(each for each in (self._descriptor, self._data) if each is not None)

    def release(self) -> None:
        """Release the lock. Further calls have no effect."""
        with _guard:
            if self.is_shared:
                _open_paths.discard(self._name)
            if self._descriptor is None:
                return
            _open_paths.discard(self._name)
            if self._inode is not None:
                _open_files.discard(self._inode)
            if self._data is not None:
                _unlock(self._data)
                os.close(self._data)
                self._data = None
            try:
                # A child process that was forked meanwhile shares the descriptor. If we only closed ours, the child
                # would keep the lock.
                _unlock(self._descriptor)
            finally:
                os.close(self._descriptor)
                self._descriptor = None


def holder_of(path: Path) -> str | None:
    """Return the number of the process that locked the data at ``path``, empty if it cannot be read; None if none did.

    To find out, the lock is taken for a moment.
    """
    if not path.exists():
        return None
    try:
        lock = PathLock(path)
    except StoreLocked:
        with contextlib.suppress(OSError):  # as Windows may forbid it
            file = path / ".lock" if path.is_dir() else path.with_name(path.name + ".lock")
            return file.read_text(encoding="ascii", errors="replace").strip()
        return ""
    lock.release()
    return None


def _inode(path: Path) -> tuple[int, int] | None:
    """The device and inode of a file. None on Windows, and if ``path`` is a directory or does not exist."""
    if sys.platform == "win32" or not path.is_file():
        return None
    found = path.stat()
    return found.st_dev, found.st_ino


def _acquire_data(path: Path) -> int | None:
    """Lock the data file itself and return its descriptor, or None if its file system does not support locks."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        _lock(descriptor)
    except BlockingIOError as error:
        os.close(descriptor)
        raise StoreLocked(
            f"{path}: is open in another process under another name (a hard link); stop it, or give this one a file "
            "of its own"
        ) from error
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def _acquire(path: Path, file: Path) -> int:
    try:
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise StoreUnavailable(
            f"{path}: its lock file {file} cannot be opened ({error.strerror}); "
            "give a path in a directory that this user may write"
        ) from error
    try:
        _lock(descriptor)
    except OSError as error:
        holder = ""
        with contextlib.suppress(OSError):  # only for the message; Windows forbids reading a file that is locked
            holder = os.pread(descriptor, 20, 0).decode("ascii", "replace").strip() if _HAS_PREAD else ""
        os.close(descriptor)
        if isinstance(error, BlockingIOError | PermissionError):
            who = f"process {holder}" if holder else "another process"
            raise StoreLocked(f"{path}: is open in {who}; stop it, or give this one another path") from error
        raise StoreUnavailable(
            f"{path}: its lock file {file} cannot be locked ({error.strerror}); put it on a file system that has locks"
        ) from error
    with contextlib.suppress(OSError):  # only for the message; a full disk must not keep a store from opening
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"{os.getpid()}\n".encode())
    return descriptor


_HAS_PREAD = hasattr(os, "pread")

if sys.platform == "win32":
    import msvcrt

    # Windows locks are mandatory, so we lock a byte far beyond the process number at the start of the file.
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
