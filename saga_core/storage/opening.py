"""Opens the components of a configuration: stores, resident layers, embedder, token counter."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, suppress
from functools import partial
from pathlib import Path
from types import NoneType
from typing import Any, Literal, Protocol, get_args

from attrs import define, frozen

from saga_core import registry
from saga_core.capabilities import Capability
from saga_core.config import Config, StoreConfig
from saga_core.counters import Counters
from saga_core.errors import (
    BadInput,
    Conflict,
    NewerSchema,
    SagaError,
    StoreCorrupt,
    StoreError,
    StoreLocked,
    StoreTimeout,
    StoreUnavailable,
)
from saga_core.foreign import foreign
from saga_core.ports import Embedder, TokenCounter
from saga_core.registry import OpenOptions
from saga_core.storage.journal_guard import ReadOnlyOnCorruption, UnavailableStore, restoring, tell_damage
from saga_core.storage.late_calls import under_way
from saga_core.storage.open_models import check_embedder, guarded, open_counter, open_embedder
from saga_core.storage.self_healing import SelfHealingStore
from saga_core.stores import (
    Curator,
    Edge,
    GraphStore,
    Health,
    Hit,
    MdCache,
    Node,
    Pages,
    ScopeSpec,
    StateKV,
    Store,
    StoreInfo,
    VectorItem,
    VectorStore,
)
from saga_core.stores.validate import check_store, shown, too_small

log = logging.getLogger("saga.stores")


StoreKind = Literal["state", "graph", "vector", "cache"]
_OURS = ("saga_backends.", "saga_core.")


@frozen
class ProfileBackend:
    """A profile's backend for one store, and the place of its data below the data directory."""

    backend: str
    place: str | None


_STATE, _CACHE = ProfileBackend("sqlite", "state.db"), ProfileBackend("files", "pages")
_LADYBUG = ProfileBackend("ladybug", "graph.ladybug")

PROFILES: Mapping[str, Mapping[str, ProfileBackend]] = {
    "lite": {
        "state": _STATE,
        "graph": ProfileBackend("networkx", None),
        "vector": ProfileBackend("sqlite", "vectors.db"),
        "cache": _CACHE,
    },
    "full": {"state": _STATE, "graph": _LADYBUG, "vector": ProfileBackend("chroma", "vectors.chroma"), "cache": _CACHE},
    "full-lance": {
        "state": _STATE,
        "graph": _LADYBUG,
        "vector": ProfileBackend("lancedb", "vectors.lancedb"),
        "cache": _CACHE,
    },
    "scale": {
        "state": ProfileBackend("postgres", None),
        "graph": ProfileBackend("postgres", None),
        "vector": ProfileBackend("pgvector", None),
        "cache": ProfileBackend("postgres", None),
    },
    "memory": {kind: ProfileBackend("memory", None) for kind in ("state", "graph", "vector", "cache")},
}
FALLBACK = {"graph": ProfileBackend("networkx", None), "vector": ProfileBackend("sqlite", "vectors.db")}

_KNOWN = {(kind, choice.backend): choice.place for profile in PROFILES.values() for kind, choice in profile.items()}
_VIEWS = ("graph", "vector", "cache")
_ASKED_BY_OPTION = frozenset({"kuzu", "ladybug"})
"""Graph engines whose query language must be enabled by the option ``raw_query``."""


def place_of(kind: str, backend: str) -> str | None:
    """Return the place of a backend's data below the data directory, unique per engine. None: no path."""
    if (kind, backend) in _KNOWN:
        return _KNOWN[kind, backend]
    own = backend.replace(":", "-").replace("/", "-")
    return {"state": f"state.{own}", "cache": f"pages.{own}", "graph": f"graph.{own}", "vector": f"vectors.{own}"}[kind]


def backend_of(config: Config, kind: str) -> str:
    """Return the backend that ``config`` names for a store, directly or by its profile."""
    wanted: StoreConfig = getattr(config.storage, kind)
    return registry.current(kind, wanted.backend or PROFILES[config.storage.profile][kind].backend)


def path_of(config: Config, kind: str) -> Path | None:
    """Return the path of that backend's data, whether it exists or not; None for a backend without a path."""
    return _path(config, kind, getattr(config.storage, kind), place_of(kind, backend_of(config, kind)))


class Closable(Protocol):
    """An object that must be closed at the end."""

    async def aclose(self) -> None:
        """Release all resources."""
        ...


