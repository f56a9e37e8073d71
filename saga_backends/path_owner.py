"""Claims the path of a store for its engine: what another engine or program wrote there is refused and left alone.

Every engine that keeps files begins with ``claim``. ``engine`` is the name that its backend is registered under, such
as ``graph.kuzu``.
"""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path

from saga_backends.path_lock import PathLock
from saga_core.errors import StoreCorrupt, StoreUnavailable

FOLDER_LABEL = "saga.json"
"""The file in which the folder of a vector engine says which engine wrote it."""
APPLICATION_IDS = {"state.sqlite": 0x53414753, "vector.sqlite": 0x53414756}
"""The ``application_id`` of each kind of SQLite file."""

_SQLITE = b"SQLite format 3\0"
_SQLITE_HEAD = 108
_APPLICATION_ID, _ENTRIES = slice(68, 72), slice(103, 105)
_GRAPH = "graph.db"
_GRAPHS = {b"KUZU": "graph.kuzu", b"LBUG": "graph.ladybug"}
_GRAPH_FILES = (_GRAPH, "query.db")
_PAGES = (".generation.json", ".pending.json")
_FOREIGN = "what no engine of SAGA wrote"


def claim(path: Path, engine: str, *, folder: bool) -> PathLock:
    """Look at what is at ``path``, create the folder or an empty private file there, and lock it.

    Raises ``StoreCorrupt`` if another engine or program wrote it, ``StoreUnavailable`` if it cannot be created or is a
    file in place of a folder, and ``StoreLocked``. What is refused is not changed, and nothing is created beside it.
    """
    refuse_foreign(path, engine, folder=folder)
    make_place(path, folder=folder)
    if not folder:
        with contextlib.suppress(OSError):  # it exists, or the engine says what is wrong
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    return PathLock(path)


def make_place(path: Path, *, folder: bool) -> None:
    """Create the folder at ``path``, or the one that the file is to lie in. Raises ``StoreUnavailable``."""
    try:
        (path if folder else path.parent).mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreUnavailable(
            f"{path}: its directory cannot be made ({error.strerror}); give a path that this user may write"
        ) from error


def refuse_foreign(path: Path, engine: str, *, folder: bool) -> None:
    """Raise unless ``path`` is free, was written by ``engine``, or is damaged so that only ``engine`` can tell."""
    with contextlib.suppress(OSError):  # what cannot be read is for the engine to report
        if path.exists() and path.is_dir() != folder:
            raise StoreUnavailable(
                f"{path}: is a file; give the path of a directory, which need not exist"
                if folder
                else f"{path}: is a directory; give the path of a file, which may lie in it"
            )
        writer = writer_of(path)
        if engine.startswith(writer) or (writer == _FOREIGN and engine == "cache.files"):
            return  # people keep their pages among notes of their own
        kind, _, name = engine.partition(".")
        fill = f"saga {'move' if kind == 'state' else 'rebuild'} --to {kind}={name}"
        another = f"give another path, which `{fill}` fills, or move this one away; nothing was changed"
        if writer == _FOREIGN:
            raise StoreCorrupt(f"{path}: holds {writer}; {another}")
        told = f"{path}: was written by {writer.removesuffix('.')} and not by {engine}"
        raise StoreCorrupt(f"{told}; {f'use {writer}, or ' if writer.startswith(kind) else ''}{another}")


def writer_of(path: Path) -> str:
    """Return the engine that wrote what is at ``path``, such as ``graph.kuzu``, or that none did.

    The result is ``graph.`` if only the kind is known, and empty if nothing is there or nothing is known.
    """
    if path.is_dir():
        return _writer_of_folder(path)
    if not path.exists():
        return ""
    with path.open("rb") as file:
        head = file.read(_SQLITE_HEAD)
    if not head.startswith(_SQLITE) or len(head) < _SQLITE_HEAD:
        return ""  # empty, or damaged
    application = int.from_bytes(head[_APPLICATION_ID], "big")
    for engine, number in APPLICATION_IDS.items():
        if application == number:
            return engine
    # A file of ours that was never checkpointed has no table yet: all of it is in the write-ahead log.
    return _FOREIGN if application or any(head[_ENTRIES]) else ""


def _writer_of_folder(path: Path) -> str:
    new = FOLDER_LABEL + ".new"  # left by a crash when the folder was new
    visible = [entry for entry in path.iterdir() if not entry.name.startswith(".") and entry.name != new]
    if not visible:
        return ""
    names = {entry.name for entry in visible}
    if FOLDER_LABEL in names:
        with contextlib.suppress(ValueError):
            label = json.loads((path / FOLDER_LABEL).read_text(encoding="utf-8"))
            if isinstance(label, dict) and label.get("saga") == "vectors":
                return f"vector.{label.get('engine', '')}"
        return "vector."
    if _GRAPH in names:
        with (path / _GRAPH).open("rb") as file:
            return _GRAPHS.get(file.read(4), "graph.")
    if all(name.startswith(_GRAPH_FILES) for name in names):
        return "graph."
    if any((entry / name).is_file() for entry in visible for name in _PAGES):
        return "cache.files"
    return _FOREIGN
