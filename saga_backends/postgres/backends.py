"""Registers the four stores as backends. The driver is imported when the first store is opened."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from saga_core.errors import StoreUnavailable
from saga_core.registry import Backend, OpenOptions, remedy

if TYPE_CHECKING:
    from saga_core.stores import GraphStore, MdCache, StateKV, VectorStore

_EXTRA = "postgres"


@contextmanager
def _driver() -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        raise StoreUnavailable(f"the driver of PostgreSQL cannot be imported: {error}; {remedy(_EXTRA)}") from error


async def _state(options: OpenOptions) -> StateKV:
    with _driver():
        from saga_backends.postgres.state import open_state
    return await open_state(options)


async def _graph(options: OpenOptions) -> GraphStore:
    with _driver():
        from saga_backends.postgres.graph import open_graph
    return await open_graph(options)


async def _vector(options: OpenOptions) -> VectorStore:
    with _driver():
        from saga_backends.postgres.vectors import open_vectors
    return await open_vectors(options)


async def _cache(options: OpenOptions) -> MdCache:
    with _driver():
        from saga_backends.postgres.pages import open_pages
    return await open_pages(options)


STATE = Backend("state", "postgres", _state, "a table in PostgreSQL, for several servers", extra=_EXTRA)
GRAPH = Backend("graph", "postgres", _graph, "nodes and edges in PostgreSQL, for several servers", extra=_EXTRA)
VECTOR = Backend("vector", "pgvector", _vector, "vectors in PostgreSQL with pgvector", extra=_EXTRA)
CACHE = Backend("cache", "postgres", _cache, "pages in PostgreSQL, for several servers", extra=_EXTRA)
