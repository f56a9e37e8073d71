"""Loads Kuzu or its successor Ladybug, one per process, and interprets their file headers and error messages."""

from __future__ import annotations

import importlib
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from attrs import frozen

from saga_core.errors import NewerSchema, StoreCorrupt, StoreError, StoreLocked, StoreUnavailable

_HEADER = 12
"""The size of the header of a database file: four letters and the storage format as a little-endian 64-bit number."""


@frozen
class Engine:
    """An engine with Kuzu's Python API. ``magic`` are the first bytes of its files."""

    name: str
    magic: bytes


KUZU = Engine("kuzu", b"KUZU")
LADYBUG = Engine("ladybug", b"LBUG")

_ENGINES = (KUZU, LADYBUG)
_importing = threading.Lock()

DRIVER_ERRORS = (RuntimeError, MemoryError, ValueError, LookupError, ArithmeticError, OSError)
"""The Python exceptions into which the C++ exceptions of the engines are translated."""


def load(engine: Engine) -> ModuleType:
    """Import the module of ``engine``.

    Raises ``StoreUnavailable`` if it cannot be imported, or if the other engine was imported in this process. Both
    export the same C++ symbols, so loading the second one would crash the process.
    """
    with _importing:
        for other in _ENGINES:
            if other != engine and sys.modules.get(other.name) is not None:
                raise StoreUnavailable(
                    f"graph.{engine.name}: {other.name} is loaded in this process, and {engine.name} and {other.name} "
                    "crash when they meet in one; use one of the two, or a process for each"
                )
        try:
            return importlib.import_module(engine.name)
        except ImportError as error:
            raise StoreUnavailable(
                f"graph.{engine.name}: {error}; install it: pip install 'saga-rp[{engine.name}]'"
            ) from error


def remedy(file: Path) -> str:
    """Advice for a database that cannot be read, to be used in messages."""
    return (
        f"move {file.parent} away, or put a backup in its place, or give another path; the graph is made anew from "
        "the journal, all of it at once by `saga rebuild`"
    )


def check_header(file: Path, log: Path, engine: Engine, reads: int) -> None:
    """Reject a file that ``engine`` cannot read. ``reads`` is its storage format, and ``log`` the write-ahead log.

    Raises ``NewerSchema`` for a later format, and ``StoreCorrupt`` if the file is not a database of this engine.
    """
    with file_errors(file):
        head = b""
        if file.exists():
            with file.open("rb") as opened:
                head = opened.read(_HEADER)
        if not head:
            if log.exists() and log.stat().st_size:
                raise StoreCorrupt(f"{file}: is missing or empty, but its log {log.name} is not; {remedy(file)}")
            return
    if not head.startswith(engine.magic) or len(head) < _HEADER:
        raise StoreCorrupt(f"{file}: is no {engine.name} database, or its beginning is damaged; {remedy(file)}")
    if _format(head) > reads:
        raise NewerSchema(
            f"{file}: has storage format {_format(head)}, and this {engine.name} reads formats up to {reads}; nothing "
            f"was changed: upgrade {engine.name}, or {remedy(file)}"
        )


def _format(head: bytes) -> int:
    return int.from_bytes(head[4:_HEADER], "little")


@contextmanager
def file_errors(file: Path) -> Iterator[None]:
    """Turn every ``OSError`` into ``StoreUnavailable``."""
    try:
        yield
    except OSError as error:
        raise StoreUnavailable(
            f"{file}: {error.strerror or error}; let this user read and write {file.parent}, or give another path"
        ) from error


@contextmanager
def opening(file: Path) -> Iterator[None]:
    """Turn every driver exception while opening into a ``StoreError``. Unknown errors are treated as damage."""
    try:
        yield
    except DRIVER_ERRORS as error:
        text = _text(error)
        if "Could not set lock" in text:
            raise StoreLocked(f"{file}: another program has it open ({text}); close it there") from error
        if isinstance(error, OSError) or "IO exception" in text:
            raise StoreUnavailable(
                f"{file}: cannot be opened ({text}); let this user read and write {file.parent}, and see whether the "
                "disk is full"
            ) from error
        if isinstance(error, MemoryError) or "Buffer manager" in text or "mmap" in text.lower():
            raise StoreUnavailable(
                f"{file}: there is not enough memory or address space to open it ({text}); change "
                "options.buffer_pool_mb or options.max_db_mb"
            ) from error
        raise StoreCorrupt(f"{file}: cannot be opened ({text}); {remedy(file)}") from error


class PoolFull(StoreError):
    """A call did not fit into the buffer pool."""


@contextmanager
def working(file: Path, pool_mb: int) -> Iterator[None]:
    """Turn every driver exception of a call into a ``StoreError`` that names ``file`` and a remedy."""
    try:
        yield
    except DRIVER_ERRORS as error:
        raise _translate(file, pool_mb, error) from error


def _translate(file: Path, pool_mb: int, error: Exception) -> StoreError:
    text = _text(error)
    if isinstance(error, MemoryError) or "Buffer manager" in text or "bad_alloc" in text:
        return PoolFull(
            f"{file}: the call does not fit into the buffer pool of {pool_mb} MB ({text}); nothing of it was kept: "
            "raise options.buffer_pool_mb, or split the mutation"
        )
    if isinstance(error, OSError) or "IO exception" in text:
        return StoreError(
            f"{file}: the disk failed or is full ({text}); make room and apply the mutation again: of this one all or "
            "nothing was kept"
        )
    if isinstance(error, ValueError | LookupError) or "Storage exception" in text:
        return StoreCorrupt(f"{file}: is damaged ({text}); {remedy(file)}")
    return StoreError(f"{file}: {text}")


def _text(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
