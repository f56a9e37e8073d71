"""Data has one name, by whatever address it is reached."""

from __future__ import annotations

import asyncio

from saga_backends.postgres.backends import CACHE, GRAPH, STATE, VECTOR
from saga_core.registry import OpenOptions


async def test_all_stores_of_a_schema_have_one_identity_at_each_address(url: str, schema: str) -> None:
    other = url.replace("127.0.0.1", "localhost")
    options = {"schema": schema}
    opened = [backend.open(OpenOptions(url=each, options=options)) for each in (url, other) for backend in
              (STATE, GRAPH, VECTOR, CACHE)]  # fmt: skip
    stores = await asyncio.gather(*opened)
    try:
        assert len({store.info.location for store in stores}) == 2
        (identity,) = {store.info.identity for store in stores}
        assert len(identity) == 36
    finally:
        for store in stores:
            await store.aclose()


async def test_other_schemas_have_other_identities(url: str, schema: str) -> None:
    found = set()
    for name in (f"{schema}a", f"{schema}b"):
        store = await GRAPH.open(OpenOptions(url=url, options={"schema": name}))
        found.add(store.info.identity)
        await store.aclose()
    assert len(found) == 2
