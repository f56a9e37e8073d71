"""Vectors in Chroma, an embedded vector database.

What was acknowledged survives the end of the process, a kill included; the last writes may be lost with the power.
Search is exact, as everywhere in SAGA: Chroma's own is approximate and is not used, so that a query reads the scopes
that it asks and takes as long as they are large. A resident layer before it answers from memory.
"""

from __future__ import annotations

from saga_backends.vector.chroma_collections import ChromaCollections
from saga_backends.vector.threaded import open_threaded
from saga_core.registry import Backend, OpenOptions
from saga_core.stores import VectorStore


async def _open(options: OpenOptions) -> VectorStore:
    return await open_threaded("chroma", options, ChromaCollections)


BACKEND = Backend(
    kind="vector",
    name="chroma",
    open=_open,
    summary="Chroma collections in a directory, exact search",
    extra="chroma",
)
