"""Manages the directory of a vector engine, with its label, its lock, and the translation of engine errors.

The files of an engine do not say which program made them. So a small file beside them, the label, records the engine,
the version of the layout, and notes of the backend.
"""

from __future__ import annotations

import importlib
import json
import os
import re
from abc import abstractmethod
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from attrs import frozen

from saga_backends.path_lock import PathLock
from saga_backends.path_owner import FOLDER_LABEL, claim
from saga_backends.vector.threaded import VectorEngine
from saga_core.capabilities import Capability
from saga_core.errors import Closed, NewerSchema, SagaError, StoreCorrupt, StoreError, StoreUnavailable
from saga_core.replacing import replace_file, sync, write_synced
from saga_core.stores import Health, Limits, ScopeSpec, StoreInfo, VectorItem
from saga_core.stores.validate import check_same_spec

REBUILD = "move the directory away, and make the vectors anew with `saga rebuild`"
"""The remedy for damage. Vectors can be rebuilt from the journal."""

_FULL = ("no space left", "disk is full", "database or disk is full", "disk quota")
_REFUSED = ("too many open files", "permission denied", "out of memory", "cannot allocate")
_SOURCE_PLACE = re.compile(r",? ?/\S{1,200}\.rs:\d+:\d+")
_SHOWN = 300
_PAGE = 1_000
"""How many items a check reads at a time."""


@frozen
class FolderLayout:
    """The layout of a backend. ``name`` is the name of the backend, and ``damage`` are phrases that indicate damage."""

    name: str
    version: int
    damage: tuple[str, ...]


class EngineFolder:
    """The directory at ``path``, which ``open`` creates. All methods may block."""

    def __init__(self, path: Path, layout: FolderLayout) -> None:
        self.path = path
        self._layout = layout
        self._lock: PathLock | None = None

    def open(self) -> dict[str, Any]:
        """Lock the directory and return the notes of its label, which are empty if it is new.

        Raises ``StoreUnavailable`` if the directory cannot be created, ``StoreLocked``, ``StoreCorrupt`` if it belongs
        to something else, and ``NewerSchema``. A rejected directory is left unchanged.
        """
        self._lock = claim(self.path, f"vector.{self._layout.name}", folder=True)
        try:
            notes = self._read()
            if notes is None:
                notes = {}
                self.note(notes)
        except BaseException:
            self.close()
            raise
        return notes

    def close(self) -> None:
        """Release the lock. Further calls have no effect."""
        lock, self._lock = self._lock, None
        if lock is not None:
            lock.release()

    def note(self, notes: Mapping[str, Any]) -> None:
        """Replace the notes of the label atomically. They are on disk when this returns."""
        label = {"saga": "vectors", "engine": self._layout.name, "version": self._layout.version, "notes": notes}
        text = json.dumps(label, ensure_ascii=False, indent=1)
        new = self.path / (FOLDER_LABEL + ".new")
        try:
            write_synced(new, f"{text}\n".encode())
            replace_file(new, self.path / FOLDER_LABEL)
            sync(self.path)
        except OSError as error:
            raise StoreError(
                f"{self.path / FOLDER_LABEL}: cannot be written ({error.strerror}); make room, or let this user write "
                "there"
            ) from error

    def size(self) -> int:
        """The size of all files in the directory, in bytes."""
        return sum((Path(where) / name).stat().st_size for where, _, names in os.walk(self.path) for name in names)

    @contextmanager
    def translated(self, doing: str, *, reading: bool = False) -> Iterator[None]:
        """Turn every exception of the engine into a ``StoreError`` that names the path and a remedy.

        ``reading`` means that any failure counts as damage, unless the system has refused the access.
        """
        try:
            yield
        except SagaError:
            raise
        except BaseException as error:
            # A panic of a Rust engine is not an Exception.
            if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
                raise
            raise self._translate(doing, error, reading) from error

    def corrupt(self, what: str) -> StoreCorrupt:
        """Return the error for damage in the directory."""
        return StoreCorrupt(f"{self.path}: {what}; {REBUILD}")

    def _translate(self, doing: str, error: BaseException, reading: bool) -> StoreError:
        said = _SOURCE_PLACE.sub("", str(error)) or type(error).__name__
        said = said if len(said) <= _SHOWN else f"{said[:_SHOWN]}…"
        low = said.lower()
        if any(words in low for words in _FULL):
            return StoreError(f"{self.path}: the disk is full ({said}); make room, and do it again")
        what = f"{doing} failed ({type(error).__name__}: {said})"
        damaged = reading and not any(words in low for words in _REFUSED)
        if damaged or any(words in low for words in self._layout.damage):
            return self.corrupt(f"is damaged: {what}")
        return StoreError(f"{self.path}: {what}")

    def _read(self) -> dict[str, Any] | None:
        """Return the notes of the label, or None if there is no label."""
        file = self.path / FOLDER_LABEL
        try:
            text = file.read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        except PermissionError as error:
            raise StoreUnavailable(
                f"{file}: cannot be read ({error.strerror}); let this user read and write it"
            ) from error
        except (OSError, UnicodeDecodeError) as error:
            raise self.corrupt(f"{FOLDER_LABEL} cannot be read ({error})") from error
        return self._notes(text)

    def _notes(self, text: str) -> dict[str, Any]:
        try:
            label = json.loads(text)
        except ValueError as error:
            raise self.corrupt(f"{FOLDER_LABEL} is no JSON ({error})") from error
        if not isinstance(label, dict) or label.get("saga") != "vectors" or type(label.get("version")) is not int:
            raise self.corrupt(f"{FOLDER_LABEL} is not the label of a vector store")
        if label["version"] > self._layout.version:
            raise NewerSchema(
                f"{self.path}: has layout version {label['version']}, and this SAGA knows versions up to "
                f"{self._layout.version}; nothing was changed: upgrade SAGA, or give another path"
            )
        notes = label.get("notes")
        if not isinstance(notes, dict):
            raise self.corrupt(f"{FOLDER_LABEL} has no notes")
        return notes


