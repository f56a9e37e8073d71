"""A plugin that cannot be opened or closed: the doctor names it and goes on, and a server says so when it stops."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from saga_backends.memory import MemoryState
from saga_core import registry
from saga_core.config import load_config
from saga_core.errors import StoreError
from saga_core.registry import OpenOptions
from saga_core.stores import Health, StoreInfo
from saga_server.doctor import examine
from tests.server.conftest import Serve


async def fails(options: OpenOptions) -> Any:
    raise ModuleNotFoundError("No module named 'engine'")


class Stuck(MemoryState):
    async def aclose(self) -> None:
        raise RuntimeError("cannot close")


class Reviewer:
    info = StoreInfo(kind="curator", name="bad")

    async def review(self, view: Any) -> Any:
        return ()

    async def check(self, *, thorough: bool = False) -> Health:
        raise OSError("no such disk")

    async def aclose(self) -> None:
        pass


@pytest.fixture(autouse=True)
def bad() -> Iterator[None]:
    """Plugins named ``bad``."""
    plugins: dict[str, Any] = {"state.bad": Stuck, "embedder.bad": fails, "tokens.bad": fails, "curator.bad": Reviewer}
    for name, opener in plugins.items():
        registry.register(name, opener)
    yield
    for name in plugins:
        registry.unregister(name)


@pytest.mark.parametrize(
    ("tree", "told"),
    [
        (
            {"recall": {"embedder": "bad"}},
            "!!  stores: recall.embedder: bad cannot be opened (ModuleNotFoundError: No module named 'engine'); ",
        ),
        ({"token_budget": {"counter": "bad"}}, "!!  stores: token_budget.counter: bad cannot be opened"),
        ({"curator": {"backend": "bad"}}, "!!  curator: bad: OSError: no such disk"),
        (
            {"storage": {"profile": "memory", "state": "bad"}},
            "!!  stores: storage.state: memory failed in aclose (RuntimeError: cannot close)",
        ),
    ],
)
async def test_the_doctor_names_it_and_goes_on(tree: dict[str, Any], told: str) -> None:
    said: list[str] = []
    assert not await examine(load_config({"storage": {"profile": "memory"}, **tree}, environ={}), said.append)
    assert [line for line in said if line.startswith(told)], said
    assert any("narrator: the built-in one" in line for line in said)


async def test_the_doctor_names_entry_points_that_nothing_uses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "unused", lambda: ("aaa-dup: state.sqlite = dup:X in saga.backends is not used: …",))
    said: list[str] = []
    assert not await examine(load_config({"storage": {"profile": "memory"}}, environ={}), said.append)
    assert "!!  installed: aaa-dup: state.sqlite = dup:X in saga.backends is not used: …" in said


async def test_a_server_that_stops_names_what_it_cannot_close(serve: Serve) -> None:
    with pytest.raises(StoreError, match=r"storage\.state: .*failed in aclose \(RuntimeError: cannot close\)"):
        async with serve(storage={"profile": "memory", "state": "bad"}) as client:
            assert (await client.get("/readyz")).status == 200


OF_ANOTHER_KIND: registry.Backend[Any] = registry.Backend("tokens", "odd", fails)


@pytest.mark.parametrize("kind", ["strategy", "graph"])
async def test_the_doctor_names_what_a_package_has_of_another_kind(kind: str) -> None:
    name, place = f"{kind}.odd", f"{__name__}:OF_ANOTHER_KIND"
    registry.add_entry_points({registry.GROUP: {name: place}})
    said: list[str] = []
    try:
        assert not await examine(load_config({"storage": {"profile": "memory"}}, environ={}), said.append)
    finally:
        registry._configured.pop((registry.GROUP, name))
    assert [line for line in said if line.startswith(f"!!  {kind} odd: ") and "tokens" in line], said
    assert not [line for line in said if "not installed: odd" in line]
