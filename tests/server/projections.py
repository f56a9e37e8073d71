"""What stores show of every session, as plain data: ``python -m tests.server.projections FOLDER TARGET …``.

Each target is given to ``saga rebuild --to``, and what then lies in the stores is printed, one JSON line for each.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from saga_core import Saga
from saga_core.config import Config, load_config
from saga_core.storage.engine_fingerprint import KINDS
from saga_server.cli.data.rebuild import towards
from saga_server.cli.saga_command import main

PAGE = 100


async def shown(config: Config) -> dict[str, Any]:
    """Everything in graph, vectors, pages and values, and which engines hold it."""
    async with Saga.open(config) as saga:
        stores = saga.stores
        found: dict[str, Any] = {"degraded": dict(saga.counters.degraded)}
        found["engines"] = [f"{kind} {stores.all()[kind].info.name}" for kind in KINDS]
        found["problems"] = [
            each for one in await saga.sessions.list() for each in await saga.maintenance.differences(one.session.id)
        ]
        found["graph"] = {scope: await _graph(stores.graph, scope) for scope in await stores.graph.scopes()}
        found["vectors"] = {scope: await _vectors(stores.vector, scope) for scope in await stores.vector.scopes()}
        assert stores.cache is not None
        found["pages"] = {scope: repr(await stores.cache.read(scope)) for scope in await stores.cache.scopes()}
        found["values"] = [(key, raw.decode()) for key, raw in await stores.state.scan(("view",))]
        return found


async def _graph(graph: Any, scope: str) -> dict[str, Any]:
    nodes, after = [], None
    while page := await graph.scan(scope, after=after, limit=PAGE):
        nodes += page
        after = page[-1].id
    edges = await graph.neighbors(scope, [node.id for node in nodes])
    return {
        "watermark": await graph.watermark(scope),
        "nodes": [(node.id, node.label, sorted(node.properties.items())) for node in nodes],
        "edges": sorted([repr(edge.identity), sorted(edge.properties.items())] for edge in edges),
    }


async def _vectors(vectors: Any, scope: str) -> dict[str, Any]:
    items, after = [], None
    while page := await vectors.scan(scope, after=after, limit=PAGE):
        items += page
        after = page[-1].id
    return {
        "spec": str(await vectors.describe(scope)),
        "items": [(item.id, list(item.vector), item.text, sorted(item.metadata.items())) for item in items],
    }


def moved(folder: Path, target: str) -> dict[str, Any]:
    """Move the data directory in ``folder`` to ``target``, and give what is then shown."""
    config = load_config(folder / "saga.yaml", environ={})
    result = CliRunner().invoke(main, ["rebuild", "--config", str(folder / "saga.yaml"), "--to", target])
    after = asyncio.run(shown(towards(config, (target,))))
    return {**after, "exit": result.exit_code, "said": result.output}


if __name__ == "__main__":
    for wanted in sys.argv[2:]:
        print(json.dumps(moved(Path(sys.argv[1]), wanted), ensure_ascii=False))
