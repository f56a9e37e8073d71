"""MdCache in files, with one folder per scope for the four pages, which users can open, read and edit.

``locate`` returns that folder. The paths of the folder and its pages do not change between turns. ``generation.py``
describes the files. Reads and writes use separate threads, so that no reader waits for the disk to sync. If a user
has edited a page, reads return the edited page until the next write to its scope replaces it.
"""

from __future__ import annotations

import contextlib
import errno
import json
import re
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

from attrs import evolve, frozen

from saga_backends.checked import CheckedStore
from saga_backends.path_lock import PathLock
from saga_backends.path_owner import claim
from saga_backends.worker import Worker
from saga_core.capabilities import Capability
from saga_core.errors import BadInput, Closed, NewerSchema, StoreCorrupt, StoreError, StoreUnavailable
from saga_core.ids import digest
from saga_core.registry import Backend, OpenOptions
from saga_core.replacing import replace_file, sync, write_synced
from saga_core.stores import Health, Limits, MdCache, Pages, StoreInfo
from saga_core.stores.validate import check_pages
from saga_core.values import PAGE_NAMES

# --- The folder of one scope --------------------------------------------------------------------------------------
#
# ::
#
#     아리아의-모험-3f9c0a51d2e7/
#         state.md relations.md story.md lore.md     the pages for users; their paths never change
#         .generation.json                           the record of the generation as it was written
#         .pending.json                              the same record while some pages are not yet in place
#
# A write commits by renaming its record to ``.pending.json``. Then each page that differs is replaced, and the record
# is renamed to ``.generation.json``. So the disk holds a complete generation, old or new, at every moment and after
# every crash. A reader uses only ``.pending.json`` if it exists, and otherwise the pages beside ``.generation.json``.
# This only requires renames within a folder, which Linux, macOS and Windows all support.
#
# A page that differs from the record was edited by a user, and is returned as it is. A missing page, a page that is not
# UTF-8, and a record with a wrong checksum count as damage.

T = TypeVar("T")

_FORMAT = 1
_SETTLED = ".generation.json"
_PENDING = ".pending.json"
_REPAIR = "write the scope again (`saga rebuild`), or remove the folder"


@frozen(eq=False)
class Generation:
    """The folder ``path`` of ``scope``.

    There may be one writer at a time, and readers on other threads at any time. ``guard`` is held while files are read
    or renamed, but not while the disk syncs. It is also needed on Windows, where an open file cannot be replaced.
    ``others_write`` means that other processes, which do not use ``guard``, may write too.
    """

    path: Path
    scope: str
    most_bytes: int
    guard: Lock
    others_write: bool

    def read(self) -> Pages | None:
        """Return the pages, or None if there is no generation. Raises ``StoreCorrupt`` with the damaged file."""
        with self.guard:
            pending, settled, on_disk = self._files()
        if pending is not None:
            return self._pages(pending, _PENDING)
        if settled is None:
            return None
        pages = self._pages(settled, _SETTLED)
        return evolve(pages, files={name: self._text(name, on_disk[name]) for name in PAGE_NAMES})

    def _files(self) -> tuple[bytes | None, bytes | None, dict[str, bytes | None]]:
        """Return the pending record, or else the settled record and the pages. All belong to the same generation."""
        while True:
            pending = _load(self.path / _PENDING)
            settled = _load(self.path / _SETTLED) if pending is None else None
            on_disk = {name: _load(self.path / name) for name in PAGE_NAMES} if settled is not None else {}
            if not self.others_write or pending is not None:
                return pending, settled, on_disk
            # The guard does not stop other processes. If one has published meanwhile, the records have changed.
            if _load(self.path / _PENDING) is None and _load(self.path / _SETTLED) == settled:
                return pending, settled, on_disk

    def write(self, pages: Pages) -> None:
        """Replace the generation. If this raises, readers see either the old or the new generation."""
        if not self.path.is_dir():
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            sync(self.path.parent)
        self._replace(_PENDING, _dump(self.scope, pages))
        sync(self.path)
        self._publish(pages)

    def settle(self) -> None:
        """If a generation was committed but not published, put its pages in place."""
        pending = _load(self.path / _PENDING)
        if pending is not None:
            self._publish(self._pages(pending, _PENDING))

    def drop(self) -> None:
        """Remove the generation, and the folder if it contains nothing else."""
        ours = (_SETTLED, _PENDING, *PAGE_NAMES, _temporary(_PENDING), *(_temporary(name) for name in PAGE_NAMES))
        with self.guard:
            for name in ours:  # the records first, the settled one before the pending one
                (self.path / name).unlink(missing_ok=True)
            try:
                self.path.rmdir()
            except FileNotFoundError:
                return
            except OSError as error:
                if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                    raise
        sync(self.path if self.path.exists() else self.path.parent)

    def _publish(self, pages: Pages) -> None:
        for name, text in pages.files.items():
            raw = text.encode()
            if _load(self.path / name) != raw:
                self._replace(name, raw)
        sync(self.path)
        with self.guard:
            replace_file(self.path / _PENDING, self.path / _SETTLED)

    def _replace(self, name: str, raw: bytes) -> None:
        """Replace a file atomically with ``raw``, which is synced to the disk before."""
        temporary = self.path / _temporary(name)
        write_synced(temporary, raw)
        with self.guard:
            replace_file(temporary, self.path / name)

    def _pages(self, raw: bytes, name: str) -> Pages:
        scope, pages = _parse(raw, self.path / name)
        if scope != self.scope:
            raise StoreCorrupt(
                f"{self.path / name}: belongs to scope {scope!r} and not to {self.scope!r}; was the folder copied? "
                "Remove it"
            )
        return pages

    def _text(self, name: str, raw: bytes | None) -> str:
        path = self.path / name
        if raw is None:
            raise StoreCorrupt(f"{path}: is missing; put it back, or {_REPAIR}")
        if len(raw) > self.most_bytes:
            raise StoreCorrupt(f"{path}: has {len(raw)} bytes, more than {self.most_bytes}; shorten it, or {_REPAIR}")
        try:
            return raw.decode()
        except UnicodeDecodeError as error:
            raise StoreCorrupt(f"{path}: is not UTF-8 ({error}); save it as UTF-8, or {_REPAIR}") from None


