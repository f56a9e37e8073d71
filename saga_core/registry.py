"""Backends by name: found through the entry-point group ``saga.backends``, whether ours or from another package."""

from __future__ import annotations

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

_STORES = ("state", "graph", "vector", "cache")
KINDS = (*_STORES, "curator", "resident", "embedder", "chat", "tokens", "context", "strategy")


@frozen
class OpenOptions:
    """The options with which a backend is opened."""

    path: Path | None = None
    """Where it may keep its files: its own to create. None for what lives in memory or behind a URL."""
    url: str | None = field(default=None, repr=False)
    options: Mapping[str, Any] = field(factory=dict)
    """The config's ``options``, checked by the backend: an unknown one raises ``BadInput`` with its name."""

    def take(self, **defaults: Any) -> dict[str, Any]:
        """The options over ``defaults``; refuses names that are not among them and values of another type."""
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
    """An engine that can be opened. An entry point named ``<kind>.<name>`` leads to it."""

    kind: str
    name: str
    open: Callable[[OpenOptions], Awaitable[Any]]
    """Gives the store (or embedder, chat model, counter, source of context), ready to use."""
    summary: str = ""
    extra: str | None = None
    """The optional dependency set that brings the engine, for the message when it is missing."""
    warm_up: tuple[str, ...] = ()
    """Modules that its first use needs and its opening does not. They must be installed, and are imported in a thread
    right after a start, or by the first use."""
    late: tuple[str, ...] = ()
    """The former name of ``warm_up``."""


_warm_up: dict[str, None] = {}


def remedy(extra: str) -> str:
    """What to do when an engine of SAGA's own is not installed: how its optional dependency set comes."""
    return f"pip install 'saga-rp[{extra}]' (in a checkout: make setup EXTRAS={extra})"


def names(kind: str) -> list[str]:
    """The registered backends of ``kind``, in order."""
    prefix = kind + "."
    return sorted({point.name[len(prefix) :] for point in _points() if point.name.startswith(prefix)})


def load(kind: str, name: str) -> Backend:
    """The backend ``name`` of ``kind``.

    Raises ``BadInput`` for an unknown name (the message lists the known ones) and ``StoreUnavailable`` when
    its module cannot be imported or one of ``warm_up`` is not installed (the message says what to install).
    """
    found = [point for point in _points() if point.name == f"{kind}.{name}"]
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
    """The modules that the backends which were loaded until now import at their first use."""
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
        raise StoreUnavailable(f"backend {point.name!r} ({point.value}) cannot be imported: {error}") from error
    if not isinstance(backend, Backend):
        raise BadInput(f"entry point {point.name!r} ({point.value}) is no saga_core.registry.Backend")
    return backend


def _points() -> tuple[EntryPoint, ...]:
    return _scan(entry_points, tuple(sys.path))


@lru_cache(maxsize=8)
def _scan(search: Callable[..., Iterable[EntryPoint]], _path: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    """The entry points on the path. Searching takes 25 ms of CPU, and opening an engine asks nine times."""
    return tuple(search(group=GROUP))