CHECK_SECONDS = 5.0
"""How long a store may take to say how it is."""


async def health_of(store: Store | Curator, *, thorough: bool = False) -> Health:
    """Return the health of a store or a curator, within ``CHECK_SECONDS``, or without an end if it is ``thorough``."""
    try:
        async with asyncio.timeout(None if thorough else CHECK_SECONDS):
            with foreign:
                found: Any = await store.check(thorough=thorough)
    except TimeoutError:
        return Health(False, f"no answer within {CHECK_SECONDS:g} s")
    except StoreError as error:
        return Health(False, str(error))
    except Exception as error:  # noqa: BLE001 - a plugin's own error, which says that it is not well
        return Health(False, registry.why(error))
    return found if isinstance(found, Health) else Health(False, f"check gave {shown(found)}; give a Health")


@define
class Closing:
    """Closes what was opened, the last first, and tells what it is at."""

    stack: AsyncExitStack
    at: str = ""

    def add(self, at: str, opened: Closable) -> None:
        """Close ``opened``, which the setting ``at`` names, before all that was added until now."""
        self.stack.push_async_callback(self._close, at, opened)

    async def _close(self, at: str, opened: Closable) -> None:
        self.at = at
        await registry.close_plugin(at, opened)


@define
class Stores:
    """All opened components. ``aclose`` closes them in reverse order."""

    state: StateKV
    graph: GraphStore
    vector: VectorStore
    cache: MdCache | None
    embedder: Embedder
    counter: TokenCounter
    _closing: Closing

    def all(self) -> dict[str, Store]:
        """Return the stores by kind."""
        found: dict[str, Store] = {"state": self.state, "graph": self.graph, "vector": self.vector}
        if self.cache is not None:
            found["cache"] = self.cache
        return found

    async def status(self) -> dict[str, Any]:
        """Return the engine, location, capabilities and health of each store. JSON-able."""
        found, stores = {}, self.all()
        checked = await asyncio.gather(*map(health_of, stores.values()))
        for (kind, store), health in zip(stores.items(), checked, strict=True):
            info = store.info
            found[kind] = {
                "backend": info.name,
                "version": info.version,
                "location": info.location,
                "capabilities": sorted(info.capabilities),
                "ok": health.ok,
                "detail": health.detail,
                "bytes": health.bytes,
            }
        return found

    def keep(self, at: str, opened: Closable) -> None:
        """Close ``opened``, which the setting ``at`` names, together with the stores, before them."""
        self._closing.add(at, opened)

    @property
    def closing(self) -> str:
        """The setting whose store or plugin is being closed, or was closed last; empty before ``aclose``."""
        return self._closing.at

    async def aclose(self) -> None:
        """Close everything."""
        await self._closing.stack.aclose()


class ForeignStore:
    """Forwards every operation to a store that is not one of SAGA's. Its errors, and answers of no meaning, become
    ``StoreError`` that name it.

    ``owned``: it is closed with the others. The caller of ``Saga.open`` closes what it opened.
    """

    def __init__(self, where: str, store: Any, counters: Counters, *, owned: bool) -> None:
        self._where, self._store, self._owned, self._counters = where, store, owned, counters
        self.info: StoreInfo = store.info

    async def aclose(self) -> None:
        """Close the store if it is owned."""
        if self._owned:
            await registry.close_plugin(self._where, self._store, warns=False)  # ``Closing`` does

    async def check(self, *, thorough: bool = False) -> Health:
        """Return the store's health. One that cannot say how it is is not well."""
        try:
            found: Health = await self._call("check", self._store.check, thorough=thorough)
        except StoreError as error:
            return Health(ok=False, detail=str(error))
        return found

    def __getattr__(self, name: str) -> Any:
        given = getattr(self._store, name)
        if not inspect.iscoroutinefunction(given):
            return given
        unnoted = name in _LONG or self.info.kind == "state"  # whose guard notes its calls
        call = partial(self._call if unnoted else self._noted, name, given)
        setattr(self, name, call)
        return call

    async def _noted(self, name: str, given: Callable[..., Awaitable[Any]], *args: Any, **named: Any) -> Any:
        with under_way(self._counters, self._where, self.info.name, name):
            return await self._call(name, given, *args, **named)

    async def _call(self, name: str, given: Callable[..., Awaitable[Any]], *args: Any, **named: Any) -> Any:
        try:
            with foreign:
                found = await given(*args, **named)
        except StoreError as error:
            if not isinstance(error, Conflict) and not str(error).startswith(self._where):
                error.args = (f"{self._where}: {self.info.name}: {error}",)
            raise
        except SagaError:
            raise
        except Exception as error:
            told = f"{self._where}: {self.info.name} failed in {name} ({registry.why(error)})"
            raise StoreError(told) from error
        if lacks := _misfit(self.info.kind, name, args[0] if args else None, found):
            raise StoreError(f"{self._where}: {self.info.name} answered {name} with {lacks}")
        return found