def scope_of(path: Path) -> str | None:
    """Return the scope whose generation is in the folder ``path``, or None."""
    for name in (_PENDING, _SETTLED):
        raw = _load(path / name)
        if raw is not None:
            return _parse(raw, path / name)[0]
    return None


def is_pending(path: Path) -> bool:
    """Return whether the folder ``path`` holds a generation that is not fully published."""
    return (path / _PENDING).exists()


def failure(path: Path, error: OSError) -> StoreError:
    """Return ``error`` as a ``StoreError`` with a remedy."""
    where = error.filename or path
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return StoreError(f"{where}: the disk is full ({error.strerror}); make room: the pages before this are kept")
    if isinstance(error, PermissionError) or error.errno == errno.EROFS:
        return StoreUnavailable(
            f"{where}: access denied ({error.strerror}); let this user write there, and close programs that hold it"
        )
    if isinstance(error, NotADirectoryError | FileExistsError | IsADirectoryError):
        return StoreUnavailable(f"{where}: is in the way ({error.strerror}); move it, or give another path")
    return StoreError(f"{where}: {error.strerror or error}")


# --- the record ----------------------------------------------------------------------------------------------


def _checksum(scope: str, pages: Pages) -> str:
    return digest(scope, pages.watermark, *(part for name in PAGE_NAMES for part in (name, pages.files[name])))


def _dump(scope: str, pages: Pages) -> bytes:
    record = {
        "format": _FORMAT,
        "scope": scope,
        "watermark": pages.watermark,
        "checksum": _checksum(scope, pages),
        "pages": dict(pages.files),
    }
    return json.dumps(record, ensure_ascii=False, indent=1).encode()


def _parse(raw: bytes, path: Path) -> tuple[str, Pages]:
    try:
        record: dict[str, Any] = json.loads(raw)
        if record["format"] > _FORMAT:
            raise NewerSchema(f"{path}: has format {record['format']}, and this SAGA knows {_FORMAT}; upgrade SAGA")
        scope, pages = record["scope"], Pages(record["pages"], record["watermark"])
        if _checksum(scope, pages) == record["checksum"]:
            return scope, pages
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, BadInput) as error:
        raise StoreCorrupt(f"{path}: cannot be read ({type(error).__name__}: {error}); {_REPAIR}") from error
    raise StoreCorrupt(f"{path}: its checksum does not match; {_REPAIR}")


# --- files ---------------------------------------------------------------------------------------------------


def _load(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _temporary(name: str) -> str:
    return f".{name.removeprefix('.')}.tmp"


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
            self._lock = claim(self.path, "cache.files", folder=True)
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

    def on(self, scope: str, call: Callable[[Generation], T]) -> T:
        """Return what ``call`` returns for the generation of a scope."""
        with self._mapped():
            return call(self._generation(scope))

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
        return Generation(self.folder(scope), scope, self._limits.value_bytes, self._guard, self.is_shared)

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


class FilesCache(CheckedStore):
    """The page cache, created by ``BACKEND.open``."""

    def __init__(self, root: _Root, reader: Worker, writer: Worker, limits: Limits) -> None:
        self._root = root
        self._reader = reader
        self._writer = writer
        self._closed = False
        self._info = StoreInfo(
            kind="cache",
            name="files",
            capabilities=frozenset(
                {Capability.DURABLE, Capability.COMPACTS, *([Capability.SHARED] if root.is_shared else [])}
            ),
            limits=limits,
            location=str(root.path),
        )

    async def read(self, scope: str) -> Pages | None:
        """See ``MdCache.read``. Edited pages are returned as they are. The watermark is that of the last write."""
        self._check_scope(scope)
        return await self._reader.run(self._root.on, scope, Generation.read)

    async def write(self, scope: str, pages: Pages) -> None:
        """See ``MdCache.write``. The write completes even if the task that awaits it is cancelled."""
        self._check_scope(scope)
        check_pages(pages, self._info.limits)
        own = Pages(dict(pages.files), pages.watermark)
        await self._writer.run(self._root.on, scope, lambda generation: generation.write(own))

    async def _scopes(self) -> list[str]:
        return await self._reader.run(self._root.scopes)

    async def _drop(self, scope: str) -> None:
        """Other files that a user has put into the folder are kept."""
        await self._writer.run(self._root.on, scope, Generation.drop)

    async def compact(self) -> None:
        """Nothing is left to do: what was dropped or replaced is in no file."""
        self._alive()

    def locate(self, scope: str) -> str | None:
        """The folder of the scope's pages. It never changes, and exists after the first write."""
        self._check_scope(scope)
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


async def _shut(root: _Root, reader: Worker, writer: Worker) -> None:
    try:
        await reader.aclose()
    finally:
        await writer.shut(root.close)


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
