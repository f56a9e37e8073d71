"""Vectors in a SQLite file, exact search by numpy.

The file is written in WAL mode with ``synchronous=normal``: what was acknowledged survives the end of the process,
a kill included; the last writes may be lost with the power, and are then made anew from the journal.

A query reads the scopes that it asks, some hundred rows in memory at a time (5 ms CPU for 1,500 vectors of 256
components). Kept in memory they are the resident layer's.
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
    warm_up=("numpy", "saga_backends.vector.scoring"),
)
