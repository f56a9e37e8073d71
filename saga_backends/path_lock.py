"""One store object for a path, in this process and among all others."""

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
"""Devices and inodes: a file may have several names."""
_guard = threading.Lock()
_inherited: dict[str, bool] = {}
"""Names of paths that another process locked for this one, and whether nobody else has them open yet."""


def inherit(paths: Iterable[Path], *, first: bool) -> None:
    """Use ``paths`` together with other processes of the one that locked them and passed the locks on.

    ``first``: none of the others has opened them yet, nor does until this process has.
    """
    with _guard:
        _inherited.update({os.path.realpath(path): first for path in paths})


class PathLock:
    """Held from ``PathLock(path)`` to ``release()``, or until the process dies, by whatever cause.

    ``path`` is the data that is protected; the lock is a file beside it (``state.db`` has ``state.db.lock``), or in
    it when it is a directory, and stays there when released. A file that exists is locked itself as well, where the
    platform has advisory locks: under another name, a hard link, it has another lock file. Raises ``StoreLocked`` when
    another store object or process holds it, ``StoreUnavailable`` when the lock file cannot be made. A path that was
    inherited (``inherit``) is locked already, and stays so until the last of the processes ends that share it.
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
            """Whether other processes may have the path open as well."""
            self.is_first = _inherited.get(self._name, True)
            """Whether none of them has it open yet."""
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
        """What holds the lock: it lasts until the last process ends, or unlocks, that these were passed to."""
        return tuple(each for each in (self._descriptor, self._data) if each is not None)

    def release(self) -> None:
        """Let others open the path. A second call does nothing."""
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
                # A child forked meanwhile shares the descriptor: closing ours alone would leave the lock with it.
                _unlock(self._descriptor)
            finally:
                os.close(self._descriptor)
                self._descriptor = None


def is_held(path: Path) -> bool:
    """Whether some process has the data at ``path`` open. Holds it for a moment to find out."""
    if not path.exists():
        return False
    try:
        PathLock(path).release()
    except StoreLocked:
        return True
    return False


def _inode(path: Path) -> tuple[int, int] | None:
    """A file's device and inode; None for a directory, and where there is nothing or no such lock."""
    if sys.platform == "win32" or not path.is_file():
        return None
    found = path.stat()
    return found.st_dev, found.st_ino


def _acquire_data(path: Path) -> int | None:
    """Lock the file itself. None where its file system has no locks: then the lock file's failure told so."""
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
