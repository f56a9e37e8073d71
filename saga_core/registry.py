"""Backends by name. All of them are found through the entry-point group ``saga.backends``."""

from __future__ import annotations

import re
import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from attrs import field, frozen

from saga_core.errors import BadInput, StoreUnavailable

GROUP = "saga.backends"
_DISTRIBUTION = "saga-rp"

_STORES = ("state", "graph", "vector", "cache")
KINDS = (*_STORES, "curator", "resident", "embedder", "chat", "tokens", "context", "strategy", "hosting")


@frozen
class OpenOptions:
    """The options with which a backend is opened."""

    path: Path | None = None
    """The directory for the backend's files, which it creates itself. None for backends in memory or behind a URL."""
    url: str | None = field(default=None, repr=False)
    options: Mapping[str, Any] = field(factory=dict)
    """The ``options`` of the config. The backend checks them: an unknown name raises ``BadInput``."""

    def take(self, **defaults: Any) -> dict[str, Any]:
        """Return ``defaults`` updated with the options. Raises ``BadInput`` for unknown names and wrong types."""
        for name, value in self.options.items():
            if name not in defaults:
                allowed = ", ".join(sorted(defaults)) or "none"
                raise BadInput(f"options.{name}: unknown option; this backend takes: {allowed}")
            wanted = defaults[name]
            if wanted is not None and type(value) is not type(wanted):
                if isinstance(wanted, float) and type(value) is int:
                    continue
                raise BadInput(f"options.{name}: {value!r} is a {type(value).__name__}; give a {type(wanted).__name__}")
        return {**defaults, **self.options}


@frozen
class Backend:
    """An engine that can be opened. Its entry point is named ``<kind>.<name>``."""

    kind: str
    name: str
    open: Callable[[OpenOptions], Awaitable[Any]]
    """Open the store (or embedder, chat model, counter, context source) and return it ready to use."""
    summary: str = ""
    extra: str | None = None
    """The optional dependency set that installs the engine, for the message when it is missing."""
    warm_up: tuple[str, ...] = ()
    """Modules that the first use needs but opening does not.

    They must be installed. They are imported in a thread right after the start, or by the first use.
    """
    late: tuple[str, ...] = ()
    """The former name of ``warm_up``."""


_CURRENT = {("graph", "adjacency"): "networkx"}
"""The names of backends that took the place of others."""

_warm_up: dict[str, None] = {}


def remedy(extra: str) -> str:
    """Return how to install an engine of SAGA's own: the command for its optional dependency set."""
    return f"pip install 'saga-rp[{extra}]' (in a checkout: make setup EXTRAS={extra})"


def names(kind: str) -> list[str]:
    """Return the names of the registered backends of ``kind``, sorted."""
    prefix = kind + "."
    return sorted({point.name[len(prefix) :] for point in _points() if point.name.startswith(prefix)})


def current(kind: str, name: str) -> str:
    """Return the name under which a backend is registered now: ``networkx`` for the graph ``adjacency``."""
    return _CURRENT.get((kind, name), name)


def load(kind: str, name: str) -> Backend:
    """Return the backend ``name`` of ``kind``.

    Raises ``BadInput`` for an unknown name (the message lists the known ones), and ``StoreUnavailable`` if its module
    cannot be imported or one of ``warm_up`` is not installed (the message says what to install).
    """
    found = [point for point in _points() if point.name == f"{kind}.{current(kind, name)}"]
    if not found:
        known = ", ".join(names(kind)) or "none are installed"
        raise BadInput(f"storage: no {kind} backend {name!r}; known: {known}")
    backend = _load(found[0])
    modules = (*backend.warm_up, *backend.late)
    for module in modules:
        _require(module.partition(".")[0], found[0], backend.extra)
    _warm_up.update(dict.fromkeys(modules))
    return backend


def warm_up() -> tuple[str, ...]:
    """Return the modules that the backends loaded so far import at their first use."""
    return tuple(_warm_up)


def _require(package: str, point: EntryPoint, extra: str | None) -> None:
    if find_spec(package) is None:
        missing = ModuleNotFoundError(f"No module named {package!r}", name=package)
        install = remedy(extra) if extra else f"pip install {package}"
        raise StoreUnavailable(f"backend {point.name!r} cannot be used: {missing}; install it: {install}") from missing


def _load(point: EntryPoint) -> Backend:
    try:
        backend = point.load()
    except ImportError as error:
        extra = _extra_with((error.name or "").partition(".")[0], point)
        install = f"; install it: {remedy(extra)}" if extra else ""
        raise StoreUnavailable(
            f"backend {point.name!r} ({point.value}) cannot be imported: {error}{install}"
        ) from error
    if not isinstance(backend, Backend):
        raise BadInput(f"entry point {point.name!r} ({point.value}) is no saga_core.registry.Backend")
    return backend


def _extra_with(package: str, point: EntryPoint) -> str | None:
    """Return the extra of SAGA that brings ``package``, if the entry point is SAGA's own."""
    if point.dist is None or point.dist.name != _DISTRIBUTION:
        return None
    for line in point.dist.requires or ():
        found = re.match(r"([\w.-]+).*;\s*extra\s*==\s*['\"]([^'\"]+)", line)
        if found is not None and found[1].replace("-", "_") == package and found[2] not in ("all", "dev"):
            return found[2]
    return None


def _points() -> tuple[EntryPoint, ...]:
    return _scan(entry_points, tuple(sys.path))


@lru_cache(maxsize=8)
def _scan(search: Callable[..., Iterable[EntryPoint]], _path: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    """Return the entry points on the path. Cached: a search takes 25 ms of CPU, and an engine needs nine."""
    return tuple(search(group=GROUP))
