"""A harness for each store engine that the project ships."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from conformance import Capability, Harness, RawRead
from saga_core.registry import OpenOptions, load
from saga_core.stores import Limits

DURABLE, RESIDENT, SHARED = Capability.DURABLE, Capability.RESIDENT, Capability.SHARED
EXPAND, RAW = Capability.NATIVE_EXPAND, Capability.RAW_QUERY

_DEFAULT = Limits()
_KUZU = Limits(value_bytes=1_024 * 1_024)
_CHROMA = Limits(value_bytes=1_024 * 1_024, batch=5_461)

_CYPHER = RawRead(
    rows="MATCH (n) RETURN n.id",
    writes=(
        "CREATE (n:Entity {id: 'x'})",
        "MATCH (n) DETACH DELETE n",
        "MATCH (n) SET n.label = 'x'",
        "MATCH (n) RETURN n; MATCH (n) DETACH DELETE n",
        "COPY (MATCH (n) RETURN n) TO '/tmp/saga-conformance.csv'",
        "DROP TABLE Entity",
        "CALL timeout=0",
    ),
)


async def opened(kind: str, name: str, options: tuple[tuple[str, Any], ...], path: Path) -> Any:
    """The registered backend, on a path of its own in ``path``."""
    return await load(kind, name).open(OpenOptions(path=path / name, options=dict(options)))


async def resident(kind: str, name: str, path: Path) -> Any:
    """The resident layer over it."""
    inner = await opened(kind, name, (), path)
    return await load("resident", kind).open(OpenOptions(options={"inner": inner}))


_NO_ROOM = {
    "kuzu": {"L-23": "without room Kuzu lacks what was acknowledged until it is opened again; Ladybug does not"},
    "chroma": {"L-23": "while no file can grow Chroma does not read either"},
}


def _plain(kind: str, name: str, *provides: Capability, limits: Limits = _DEFAULT) -> Harness:
    opener, deviations = partial(opened, kind, name, ()), _NO_ROOM.get(name, {})
    return Harness(f"{kind}-{name}", kind, opener, provides, limits, deviations)


def _resident(kind: str, name: str, *provides: Capability, limits: Limits = _DEFAULT) -> Harness:
    opener, deviations = partial(resident, kind, name), _NO_ROOM.get(name, {})
    return Harness(f"{kind}-resident-{name}", kind, opener, frozenset({RESIDENT, *provides}), limits, deviations)


def _cypher(name: str) -> Harness:
    """With the door for queries open."""
    opener = partial(opened, "graph", name, (("raw_query", True),))
    return Harness(
        f"graph-{name}-raw", "graph", opener, frozenset({DURABLE, RAW}), _KUZU, _NO_ROOM.get(name, {}), raw=_CYPHER
    )


async def in_postgres(kind: str, name: str, path: Path) -> Any:
    """The registered backend, in a schema of its own for ``path``."""
    # Not with this module, which every process of a run imports: what tests need takes longer than all the rest.
    from tests.postgres.shared_server import address, schema_of

    options = {"schema": schema_of(path), "pool": 4}
    return await load(kind, name).open(OpenOptions(url=address(), options=options))


async def resident_in_postgres(kind: str, name: str, path: Path) -> Any:
    """The resident layer over it."""
    inner = await in_postgres(kind, name, path)
    return await load("resident", kind).open(OpenOptions(options={"inner": inner}))


_JOURNAL = partial(in_postgres, "state", "postgres")


def _postgres(kind: str, name: str, *provides: Capability) -> Harness:
    opener = partial(in_postgres, kind, name)
    return Harness(f"{kind}-{name}", kind, opener, frozenset({DURABLE, SHARED, *provides}), journal=_JOURNAL)


def _resident_postgres(kind: str, name: str, *provides: Capability) -> Harness:
    opener = partial(resident_in_postgres, kind, name)
    provided = frozenset({DURABLE, SHARED, RESIDENT, *provides})
    return Harness(f"{kind}-resident-{name}", kind, opener, provided, journal=_JOURNAL)


IN_THIS_PROCESS = {
    harness.name: harness
    for harness in (
        *(_plain(kind, "memory", RESIDENT) for kind in ("state", "graph", "vector", "cache", "curator")),
        _plain("curator", "rules", RESIDENT),
        _plain("state", "sqlite", DURABLE, Capability.COMPACTS),
        _plain("cache", "files", DURABLE, Capability.COMPACTS),
        _plain("graph", "networkx", RESIDENT, EXPAND),
        _plain("vector", "sqlite", DURABLE),
        _resident("graph", "networkx", EXPAND),
        _resident("vector", "sqlite", DURABLE),
    )
}

IN_THEIR_OWN = {
    harness.name: harness
    for harness in (
        _plain("graph", "kuzu", DURABLE, limits=_KUZU),
        _plain("graph", "ladybug", DURABLE, limits=_KUZU),
        _cypher("kuzu"),
        _cypher("ladybug"),
        _resident("graph", "kuzu", DURABLE, limits=_KUZU),
        _resident("graph", "ladybug", DURABLE, limits=_KUZU),
        _plain("vector", "chroma", DURABLE, limits=_CHROMA),
        _plain("vector", "lancedb", DURABLE),
        _resident("vector", "chroma", DURABLE, limits=_CHROMA),
        _resident("vector", "lancedb", DURABLE),
    )
}
"""Engines that bear no other in their process, or that are slow to import."""

IN_POSTGRES = {
    harness.name: harness
    for harness in (
        _postgres("state", "postgres"),
        _postgres("graph", "postgres", EXPAND),
        _postgres("vector", "pgvector"),
        _postgres("cache", "postgres"),
        _resident_postgres("graph", "postgres", EXPAND),
        _resident_postgres("vector", "pgvector"),
    )
}
"""Those that need a server."""

HARNESSES = {**IN_THIS_PROCESS, **IN_THEIR_OWN, **IN_POSTGRES}


def __getattr__(name: str) -> Harness:
    """``GRAPH_KUZU`` for ``graph-kuzu``, so that the command line can name it."""
    try:
        return HARNESSES[name.lower().replace("_", "-")]
    except KeyError:
        raise AttributeError(name) from None
