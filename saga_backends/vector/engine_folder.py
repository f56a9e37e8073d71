"""The directory of a vector engine: its owner, its lock, and the meaning of its engine's errors.

An engine's files do not say which program made them and how. A small file beside them does, the label: the engine, the
version of the layout, and notes of the backend's own.
"""

from __future__ import annotations

import importlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from attrs import frozen

from saga_backends.path_lock import PathLock
from saga_core.errors import NewerSchema, SagaError, StoreCorrupt, StoreError, StoreUnavailable
from saga_core.replacing import replace_file

LABEL = "saga.json"

REBUILD = "move the directory away, and make the vectors anew with `saga rebuild`"
"""What helps against damage: vectors are made from the journal."""

_OURS = frozenset({LABEL, LABEL + ".new", ".lock"})
_FULL = ("no space left", "disk is full", "database or disk is full", "disk quota")
_REFUSED = ("too many open files", "permission denied", "out of memory", "cannot allocate")
_SOURCE_PLACE = re.compile(r",? ?/\S{1,200}\.rs:\d+:\d+")
_SHOWN = 300


@frozen
class Layout:
    """What distinguishes a backend: ``name`` is the backend's, ``damage`` what errors of damaged files say."""

    name: str
    version: int
    damage: tuple[str, ...]


class EngineFolder:
    """The directory at ``path``, made when it is opened. Everything here may block."""

    def __init__(self, path: Path, layout: Layout) -> None:
        self.path = path
        self._layout = layout
        self._lock: PathLock | None = None

    def open(self) -> dict[str, Any]:
        """Lock the directory, and give the notes of its label, none when it is new.

        Raises ``StoreUnavailable`` where it cannot be made, ``StoreLocked``, ``StoreCorrupt`` for a directory of
        something else, and ``NewerSchema``. Whatever is refused stays as it was.
        """
        self._prepare()
        self._read()
        self._lock = PathLock(self.path)
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
        """Let others open the directory. A second call does nothing."""
        lock, self._lock = self._lock, None
        if lock is not None:
            lock.release()

    def note(self, notes: Mapping[str, Any]) -> None:
        """Put ``notes`` in place of the label's, all or nothing, on disk when it returns."""
        label = {"saga": "vectors", "engine": self._layout.name, "version": self._layout.version, "notes": notes}
        text = json.dumps(label, ensure_ascii=False, indent=1)
        new = self.path / (LABEL + ".new")
        try:
            with new.open("w", encoding="utf-8") as file:
                file.write(text + "\n")
                file.flush()
                os.fsync(file.fileno())
            replace_file(new, self.path / LABEL)
            _sync_directory(self.path)
        except OSError as error:
            raise StoreError(
                f"{self.path / LABEL}: cannot be written ({error.strerror}); make room, or let this user write there"
            ) from error

    def size(self) -> int:
        """Bytes of all files in the directory."""
        return sum((Path(where) / name).stat().st_size for where, _, names in os.walk(self.path) for name in names)

    @contextmanager
    def translated(self, doing: str, *, reading: bool = False) -> Iterator[None]:
        """Let no exception of the engine out: each becomes a ``StoreError`` that names the path and a remedy.

        ``reading`` for an engine that fails to read in no other case than when its files are damaged.
        """
        try:
            yield
        except SagaError:
            raise
        except BaseException as error:
            # A panic in an engine written in Rust is no Exception.
            if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
                raise
            raise self._translate(doing, error, reading) from error

    def corrupt(self, what: str) -> StoreCorrupt:
        """The error for damage that was found in the directory."""
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

    def _prepare(self) -> None:
        if self.path.exists() and not self.path.is_dir():
            raise StoreUnavailable(f"{self.path}: is a file; give the path of a directory, which need not exist")
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise StoreUnavailable(
                f"{self.path}: cannot be made ({error.strerror}); give a path that this user may write"
            ) from error

    def _read(self) -> dict[str, Any] | None:
        """The label's notes; None without a label in a directory that holds nothing else."""
        file = self.path / LABEL
        try:
            text = file.read_text(encoding="utf-8")
        except FileNotFoundError:
            if any(entry.name not in _OURS for entry in self.path.iterdir()):
                raise StoreCorrupt(
                    f"{self.path}: has files, but no {LABEL} that marks them as a vector store of SAGA; give the "
                    "path of an empty directory, or of one that does not exist; nothing was changed"
                ) from None
            return None
        except PermissionError as error:
            raise StoreUnavailable(
                f"{file}: cannot be read ({error.strerror}); let this user read and write it"
            ) from error
        except (OSError, UnicodeDecodeError) as error:
            raise self.corrupt(f"{LABEL} cannot be read ({error})") from error
        return self._notes(text)

    def _notes(self, text: str) -> dict[str, Any]:
        try:
            label = json.loads(text)
        except ValueError as error:
            raise self.corrupt(f"{LABEL} is no JSON ({error})") from error
        if not isinstance(label, dict) or label.get("saga") != "vectors" or type(label.get("version")) is not int:
            raise self.corrupt(f"{LABEL} is not the label of a vector store")
        if label.get("engine") != self._layout.name:
            raise StoreCorrupt(
                f"{self.path}: was made by the backend {label.get('engine')!r} and not by {self._layout.name!r}; "
                f"name the other backend, or give another path and fill it with `saga rebuild --to "
                f"vector={self._layout.name}`; nothing was changed"
            )
        if label["version"] > self._layout.version:
            raise NewerSchema(
                f"{self.path}: has layout version {label['version']}, and this SAGA knows versions up to "
                f"{self._layout.version}; nothing was changed: upgrade SAGA, or give another path"
            )
        notes = label.get("notes")
        if not isinstance(notes, dict):
            raise self.corrupt(f"{LABEL} has no notes")
        return notes


def import_engine(module: str, extra: str) -> ModuleType:
    """The engine's module, imported when a store is opened: engines take seconds.

    Raises ``StoreUnavailable`` with what to install.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise StoreUnavailable(
            f"vector.{extra}: {module} cannot be imported ({error}); install it with pip install 'saga-rp[{extra}]'"
        ) from error


def _sync_directory(path: Path) -> None:
    """Make the names in ``path`` lasting. Where directories cannot be opened (Windows) the system does it itself."""
    if os.name == "nt":
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
