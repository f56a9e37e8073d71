"""MdCache in files, with one folder per scope for the four pages, which users can open, read and edit.

``locate`` returns that folder. The paths of the folder and its pages do not change between turns. ``generation.py``
describes the files. Reads and writes use separate threads, so that no reader waits for the disk to sync. If a user
has edited a page, reads return the edited page until the next write to its scope replaces it.
"""

from __future__ import annotations

import contextlib
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from threading import Lock

from saga_backends.md_cache.generation import Generation, failure, is_pending, scope_of
from saga_backends.path_lock import PathLock
from saga_backends.worker import Worker
from saga_core.capabilities import Capability
from saga_core.errors import BadInput, Closed, StoreError
from saga_core.ids import digest
from saga_core.registry import Backend, OpenOptions
from saga_core.stores import Health, Limits, MdCache, Pages, StoreInfo
from saga_core.stores.validate import check_pages, check_scope

_NOT_IN_A_SLUG = re.compile(r"\W+")
_SLUG_CHARS = 40


def folder_name(scope: str) -> str:
    """Return a folder name for ``scope`` that is valid on any file system: a readable part and a fingerprint.

    The fingerprint distinguishes scopes that differ only in case, in Unicode composition or in punctuation.
    """
    slug = _NOT_IN_A_SLUG.sub("-", unicodedata.normalize("NFC", scope)).strip("-_")[:_SLUG_CHARS].rstrip("-_")
    return f"{slug or 'scope'}-{digest(scope, size=6)}"


class _Root:
    """The directory of all scopes. All methods block and must run on a worker's thread."""

    def __init__(self, path: Path, limits: Limits) -> None:
        self.path = path
        self._limits = limits
        self._lock: PathLock | None = None
        self._guard = Lock()
        self.is_shared = False
        """Whether other SAGA processes have the directory open too. Only one of them writes a scope at a time."""

    def open(self) -> None:
        """Create and lock the directory, and finish publishing what a crash has interrupted.

        If another process has the directory open already, pending records are left to that process.
        """
        with self._mapped():
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock = PathLock(self.path)
            self.is_shared = self._lock.is_shared
            if not self._lock.is_first:
                return
            for folder in filter(is_pending, self._folders()):
                # Readers use the pending record, so they will report what is wrong with it.
                with contextlib.suppress(StoreError, OSError):
                    scope = scope_of(folder)
                    if scope is not None:
                        self._generation(scope).settle()

    def close(self) -> None:
        """Release the lock. Further calls have no effect."""
        lock, self._lock = self._lock, None
        if lock is not None:
            lock.release()

    def read(self, scope: str) -> Pages | None:
        with self._mapped():
            return self._generation(scope).read()

    def write(self, scope: str, pages: Pages) -> None:
        with self._mapped():
            self._generation(scope).write(pages)

    def drop(self, scope: str) -> None:
        with self._mapped():
            self._generation(scope).drop()

    def scopes(self) -> list[str]:
        """Return all scopes. A folder that a user has copied is skipped, because its name does not match its scope."""
        with self._mapped():
            found = ((folder.name, self._scope_of(folder)) for folder in self._folders())
            return sorted(
                scope
                for name, scope in found
                if scope is not None and unicodedata.normalize("NFC", name) == folder_name(scope)
            )

    def check(self) -> Health:
        try:
            count = len(self.scopes())
            size = sum(file.stat().st_size for file in self.path.glob("*/*") if file.is_file())
        except (StoreError, OSError) as error:
            return Health(ok=False, detail=str(error))
        return Health(ok=True, detail=f"{self.path}: pages of {count} scopes", bytes=size)

    def folder(self, scope: str) -> Path:
        return self.path / folder_name(scope)

    def _generation(self, scope: str) -> Generation:
        return Generation(self.folder(scope), scope, self._limits.value_bytes, self._guard, others_write=self.is_shared)

    def _scope_of(self, folder: Path) -> str | None:
        with self._guard:
            return scope_of(folder)

    def _folders(self) -> list[Path]:
        return [folder for folder in self.path.iterdir() if folder.is_dir()]

    @contextlib.contextmanager
    def _mapped(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise failure(self.path, error) from error


class FilesCache:
    """The page cache, created by ``BACKEND.open``."""

    def __init__(self, root: _Root, reader: Worker, writer: Worker, limits: Limits) -> None:
        self._root = root
        self._reader = reader
        self._writer = writer
        self._closed = False
        self._info = StoreInfo(
            kind="cache",
            name="files",
            capabilities=frozenset({Capability.DURABLE, *([Capability.SHARED] if root.is_shared else [])}),
            limits=limits,
            location=str(root.path),
        )

    @property
    def info(self) -> StoreInfo:
        """The limits, and the directory as the location."""
        return self._info

    async def read(self, scope: str) -> Pages | None:
        """See ``MdCache.read``. Edited pages are returned as they are. The watermark is that of the last write."""
        self._checked(scope)
        return await self._reader.run(self._root.read, scope)

    async def write(self, scope: str, pages: Pages) -> None:
        """See ``MdCache.write``. The write completes even if the task that awaits it is cancelled."""
        self._checked(scope)
        check_pages(pages, self._info.limits)
        own = Pages(dict(pages.files), pages.watermark)
        await self._writer.run(self._root.write, scope, own)

    async def scopes(self) -> list[str]:
        """See ``MdCache.scopes``."""
        self._alive()
        return await self._reader.run(self._root.scopes)

    async def drop(self, scope: str) -> None:
        """See ``MdCache.drop``. Other files that a user has put into the folder are kept."""
        self._checked(scope)
        await self._writer.run(self._root.drop, scope)

    def locate(self, scope: str) -> str | None:
        """The folder of the scope's pages. It never changes, and exists after the first write."""
        self._checked(scope)
        return str(self._root.folder(scope))

    async def check(self, *, thorough: bool = False) -> Health:
        """Read the record of every scope."""
        self._alive()
        return await self._reader.run(self._root.check)

    async def aclose(self) -> None:
        """Finish the submitted calls and unlock the directory."""
        self._closed = True
        await _shut(self._root, self._reader, self._writer)

    def _alive(self) -> None:
        if self._closed:
            raise Closed(f"{self._root.path}: the page cache is closed")

    def _checked(self, scope: str) -> None:
        self._alive()
        check_scope(scope, self._info.limits)


async def _shut(root: _Root, reader: Worker, writer: Worker) -> None:
    try:
        await reader.aclose()
    finally:
        try:
            if not writer.closed:
                await writer.run(root.close)
        finally:
            await writer.aclose()


async def _open(options: OpenOptions) -> MdCache:
    options.take()
    if options.path is None:
        raise BadInput("storage.cache.path: the files backend keeps its pages in a directory; give its path")
    limits = Limits()
    root = _Root(options.path.absolute(), limits)
    reader, writer = Worker(f"cache.files read {root.path}"), Worker(f"cache.files write {root.path}")
    try:
        await writer.run(root.open)
    except BaseException:
        await _shut(root, reader, writer)  # the opening may have succeeded even if it was cancelled
        raise
    return FilesCache(root, reader, writer, limits)


BACKEND = Backend("cache", "files", _open, "Markdown files that a person can open; the default")
