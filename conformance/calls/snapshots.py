"""The contents of a store, read through its protocol, in the same form as a model's ``snapshot``."""

from __future__ import annotations

from typing import Any

from conformance.assertions import CheckFailed

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
