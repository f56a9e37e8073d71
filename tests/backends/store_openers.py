"""The graph and vector stores that the contract tests are put to, and how each is opened again on the same data."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from saga_backends.graph import kuzu, networkx
from saga_backends.memory import GRAPH, VECTOR
from saga_backends.resident.graph import ResidentGraph
from saga_backends.resident.vectors import ResidentVectors
from saga_backends.vector import chroma, lancedb, sqlite
from saga_core.registry import Backend, OpenOptions

ROOMY = 64 * 1_024 * 1_024

ENGINE = os.environ.get("SAGA_TEST_GRAPH", "ladybug")
"""``kuzu`` or ``ladybug``: one process cannot load both, and a worker opens the other tests' profiles with the latter.
``test_graph_kuzu_ladybug`` runs these tests for the other."""

ON_DISK = {"kuzu": kuzu.KUZU, "ladybug": kuzu.LADYBUG}[ENGINE]


@frozen
class Opener:
    """``open`` gives a new store; ``reopen`` ends one and gives another on what it left behind, if it leaves any."""

    name: str
    open: Callable[[Path], Awaitable[Any]]
    reopen: Callable[[Any, Path], Awaitable[Any]] | None = None
    resident: bool = True
    """Whether it answers from memory."""
    lives: int = 15
    """At least so many random lives; a search that is longer has more of them in proportion."""

    def __str__(self) -> str:
        return self.name


TWINS = {
    f"resident-{ROOMY}",
    "resident-sqlite-9000",
    f"resident-{ENGINE}",
    "resident-chroma",
    "resident-lancedb",
}
"""Pairs whose parts are each tested in another pair: left to the long searches."""


def each(openers: Iterable[Opener]) -> list[Any]:
    """Parameters of a test."""
    return [pytest.param(opener, marks=pytest.mark.deep if opener.name in TWINS else ()) for opener in openers]


async def _memory_graph(path: Path) -> Any:
    return await GRAPH.open(OpenOptions())


async def _networkx(path: Path) -> Any:
    return await networkx.BACKEND.open(OpenOptions())


def _resident_graph(limit: int, scope: int | None = None) -> Opener:
    async def opened(path: Path) -> Any:
        return ResidentGraph(await _memory_graph(path), limit_bytes=limit, scope_bytes=scope)

    async def again(store: Any, path: Path) -> Any:
        await store.cache.close()
        return ResidentGraph(store.inner, limit_bytes=limit, scope_bytes=scope)

    return Opener(f"resident-{limit}", opened, again)


def _resident_networkx() -> Opener:
    async def opened(path: Path) -> Any:
        return ResidentGraph(await _networkx(path), limit_bytes=ROOMY)

    return Opener("resident-networkx", opened)


def _on_disk(name: str, wrap: Callable[[Any], Any], *, resident: bool) -> Opener:
    async def opened(path: Path) -> Any:
        options = {"buffer_pool_mb": 32, "max_db_mb": 1_024}
        return wrap(await ON_DISK.open(OpenOptions(path=path / "graph", options=options)))

    async def again(store: Any, path: Path) -> Any:
        await store.aclose()
        return await opened(path)

    return Opener(name, opened, again, resident, lives=5)


GRAPHS = (
    Opener("memory", _memory_graph),
    Opener("networkx", _networkx),
    _resident_graph(ROOMY),
    # One scope of a few nodes fits; two evict each other, and a larger one is bypassed.
    _resident_graph(9_000, 6_000),
    _resident_networkx(),
    _on_disk(ENGINE, lambda store: store, resident=False),
)

LIVING_GRAPHS = (
    *GRAPHS,
    _on_disk(f"resident-{ENGINE}", lambda store: ResidentGraph(store, limit_bytes=ROOMY), resident=True),
)
"""For the random lives: those of ``GRAPHS``, and one whose every sentence the others have said already."""


async def _memory_vector(path: Path) -> Any:
    return await VECTOR.open(OpenOptions())


def _resident_vectors(limit: int, scope: int | None = None) -> Opener:
    async def opened(path: Path) -> Any:
        return ResidentVectors(await _memory_vector(path), limit_bytes=limit, scope_bytes=scope)

    async def again(store: Any, path: Path) -> Any:
        await store.cache.close()
        return ResidentVectors(store.inner, limit_bytes=limit, scope_bytes=scope)

    return Opener(f"resident-{limit}", opened, again)


async def _sqlite(path: Path) -> Any:
    return await sqlite.BACKEND.open(OpenOptions(path=path / "vectors.db"))


def _on_sqlite(name: str, wrap: Callable[[Any], Any]) -> Opener:
    async def opened(path: Path) -> Any:
        return wrap(await _sqlite(path))

    async def again(store: Any, path: Path) -> Any:
        await store.aclose()
        return await opened(path)

    return Opener(name, opened, again)


def _in_folder(backend: Backend, *, resident: bool = False, lives: int = 12) -> Opener:
    async def opened(path: Path) -> Any:
        store = await backend.open(OpenOptions(path=path / backend.name))
        return ResidentVectors(store, limit_bytes=ROOMY) if resident else store

    async def again(store: Any, path: Path) -> Any:
        await store.aclose()
        return await opened(path)

    return Opener(f"resident-{backend.name}" if resident else backend.name, opened, again, lives=lives)


VECTORS = (
    Opener("memory", _memory_vector),
    _on_sqlite("sqlite", lambda store: store),
    _resident_vectors(ROOMY),
    _resident_vectors(9_000, 5_500),
    _on_sqlite("resident-sqlite", lambda store: ResidentVectors(store, limit_bytes=ROOMY)),
    _on_sqlite("resident-sqlite-9000", lambda store: ResidentVectors(store, limit_bytes=9_000, scope_bytes=5_500)),
    _in_folder(lancedb.BACKEND),
    _in_folder(lancedb.BACKEND, resident=True),
    _in_folder(chroma.BACKEND, lives=6),
    _in_folder(chroma.BACKEND, resident=True, lives=6),
)
