"""Calls of a store as data, their results, snapshots of a store's contents, and the order for a second process."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from attrs import field, frozen

from conformance.assertions import CheckFailed, refusal, shown
from saga_core.errors import SagaError
from saga_core.stores import Fence


@frozen
class StoreCall:
    """A method and its arguments."""

    method: str
    args: tuple[Any, ...] = ()
    options: Mapping[str, Any] = field(factory=dict)

    def __str__(self) -> str:
        parts = [shown(value) for value in self.args]
        parts += [f"{name}={shown(value)}" for name, value in self.options.items()]
        return f"{self.method}({', '.join(parts)})"


def call(method: str, *args: Any, **options: Any) -> StoreCall:
    """Make a ``StoreCall``, written like the call itself."""
    return StoreCall(method, args, options)


async def answer(store: Any, made: StoreCall) -> object:
    """Make the call and return its result or a ``Refused``. Raises ``CheckFailed`` if the error is no ``SagaError``."""
    try:
        result = getattr(store, made.method)(*made.args, **made.options)
        return await result if inspect.isawaitable(result) else result
    except SagaError as error:
        return refusal(error)
    except CheckFailed:
        raise
    except Exception as error:  # whatever the engine raises
        raise CheckFailed(f"{made} let {type(error).__name__} escape: {error}", clause="L-7") from error


async def answer_all(store: Any, calls: Iterable[StoreCall]) -> list[object]:
    """Make the calls one after the other, and return their results."""
    return [await answer(store, made) for made in calls]


async def pass_turns(count: int) -> None:
    """Let the event loop run ``count`` turns."""
    for _ in range(count):
        await asyncio.sleep(0)


async def cancelled_after(made: Awaitable[Any], count: int) -> tuple[Any, bool]:
    """Cancel a call after ``count`` turns of the event loop. Returns its result or error, and whether it still ran."""
    task = asyncio.ensure_future(made)
    await pass_turns(count)
    ran = task.cancel()
    return (await asyncio.gather(task, return_exceptions=True))[0], ran


_PAGE = 500


async def snapshot(store: Any) -> object:
    """The contents of a store of any kind. A curator has none, so the result is None."""
    kind = store.info.kind
    if kind == "state":
        return await _entries(store)
    if kind == "graph":
        return {scope: await _graph(store, scope) for scope in await store.scopes()}
    if kind == "vector":
        return {scope: await _vectors(store, scope) for scope in await store.scopes()}
    if kind == "cache":
        return {scope: await store.read(scope) for scope in await store.scopes()}
    if kind == "curator":
        return None
    raise CheckFailed(f"info.kind is {kind!r}", clause="L-1")


async def _entries(store: Any) -> list[Any]:
    found: list[Any] = []
    while page := await store.scan((), after=found[-1][0] if found else None, limit=_PAGE):
        found += page
        _ends(found, page[-1][0], store)
    return found


async def _graph(store: Any, scope: str) -> object:
    nodes: list[Any] = []
    while page := await store.scan(scope, after=nodes[-1].id if nodes else None, limit=_PAGE):
        nodes += page
        _ends(nodes, page[-1].id, store)
    edges: list[Any] = []
    for start in range(0, len(nodes), _PAGE):
        ids = [node.id for node in nodes[start : start + _PAGE]]
        edges += await store.neighbors(scope, ids, direction="out")
    return nodes, edges, await store.watermark(scope)


async def _vectors(store: Any, scope: str) -> object:
    spec = await store.describe(scope)
    items: list[Any] = []
    while page := await store.scan(scope, after=items[-1].id if items else None, limit=_PAGE):
        items += page
        _ends(items, page[-1].id, store)
    return None if spec is None else (spec.embedder, spec.dimension), items


def _ends(found: list[Any], last: object, store: Any) -> None:
    """Raise ``CheckFailed`` after 100,000 entries, so a scan that never ends does not block the suite."""
    if len(found) > 100_000:
        raise CheckFailed(f"{store.info.kind}: scanning page by page does not end; it has reached {last!r}")


Opener = Callable[[Path], Awaitable[Any]]


@frozen
class Order:
    """The task of a second process."""

    opener: Opener
    path: str
    calls: tuple[StoreCall, ...] = ()
    close: bool = False
    """Whether to close the store and exit rather than wait to be killed."""
    answers: str = ""
    """A file for the typed answers and for the store's contents afterwards."""
    others: tuple[str, ...] = ()
    """Further paths. The process opens and reads each of them, makes ``calls`` on it, reopens it and reads it again."""
    steps: str = ""
    """A file for the steps of the opening and those of the calls; see ``second_process``."""
    die_after: tuple[str, int] = ("", 0)
    """The step after which to kill the process, and how often it is made until then."""
    full_from: int = -1
    """During the call with this index, keep files from growing, as ``room`` says."""
    room: int = 0
    """Bytes by which a file may then grow beyond the largest file. With 0, no file can be written to at all."""
    asked: tuple[StoreCall, ...] = ()
    """Calls to make while no file may grow, in addition to reading the whole contents."""
    fence: Fence | None = None
    """If set, every write is fenced with it, and the calls are made over and over."""
    clock: float = 0.0
    """Seconds by which ``time.time`` and ``time.time_ns`` are ahead in the process."""