class FolderEngine(VectorEngine):
    """An engine in a directory of its own. The specs of its scopes are kept in memory."""

    layout: FolderLayout

    def __init__(self, path: Path) -> None:
        self.path = path
        self._folder = EngineFolder(path, self.layout)
        self._specs: dict[str, ScopeSpec] = {}
        self._version = ""
        self._limits = Limits()
        self._open = False
        self._order: tuple[str, list[str]] | None = None
        """The sorted ids of the scope that was scanned last, until a scope is written."""

    def info(self) -> StoreInfo:
        """The version of the engine, its capabilities and its limits."""
        return StoreInfo(
            kind="vector",
            name=self.layout.name,
            version=self._version,
            capabilities=frozenset({Capability.DURABLE}),
            limits=self._limits,
            location=str(self.path),
        )

    def spec(self, name: str) -> ScopeSpec | None:
        """See ``VectorEngine.spec``."""
        self._ensure_open()
        return self._specs.get(name)

    def scopes(self) -> list[str]:
        """See ``VectorStore.scopes``."""
        self._ensure_open()
        return sorted(self._specs)

    def create(self, name: str, spec: ScopeSpec) -> None:
        """See ``VectorStore.create``."""
        found = self.spec(name)
        if found is not None:
            check_same_spec(name, found, spec)
            return
        self._make(name, spec)
        self._specs[name] = spec

    def drop(self, name: str) -> None:
        """See ``VectorStore.drop``."""
        if self.spec(name) is not None:
            self._order = None
            self._discard(name)
            self._specs.pop(name, None)

    def scan(self, name: str, after: str | None, limit: int) -> list[VectorItem]:
        """See ``VectorStore.scan``."""
        if self.spec(name) is None:
            return []
        if self._order is None or self._order[0] != name:
            self._order = (name, sorted(self._ids(name)))
        ids = self._order[1]
        start = 0 if after is None else bisect_right(ids, after)
        return list(self.get(name, ids[start : start + limit]).values())

    def check(self, thorough: bool) -> Health:
        """Query the engine, or read every item if ``thorough``."""
        try:
            self._ensure_open()
            self._look()
            for name in self._specs if thorough else ():
                page: list[VectorItem] = []
                while found := self.scan(name, page[-1].id if page else None, _PAGE):
                    page = found
            size = self._folder.size()
        except Closed:
            raise
        except (SagaError, OSError) as error:
            return Health(ok=False, detail=str(error))
        return Health(ok=True, detail=f"{self.path}: {'every item was read' if thorough else 'readable'}", bytes=size)

    @abstractmethod
    def _make(self, name: str, spec: ScopeSpec) -> None:
        """Create a scope, which does not exist yet."""

    @abstractmethod
    def _discard(self, name: str) -> None:
        """Remove a scope, which exists."""

    @abstractmethod
    def _ids(self, name: str) -> list[str]:
        """Return the ids of all items of a scope."""

    @abstractmethod
    def _look(self) -> None:
        """Read something from the engine."""

    def _ensure_open(self) -> None:
        if not self._open:
            raise Closed(f"{self.path}: is closed")


def slug(scope: str) -> str:
    """Return a readable part of the scope's name, for users who look at the files."""
    return re.sub(r"[^a-z0-9]+", "-", scope.lower()).strip("-")[:40] or "scope"


def import_engine(module: str, extra: str) -> ModuleType:
    """Import the module of an engine. This is done when a store is opened, because it may take seconds.

    Raises ``StoreUnavailable`` with the package to install.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise StoreUnavailable(
            f"vector.{extra}: {module} cannot be imported ({error}); install it with pip install 'saga-rp[{extra}]'"
        ) from error
