"""Vectors in a SQLite file, with exact search by numpy.

The file is written in WAL mode with ``synchronous=normal``. Acknowledged writes survive the end of the process,
including a kill. A power cut may lose the last writes, which are then rebuilt from the journal.

A query reads all items of its scopes, some hundred rows at a time (5 ms CPU for 1,500 vectors of 256 components). The
resident layer keeps them in memory.
"""

from __future__ import annotations

from saga_backends.vector.sqlite_items import VectorFile
from saga_backends.vector.threaded import open_threaded
from saga_core.registry import Backend, OpenOptions
from saga_core.stores import VectorStore


async def _open(options: OpenOptions) -> VectorStore:
    return await open_threaded("sqlite", options, VectorFile, place="a file")


BACKEND = Backend(
    kind="vector",
    name="sqlite",
    open=_open,
    summary="one SQLite file, exact search by numpy; the default",
    warm_up=("numpy", "saga_backends.scoring"),
)