_LONG = ("check", "compact")
"""Operations that may take any time."""
_ANSWERS: Mapping[str, tuple[type, ...]] = {
    "check": (Health,),
    "describe": (ScopeSpec, NoneType),
    "read": (Pages, NoneType),
    "watermark": (str, NoneType),
    **dict.fromkeys(("get", "expand"), (dict,)),
    **dict.fromkeys(("count", "delete"), (int,)),
    **dict.fromkeys(("scan", "query", "neighbors", "scopes"), (list,)),
    **dict.fromkeys(("commit", "apply", "create", "upsert", "write", "drop", "compact"), (NoneType,)),
}
"""What operations return."""
_PARTS: Mapping[tuple[str, str], type] = {
    **dict.fromkeys((("graph", "get"), ("graph", "scan")), Node),
    ("graph", "neighbors"): Edge,
    ("graph", "expand"): int,
    ("graph", "query"): dict,
    **dict.fromkeys((("vector", "get"), ("vector", "scan")), VectorItem),
    ("vector", "query"): Hit,
    **{(kind, "scopes"): str for kind in _VIEWS},
}
"""What a list holds, and a mapping as its values."""


def _misfit(kind: str, operation: str, asked: object, answer: Any) -> str:
    """Return what is wrong with the answer of an operation, and what to give; empty if nothing is.

    ``asked`` is the first argument. Of a view store, only the first part of an answer is looked at: it is read often,
    and one that gives another type gives it each time.
    """
    wanted = _ANSWERS.get(operation)
    if wanted is not None and not isinstance(answer, wanted):
        if inspect.iscoroutine(answer):
            answer.close()
            return "a coroutine; await what does the work"
        told = " or ".join("None" if each is NoneType else _a(each) for each in wanted)
        return f"{type(answer).__name__}; give {told}"
    part = _PARTS.get((kind, operation))
    first = next(iter(answer.values() if isinstance(answer, dict) else answer), None) if part and answer else None
    if part is not None and answer and not isinstance(first, part):
        return f"{shown(first)}; give each as {_a(part)}"
    if kind != "state" or operation not in ("get", "scan"):
        return ""
    for entry in answer.items() if operation == "get" else answer:
        if type(entry) is not tuple or [type(each) for each in entry] != [tuple, bytes]:
            return f"{shown(entry)}; give keys that are tuples of str, and values that are bytes"
        if operation == "scan" and isinstance(asked, tuple) and entry[0][: len(asked)] != asked:
            return f"{shown(entry[0])}, which is not below {shown(asked)}; give only keys that begin with the prefix"
    return ""


def _a(wanted: type) -> str:
    return f"{'an' if wanted.__name__[0] in 'aeiAEI' else 'a'} {wanted.__name__}"


def external_stores(stores: Mapping[str, object], counters: Counters) -> dict[str, ForeignStore]:
    """Return the ``stores`` of ``Saga.open``, by kind. Raises ``BadInput`` for what is no store of its kind."""
    for kind, store in stores.items():
        if kind not in get_args(StoreKind):
            raise BadInput(f"stores: {kind!r} is no kind of store; give some of {', '.join(get_args(StoreKind))}")
        if inspect.isclass(store) or inspect.isroutine(store):
            raise BadInput(
                f"stores[{kind!r}]: {store!r} is no open store; give an instance, or name it in storage.{kind}.backend"
            )
        check_store(f"stores[{kind!r}]", kind, store)
    return {kind: ForeignStore(f"stores[{kind!r}]", store, counters, owned=False) for kind, store in stores.items()}


