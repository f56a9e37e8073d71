"""A harness for each store engine that the project ships."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from conformance import Capability, Harness
from saga_core.registry import OpenOptions, load

DURABLE, RESIDENT, EXPAND = Capability.DURABLE, Capability.RESIDENT, Capability.NATIVE_EXPAND


async def opened(kind: str, name: str, path: Path) -> Any:
    """The registered backend, on a path of its own in ``path``."""
    return await load(kind, name).open(OpenOptions(path=path / name))


async def resident(kind: str, name: str, path: Path) -> Any:
    """The resident layer over it."""
    inner = await opened(kind, name, path)
    return await load("resident", kind).open(OpenOptions(options={"inner": inner}))


def _plain(kind: str, name: str, *provides: Capability) -> Harness:
    return Harness(f"{kind}-{name}", kind, partial(opened, kind, name), frozenset(provides))


def _resident(kind: str, name: str, *provides: Capability) -> Harness:
    return Harness(f"{kind}-resident-{name}", kind, partial(resident, kind, name), frozenset({RESIDENT, *provides}))


HARNESSES = {
    harness.name: harness
    for harness in (
        *(_plain(kind, "memory", RESIDENT) for kind in ("state", "graph", "vector", "cache", "curator")),
        _plain("state", "sqlite", DURABLE),
        _plain("cache", "files", DURABLE),
        _plain("graph", "networkx", RESIDENT, EXPAND),
        _plain("vector", "sqlite", DURABLE),
        _resident("graph", "networkx", EXPAND),
        _resident("vector", "sqlite", DURABLE),
    )
}
