"""Vectors in LanceDB, an embedded database of columnar files.

Acknowledged data survives the end of the process, including a kill. The engine does not wait for the disk, so a power
cut may lose the last writes. A query reads its scopes completely and scores them exactly. The engine's own search works
in 32 bits, does not order ties by id, and takes as long.
"""

from __future__ import annotations

from saga_backends.vector.lancedb_tables import LanceTables
from saga_backends.vector.threaded import open_threaded
from saga_core.registry import Backend, OpenOptions
from saga_core.stores import VectorStore


async def _open(options: OpenOptions) -> VectorStore:
    return await open_threaded("lancedb", options, LanceTables)


BACKEND = Backend(
    kind="vector",
    name="lancedb",
    open=_open,
    summary="LanceDB tables in a directory, exact search",
    extra="lancedb",
)