async def open_stores(
    config: Config,
    counters: Counters,
    *,
    stores: Mapping[str, object] | None = None,
    embedder: Embedder | None = None,
    mend: bool = True,
    alone: bool = True,
    tolerant: bool = False,
) -> Stores:
    """Open the stores of ``config``, but use those in ``stores`` (by kind) and ``embedder``, which the caller closes.

    Raises ``StoreError`` or ``BadInput``; then all opened stores are closed again.

    With ``mend``, a damaged view store is set aside and opened empty, now or when damage is found later. Without
    ``alone``, other processes have the files open, and none is set aside or removed. With ``tolerant``, a journal that
    cannot be opened is replaced by a stand-in, and views that cannot be kept on disk are kept in memory.
    """
    external = external_stores(stores or {}, counters)
    async with AsyncExitStack() as stack:
        closing = Closing(stack)

        async def opened(kind: StoreKind) -> Any:
            if kind in external:
                store = await _fitted(config, kind, external[kind])
            else:
                store = await _open_view(config, kind, counters, mend, alone, tolerant)
            closing.add(f"storage.{kind}", store)
            return store

        if "state" in external:
            state: StateKV = ReadOnlyOnCorruption(await _fitted(config, "state", external["state"]), None, counters)
        else:
            state = await _open_state(config, counters, tolerant)
        closing.add("storage.state", state)
        keeps = Capability.DURABLE in state.info.capabilities or isinstance(state, UnavailableStore)
        if not keeps and state.info.name != "memory":
            counters.degrade(
                "journal.forgets",
                f"the journal of {state.info.name} does not declare `durable`: every session is lost when this process "
                "ends; use an engine that keeps its data in storage.state",
            )
        graph = await opened("graph")
        vector = await opened("vector")
        cache = await opened("cache") if config.md_cache.enabled else None
        if embedder is None:
            embedder = await open_embedder(config)
            closing.add("recall.embedder", embedder)
        else:
            check_embedder("embedder", embedder)
            embedder = guarded("embedder", embedder)
        counter = await open_counter(config, counters)
        closing.stack = stack.pop_all()
        return Stores(state, graph, vector, cache, embedder, counter, closing)
    raise AssertionError("unreachable")  # the exit stack swallows nothing; for the type checker


async def open_journal_store(config: Config, counters: Counters) -> StateKV:
    """Open only the journal's store of ``config``. Raises ``StoreError`` and ``BadInput``."""
    store: StateKV = await _open_store(config, "state", counters)
    return store


async def _open_state(config: Config, counters: Counters, tolerant: bool) -> StateKV:
    path = path_of(config, "state")
    try:
        lost = _lost(config, path) if path is not None else ""
        opened = ReadOnlyOnCorruption(await _open_store(config, "state", counters), path, counters)
        if lost:
            counters.degrade("journal.new", lost)
        return opened
    except (StoreLocked, NewerSchema, StoreTimeout):
        raise  # the user can resolve this at once, and the data is intact
    except StoreError as error:
        damaged = isinstance(error, StoreCorrupt) or (path is not None and path.is_file())
        if not tolerant or not damaged:
            raise  # without a journal, the configuration is wrong
        await tell_damage(counters, backend_of(config, "state"), path, error)
        return UnavailableStore(backend_of(config, "state"), path, error)


def _lost(config: Config, path: Path) -> str:
    """Say what an engine does not: that it creates a journal where one should exist. Raises ``StoreCorrupt`` if one is
    there and empty."""
    views = [found for kind in _VIEWS if (found := path_of(config, kind)) is not None and holds_data(found)]
    if not views:
        return ""
    beside = ", ".join(sorted(view.name for view in views))
    log_file = path.with_name(path.name + "-wal")
    if path.is_file() and not path.stat().st_size and not (log_file.exists() and log_file.stat().st_size):
        raise StoreCorrupt(
            f"{path}: is empty, although views of its data exist ({beside}); "
            f"{restoring(backend_of(config, 'state'))}, or move it away to start over"
        )
    if path.exists():
        return ""
    return (
        f"{path} was missing and a new journal begins, although views of an earlier one exist ({beside}); if it "
        f"was lost, stop the server and {restoring(backend_of(config, 'state'))}"
    )


def holds_data(path: Path) -> bool:
    """Whether data was ever written there.

    Empty files and folders do not count, nor do hidden files in a folder, such as the lock of a failed start.
    """
    files = path.rglob("*") if path.is_dir() else (path,)
    return any(not each.name.startswith(".") and each.is_file() and each.stat().st_size for each in files)


