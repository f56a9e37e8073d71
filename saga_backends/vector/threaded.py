"""A vector store over a blocking engine. It checks the arguments and calls the engine on a worker thread."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from attrs import frozen

from saga_backends.checked import CheckedVectors, Numbered, wanted
from saga_backends.worker import Worker
from saga_core.capabilities import Capability
from saga_core.errors import BadInput, Closed
from saga_core.registry import OpenOptions
from saga_core.stores import Filter, Health, Hit, Scalar, ScopeSpec, StoreInfo, VectorItem, VectorStore
from saga_core.stores.filters import Predicate
from saga_core.stores.validate import check_dimension, unknown_scope

if TYPE_CHECKING:
    from saga_backends.scoring import Singles

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


def read_together(
    ids: Sequence[str], texts: Sequence[str], kind: type[Any], damaged: Callable[[str], Exception], what: str
) -> list[Any]:
    """Parse a JSON text of each item in ``ids``, which is a ``kind``. For an invalid one, raises ``damaged(message)``.

    All texts are parsed together, so that the items share the strings of their field names.
    """
    try:
        found = json.loads(f"[{','.join(texts)}]")
    except ValueError:
        found = []
    if len(found) == len(texts) and all(type(each) is kind for each in found):
        return found  # type: ignore[no-any-return]
    for item_id, text in zip(ids, texts, strict=True):
        try:
            right = type(json.loads(text)) is kind
        except ValueError as error:
            raise damaged(f"item {item_id!r} is damaged: {what} no JSON: {error}") from error
        if not right:
            raise damaged(f"item {item_id!r} is damaged: {what} no JSON {'object' if kind is dict else 'list'}")
    raise damaged(f"items {ids[0]!r} to {ids[-1]!r} are damaged")


def read_metadata(
    ids: Sequence[str], texts: Sequence[str], damaged: Callable[[str], Exception]
) -> list[Mapping[str, Scalar]]:
    """Parse the metadata of the items ``ids``. For an invalid one, raises ``damaged(message)``."""
    return read_together(ids, texts, dict, damaged, "its metadata is")


@frozen(eq=False)
class Block:
    """Some items of a scope. ``fields`` returns the metadata of each."""

    ids: list[str]
    vectors: Singles
    fields: Callable[[], Sequence[Mapping[str, Scalar]]]


class VectorEngine(ABC):
    """An engine, with blocking versions of the operations of ``VectorStore``, several of which are written here once.

    All calls come from one thread and have checked arguments. An engine only raises the errors of the contract.
    ``info`` is called once, after ``open``. ``spec`` comes before every other call that names a scope.
    """

    path: Path

    @abstractmethod
    def info(self) -> StoreInfo:
        """The version of the engine, its capabilities and its limits."""

    @abstractmethod
    def open(self) -> None:
        """Lock the path and open the engine."""

    @abstractmethod
    def close(self) -> None:
        """Close the engine and release the lock, also after a failed ``open``. Further calls have no effect."""

    @abstractmethod
    def check(self, thorough: bool) -> Health:
        """Check that the engine answers, or read everything if ``thorough``."""

    @abstractmethod
    def create(self, name: str, spec: ScopeSpec) -> None:
        """See ``VectorStore.create``."""

    @abstractmethod
    def spec(self, name: str) -> ScopeSpec | None:
        """Return the spec of a scope, or None if it does not exist. Raises ``Closed``."""

    @abstractmethod
    def scopes(self) -> list[str]:
        """See ``VectorStore.scopes``."""

    @abstractmethod
    def drop(self, name: str) -> None:
        """See ``VectorStore.drop``."""

    @abstractmethod
    def put(self, name: str, spec: ScopeSpec, items: Sequence[PackedItem]) -> None:
        """Add or replace items, each of which has another id."""

    @abstractmethod
    def get(self, name: str, ids: Sequence[str]) -> dict[str, VectorItem]:
        """See ``VectorStore.get``."""

    @abstractmethod
    def scan(self, name: str, after: str | None, limit: int) -> list[VectorItem]:
        """See ``VectorStore.scan``."""

    @abstractmethod
    def blocks(self, name: str, spec: ScopeSpec, *, filtered: bool) -> Iterator[Block]:
        """Yield the items of a scope, some at a time. The metadata are only needed if they are ``filtered``."""

    @abstractmethod
    def remove(self, name: str, ids: Sequence[str]) -> int:
        """Remove the items of ``ids`` that exist, and return their number."""

    @abstractmethod
    def number(self, name: str) -> int:
        """Return the number of items of a scope."""

    def reading(self) -> AbstractContextManager[object]:
        """Inside, all reads see one state of the data."""
        return nullcontext()

    def writing(self) -> AbstractContextManager[object]:
        """Inside, everything or nothing is written."""
        return nullcontext()

    def upsert(self, name: str, items: Sequence[PackedItem]) -> None:
        """See ``VectorStore.upsert``."""
        with self.writing():
            spec = self.spec(name)
            if spec is None:
                raise unknown_scope(name)
            for index, item in enumerate(items):
                check_dimension(f"items[{index}].vector", item.vector, name, spec)
            if items:
                self.put(name, spec, list({item.id: item for item in items}.values()))

    def query(self, names: Sequence[str], asked: array[float], k: int, wanted: Predicate | None) -> list[Hit]:
        """See ``VectorStore.query``. Keeps ``k`` candidates and a block of items in memory at a time."""
        from saga_backends.scoring import Nearest  # imported here, so that the start does not pay for numpy

        nearest = Nearest(asked, k)
        with self.reading():
            specs = {name: spec for name in names if (spec := self.spec(name)) is not None}
            for name, spec in specs.items():
                check_dimension("vector", asked, name, spec)
            for place, (name, spec) in enumerate(specs.items()):
                for block in self.blocks(name, spec, filtered=wanted is not None):
                    if wanted is None:
                        nearest.show(place, block.ids, block.vectors)
                        continue
                    chosen = _passing(block, wanted)
                    nearest.show(place, [block.ids[index] for index in chosen], block.vectors[chosen])
            best = nearest.best
            items = [self.get(name, [each for _, each, at in best if at == place]) for place, name in enumerate(specs)]
        return [Hit(each, score, items[at][each].text, items[at][each].metadata) for score, each, at in best]

    def delete(self, name: str, ids: Sequence[str] | None, wanted: Predicate | None) -> int:
        """See ``VectorStore.delete``."""
        with self.writing():
            spec = self.spec(name)
            if spec is None:
                return 0
            gone = self._matching(name, spec, wanted) if wanted is not None else ids
            return self.remove(name, gone) if gone else 0

    def count(self, name: str, wanted: Predicate | None) -> int:
        """See ``VectorStore.count``."""
        with self.reading():
            spec = self.spec(name)
            if spec is None:
                return 0
            return self.number(name) if wanted is None else len(self._matching(name, spec, wanted))

    def _matching(self, name: str, spec: ScopeSpec, wanted: Predicate) -> list[str]:
        found: list[str] = []
        for block in self.blocks(name, spec, filtered=True):
            found += [block.ids[index] for index in _passing(block, wanted)]
        return found


def _passing(block: Block, wanted: Predicate) -> list[int]:
    """The indexes of the items that pass the filter."""
    return [index for index, fields in enumerate(block.fields()) if wanted(fields)]


class CompactingEngine(Protocol):
    """An engine that declares ``COMPACTS``."""

    def compact(self) -> None: ...


class ThreadedVectors(CheckedVectors):
    """The vector store, created by ``open_threaded``. Each call is one hop to the thread, and calls run in order.

    A write completes even if the task that awaits it is cancelled.
    """

    def __init__(self, engine: VectorEngine, worker: Worker) -> None:
        self._engine = engine
        self._worker = worker
        self._closed = False
        self._info = engine.info()

    async def check(self, *, thorough: bool = False) -> Health:
        """Check that the engine answers, and measure the size on disk. If ``thorough``, read every item."""
        self._alive()
        return await self._worker.run(self._engine.check, thorough)

    async def aclose(self) -> None:
        """Finish the submitted calls, close the engine and release its lock."""
        self._closed = True
        await self._worker.shut(self._engine.close)

    async def _compact(self) -> None:
        if Capability.COMPACTS not in self._info.capabilities:
            await super()._compact()
        await self._worker.run(cast(CompactingEngine, self._engine).compact)

    async def _create(self, scope: str, spec: ScopeSpec) -> None:
        await self._worker.run(self._engine.create, scope, spec)

    async def _describe(self, scope: str) -> ScopeSpec | None:
        return await self._worker.run(self._engine.spec, scope)

    async def _upsert(self, scope: str, items: list[Numbered]) -> None:
        await self._worker.run(self._engine.upsert, scope, [PackedItem.of(item, vector) for item, vector in items])

    async def _get(self, scope: str, ids: list[str]) -> dict[str, VectorItem]:
        return await self._worker.run(self._engine.get, scope, ids)

    async def _scan(self, scope: str, after: str | None, limit: int) -> list[VectorItem]:
        return await self._worker.run(self._engine.scan, scope, after, limit)

    async def _query(self, scopes: list[str], asked: array[float], k: int, where: Filter | None) -> list[Hit]:
        return await self._worker.run(self._engine.query, scopes, asked, k, wanted(where))

    async def _delete(self, scope: str, ids: list[str] | None, where: Filter | None) -> int:
        return await self._worker.run(self._engine.delete, scope, ids, wanted(where))

    async def _count(self, scope: str, where: Filter | None) -> int:
        return await self._worker.run(self._engine.count, scope, wanted(where))

    async def _scopes(self) -> list[str]:
        return await self._worker.run(self._engine.scopes)

    async def _drop(self, scope: str) -> None:
        await self._worker.run(self._engine.drop, scope)

    def _alive(self) -> None:
        if self._closed:
            raise Closed(f"{self._engine.path}: the vector store is closed")


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
