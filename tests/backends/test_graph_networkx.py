"""What is particular to the networkx graph store."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from saga_backends.graph import networkx as store_module
from saga_core.capabilities import Capability
from saga_core.errors import BadInput, StoreUnavailable
from saga_core.registry import OpenOptions, load
from saga_core.stores.graph import Edge, Mutation, Node


async def test_it_is_registered_and_says_what_it_can() -> None:
    assert load("graph", "networkx") is store_module.BACKEND
    store = await store_module.BACKEND.open(OpenOptions())
    assert (store.info.name, store.info.location) == ("networkx", "")
    assert store.info.capabilities == {Capability.RESIDENT, Capability.NATIVE_EXPAND}
    assert store.info.version
    await store.apply("s", Mutation((Node("a", "L"), Node("b", "L")), (Edge("a", "T", "b"),)))
    assert (await store.check()).detail == "1 scopes, 2 nodes in memory"
    await store.aclose()


async def test_it_takes_no_options() -> None:
    with pytest.raises(BadInput, match=r"options\.cache"):
        await store_module.BACKEND.open(OpenOptions(options={"cache": 1}))


async def test_a_missing_engine_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "networkx", None)  # as if it were not installed
    with pytest.raises(StoreUnavailable, match=r"pip install 'saga-rp\[networkx\]'"):
        load("graph", "networkx")


async def test_an_engine_that_breaks_at_its_first_use_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: str) -> Any:
        raise ImportError(f"No module named {name!r}")

    store = await store_module.BACKEND.open(OpenOptions())
    with monkeypatch.context() as broken:
        broken.setattr(store_module.importlib, "import_module", refuse)
        with pytest.raises(StoreUnavailable, match=r"pip install 'saga-rp\[networkx\]'"):
            await store.apply("s", Mutation((Node("a", "L"),)))
    assert await store.scopes() == []
    await store.apply("s", Mutation((Node("a", "L"),)))
    assert await store.scopes() == ["s"]
    await store.aclose()


def test_the_engine_is_imported_by_the_first_write() -> None:
    program = """
import asyncio, sys
from saga_backends.graph.networkx import BACKEND
from saga_core.registry import OpenOptions
from saga_core.stores.graph import Mutation, Node

async def main():
    store = await BACKEND.open(OpenOptions())
    read = [await store.get("s", ["a"]), await store.neighbors("s", ["a"]), await store.scan("s")]
    read += [await store.watermark("s"), await store.expand("s", ["a"], hops=2), (await store.check(thorough=True)).ok]
    print(read, "networkx" in sys.modules, "numpy" in sys.modules)
    await store.apply("s", Mutation((Node("a", "L"),)))
    print("networkx" in sys.modules)

asyncio.run(main())
"""
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout == "[{}, [], [], None, {}, True] False False\nTrue\n"


async def test_what_is_given_out_is_shared_and_cannot_be_changed() -> None:
    store = await store_module.BACKEND.open(OpenOptions())
    await store.apply("s", Mutation((Node("a", "L", {"hp": 1}),)))
    (one,), (other,) = await store.scan("s"), (await store.get("s", ["a"])).values()
    assert one is other
    with pytest.raises(TypeError):
        one.properties["hp"] = 2  # type: ignore[index]
    await store.aclose()
