"""Registers the four stores as backends. The driver is imported when the first store is opened."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import Any

from saga_core.errors import StoreUnavailable
from saga_core.registry import Backend, OpenOptions, remedy

_EXTRA = "postgres"


async def _open(module: str, options: OpenOptions) -> Any:
    try:
        found = import_module(f"saga_backends.postgres.{module}")
    except ImportError as error:
        raise StoreUnavailable(f"the driver of PostgreSQL cannot be imported: {error}; {remedy(_EXTRA)}") from error
    return await found.open_(options)


STATE = Backend(
    "state", "postgres", partial(_open, "state"), "a table in PostgreSQL, for several servers", extra=_EXTRA
)
GRAPH = Backend(
    "graph", "postgres", partial(_open, "graph"), "nodes and edges in PostgreSQL, for several servers", extra=_EXTRA
)
VECTOR = Backend("vector", "pgvector", partial(_open, "vectors"), "vectors in PostgreSQL with pgvector", extra=_EXTRA)
CACHE = Backend("cache", "postgres", partial(_open, "pages"), "pages in PostgreSQL, for several servers", extra=_EXTRA)