async def _open_view(
    config: Config, kind: StoreKind, counters: Counters, mend: bool, alone: bool, tolerant: bool
) -> Any:
    async def anew() -> Any:
        return await _open_store(config, kind, counters)

    path = path_of(config, kind)
    try:
        if path is None or not alone:
            return await anew()
        named = getattr(config.storage, kind).path is not None or (
            kind == "cache" and config.md_cache.cache_dir is not None
        )
        store = SelfHealingStore(kind, path, anew, counters, ours=not named, mends=mend)
        await store.open()
    except StoreLocked:
        raise
    except StoreError as error:
        if not tolerant:
            raise
        name = backend_of(config, kind)
        counters.degrade(f"{kind}.{name}", f"{error}; until it can be opened, these views are kept in memory")
        return await registry.load(kind, "memory").open(OpenOptions())
    return store


async def _open_store(config: Config, kind: StoreKind, counters: Counters) -> Any:
    wanted: StoreConfig = getattr(config.storage, kind)
    name = backend_of(config, kind)
    if wanted.backend not in (None, name):
        log.warning("storage.%s.backend: %s is %s now; write %s", kind, wanted.backend, name, name)
    options = dict(wanted.options)
    if kind == "graph" and config.graph.raw_query and name in _ASKED_BY_OPTION:
        options = {"raw_query": True, **options}
    at = OpenOptions(path_of(config, kind), wanted.url or config.storage.url, options)
    where = f"storage.{kind}"
    if at.path is not None and config.data_dir in at.path.parents:
        with suppress(OSError):  # the engine says what is wrong with the place; ``parents=True`` would heed the umask
            config.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        store = await registry.open_plugin(
            kind, name, at, at=where, options_at=f"{where}.", if_damaged=_if_damaged(kind, name, at.path)
        )
    except StoreLocked as error:
        shared = [each for each in get_args(StoreKind) if each != kind and path_of(config, each) == at.path]
        if at.path is None or not shared:
            raise
        raise StoreLocked(
            f"{where}.path: {at.path} is the path of storage.{shared[0]}, too; give each store a path of its own"
        ) from error
    except StoreUnavailable as error:
        fallback = FALLBACK.get(kind)
        if fallback is None or fallback.backend == name or not _missing_engine(error):
            raise
        counters.degrade(
            f"{kind}.{name}",
            f"{error}; using {fallback.backend} instead: to leave it so, name {fallback.backend} in {where}.backend",
        )
        at = OpenOptions(_path(config, kind, StoreConfig(), fallback.place))
        store = await registry.open_plugin(kind, fallback.backend, at, at=where, options_at=f"{where}.")
    check_store(f"storage.{kind}.backend: {name}", kind, store)
    if not type(store).__module__.startswith(_OURS):
        store = ForeignStore(f"storage.{kind}", store, counters, owned=True)
    return await _fitted(config, kind, store)


def _if_damaged(kind: StoreKind, engine: str, path: Path | None) -> str:
    """Return what is to be done if an engine of another author fails over its data; empty if there are none."""
    if path is None or not holds_data(path):
        return ""
    remedy = restoring(engine) if kind == "state" else "move it away and `saga rebuild`"
    return f"if another engine wrote {path}, give another storage.{kind}.path; if it is damaged, {remedy}"


async def _fitted(config: Config, kind: StoreKind, store: Any) -> Any:
    """Return an open store behind a resident layer, if it needs one. Raises ``BadInput`` if its limits are too low."""
    wanted: StoreConfig = getattr(config.storage, kind)
    if lacking := too_small(kind, store.info.limits):
        await store.aclose()
        raise BadInput(
            f"storage.{kind}.backend: {store.info.name} takes too little ({'; '.join(lacking)}); use another "
            "backend, or raise its limits"
        )
    if kind in ("graph", "vector") and wanted.resident_mb and Capability.RESIDENT not in store.info.capabilities:
        layer = registry.load("resident", kind)
        store = await layer.open(OpenOptions(options={"inner": store, "limit_mb": wanted.resident_mb}))
    log.info("%s store: %s %s", kind, store.info.name, store.info.location or "in memory")
    return store


def _missing_engine(error: BaseException) -> bool:
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, ImportError):
            return True
        seen = seen.__cause__
    return False


def _path(config: Config, kind: str, wanted: StoreConfig, place: str | None) -> Path | None:
    if wanted.path is not None:
        return config.resolve(wanted.path)
    if kind == "cache" and place is not None and config.md_cache.cache_dir is not None:
        return config.resolve(config.md_cache.cache_dir)
    return config.data_dir / place if place is not None else None
