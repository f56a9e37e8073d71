"""A vector store over a blocking engine. It checks the arguments and calls the engine on a worker thread."""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol, cast

from attrs import frozen

from saga_backends.worker import Worker
from saga_core.capabilities import Capability
from saga_core.errors import BadInput, Closed, NotSupported
from saga_core.registry import OpenOptions
from saga_core.stores import Filter, Health, Hit, Scalar, ScopeSpec, StoreInfo, Vector, VectorItem, VectorStore
from saga_core.stores.filters import Predicate, predicate
from saga_core.stores.validate import (
    as_float32,
    check_delete,
    check_dimension,
    check_item_scan,
    check_items,
    check_names,
    check_query,
    check_scope,
    check_spec,
    check_where,
)

# --- Items with 32-bit components and metadata as canonical JSON --------------------------------------------------


@frozen
class PackedItem:
    """A checked item. JSON distinguishes 1, 1.0, true and null, which engines do not."""

    id: str
    vector: array[float]
    text: str
    metadata: str

    @classmethod
    def of(cls, item: VectorItem, vector: array[float]) -> PackedItem:
        """Pack ``item`` with its 32-bit vector."""
        metadata = json.dumps(dict(item.metadata), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        return cls(item.id, vector, item.text, metadata)


def read_metadata(
    ids: Sequence[str], texts: Sequence[str], damaged: Callable[[str], Exception]
) -> list[Mapping[str, Scalar]]:
    """Parse the metadata of the items ``ids``. For an invalid one, raises ``damaged(message)``.

    All texts are parsed together, so that the items share the strings of their field names.
    """
    try:
        found = json.loads(f"[{','.join(texts)}]")
    except ValueError:
        found = []
    if len(found) == len(texts) and all(type(fields) is dict for fields in found):
        return found  # type: ignore[no-any-return]
    return [_fields(item_id, text, damaged) for item_id, text in zip(ids, texts, strict=True)]


def _fields(item_id: str, text: str, damaged: Callable[[str], Exception]) -> Mapping[str, Scalar]:
    try:
        fields = json.loads(text)
    except ValueError as error:
        raise damaged(f"item {item_id!r} is damaged: its metadata is no JSON: {error}") from error
    if type(fields) is not dict:
        raise damaged(f"item {item_id!r} is damaged: its metadata is no JSON object")
    return fields


def latest(items: Sequence[PackedItem], scope: str, spec: ScopeSpec) -> list[PackedItem]:
    """Return the items to upsert, the last one for each id. Raises ``ScopeMismatch`` for a wrong dimension."""
    for index, item in enumerate(items):
        check_dimension(f"items[{index}].vector", item.vector, scope, spec)
    return list({item.id: item for item in items}.values())


class VectorEngine(Protocol):
    """The interface of an engine, with blocking versions of the operations of ``VectorStore``.

    All calls come from one thread and have checked arguments. An engine only raises the errors of the contract.
    ``info`` is called once, after ``open``.
    """

    path: Path

    def info(self) -> StoreInfo: ...

    def open(self) -> None: ...

    def close(self) -> None: ...

    def check(self, thorough: bool) -> Health: ...

    def create(self, name: str, spec: ScopeSpec) -> None: ...

    def describe(self, name: str) -> ScopeSpec | None: ...

    def upsert(self, name: str, items: Sequence[PackedItem]) -> None: ...

    def get(self, name: str, ids: Sequence[str]) -> dict[str, VectorItem]: ...

    def scan(self, name: str, after: str | None, limit: int) -> list[VectorItem]: ...

    def query(self, names: Sequence[str], asked: array[float], k: int, wanted: Predicate | None) -> list[Hit]: ...

    def delete(self, name: str, ids: Sequence[str] | None, wanted: Predicate | None) -> int: ...

    def count(self, name: str, wanted: Predicate | None) -> int: ...

    def scopes(self) -> list[str]: ...

    def drop(self, name: str) -> None: ...


class CompactingEngine(Protocol):
    """An engine that declares ``COMPACTS``."""

    def compact(self) -> None: ...


class ThreadedVectors:
    """The vector store, created by ``open_threaded``. Each call is one hop to the thread, and calls run in order.

    A write completes even if the task that awaits it is cancelled.
    """

    def __init__(self, engine: VectorEngine, worker: Worker) -> None:
        self._engine = engine
        self._worker = worker
        self._closed = False
        self._info = engine.info()
        self._limits = self._info.limits

    @property
    def info(self) -> StoreInfo:
        """The version of the engine, the limits and the location."""
        return self._info

    async def check(self, *, thorough: bool = False) -> Health:
        """Check that the engine answers, and measure the size on disk. If ``thorough``, read every item."""
        self._alive()
        return await self._worker.run(self._engine.check, thorough)

    async def aclose(self) -> None:
        """Finish the submitted calls, close the engine and release its lock."""
        self._closed = True
        await self._worker.shut(self._engine.close)

    async def compact(self) -> None:
        """See ``Compacting``. Raises ``NotSupported`` if the engine does not declare it."""
        self._alive()
        if Capability.COMPACTS not in self._info.capabilities:
            raise NotSupported(f"{self._info.name}: it cannot compact; see Capability.COMPACTS")
        await self._worker.run(cast(CompactingEngine, self._engine).compact)

    async def create(self, scope: str, spec: ScopeSpec) -> None:
        """See ``VectorStore.create``."""
        self._check_scope(scope)
        check_spec(spec, self._limits)
        await self._worker.run(self._engine.create, scope, spec)

    async def describe(self, scope: str) -> ScopeSpec | None:
        """See ``VectorStore.describe``."""
        self._check_scope(scope)
        return await self._worker.run(self._engine.describe, scope)

    async def upsert(self, scope: str, items: Sequence[VectorItem]) -> None:
        """See ``VectorStore.upsert``."""
        self._check_scope(scope)
        check_items(items, self._limits)
        packed = [
            PackedItem.of(item, as_float32(f"items[{index}].vector", item.vector)) for index, item in enumerate(items)
        ]
        await self._worker.run(self._engine.upsert, scope, packed)

    async def get(self, scope: str, ids: Sequence[str]) -> dict[str, VectorItem]:
        """See ``VectorStore.get``."""
        self._check_scope(scope)
        check_names("ids", ids, self._limits)
        return await self._worker.run(self._engine.get, scope, list(dict.fromkeys(ids)))

    async def scan(self, scope: str, *, after: str | None = None, limit: int = 1_000) -> list[VectorItem]:
        """See ``VectorStore.scan``."""
        self._check_scope(scope)
        check_item_scan(after, limit, self._limits)
        return await self._worker.run(self._engine.scan, scope, after, limit)

    async def query(self, scopes: Sequence[str], vector: Vector, k: int, *, where: Filter | None = None) -> list[Hit]:
        """See ``VectorStore.query``."""
        self._alive()
        check_query(scopes, k, where, self._limits)
        asked = as_float32("vector", vector)
        wanted = predicate(where) if where is not None else None
        return await self._worker.run(self._engine.query, list(dict.fromkeys(scopes)), asked, k, wanted)

    async def delete(self, scope: str, *, ids: Sequence[str] | None = None, where: Filter | None = None) -> int:
        """See ``VectorStore.delete``."""
        self._check_scope(scope)
        check_delete(ids, where, self._limits)
        own = list(dict.fromkeys(ids)) if ids is not None else None
        wanted = predicate(where) if where is not None else None
        return await self._worker.run(self._engine.delete, scope, own, wanted)

    async def count(self, scope: str, *, where: Filter | None = None) -> int:
        """See ``VectorStore.count``."""
        self._check_scope(scope)
        check_where(where, self._limits)
        return await self._worker.run(self._engine.count, scope, predicate(where) if where is not None else None)

    async def scopes(self) -> list[str]:
        """See ``VectorStore.scopes``."""
        self._alive()
        return await self._worker.run(self._engine.scopes)

    async def drop(self, scope: str) -> None:
        """See ``VectorStore.drop``."""
        self._check_scope(scope)
        await self._worker.run(self._engine.drop, scope)

    def _alive(self) -> None:
        if self._closed:
            raise Closed(f"{self._engine.path}: the vector store is closed")

    def _check_scope(self, scope: str) -> None:
        self._alive()
        check_scope(scope, self._limits)


async def open_threaded(
    name: str, options: OpenOptions, engine: Callable[[Path], VectorEngine], *, place: str = "a directory"
) -> VectorStore:
    """Create the engine with the path in ``options`` and open it on its thread."""
    options.take()
    if options.path is None:
        raise BadInput(f"storage.vector.path: the {name} backend keeps its data in {place}; give its path")
    made = engine(options.path.absolute())
    worker = Worker(f"vector.{name} {made.path}")
    try:
        await worker.run(made.open)
    except BaseException:
        await worker.shut(made.close)  # the opening may have succeeded even if it was cancelled
        raise
    return ThreadedVectors(made, worker)
