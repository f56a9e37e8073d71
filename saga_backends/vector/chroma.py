"""Vectors in Chroma, an embedded vector database.

Acknowledged data survives the end of the process, including a kill. A power cut may lose the last writes. Search is
exact, as everywhere in SAGA. Chroma's own search is approximate and not used, so a query reads its scopes completely
and takes time in proportion to their size. A resident layer in front answers from memory.
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
