"""``Saga.open`` takes open stores, an embedder, a curator and sources; and a configuration names one by its place."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from saga_backends.memory import MemoryCache, MemoryCurator, MemoryGraph, MemoryState, MemoryVector
from saga_core import Saga, load_config
from saga_core.capabilities import Capability
from saga_core.context import Piece
from saga_core.context.scene import Scene
from saga_core.context.source import NOTHING_GIVEN, Given
from saga_core.errors import BadInput
from saga_core.storage.opening import path_of, place_of
from saga_core.stores import CurationView, Limits, StoreInfo
from saga_core.values import Proposal
from tests.core.frontend import Frontend

HERE = __name__


class Hearing:
    """An embedder of one dimension, which counts its calls."""

    id, dimension, baseline, semantic = "hearing", 1, 0.0, False
    calls = closed = 0

    async def embed(self, texts: Sequence[str], mode: Any) -> list[array[float]]:
        self.calls += 1
        return [array("f", [1.0]) for _ in texts]

    async def aclose(self) -> None:
        self.closed += 1


class Tides:
    """A source of context."""

    name = "tides"
    needs: tuple[str, ...] = ()
    closed = 0

    async def gather(self, scene: Scene, given: Given = NOTHING_GIVEN) -> Sequence[Piece]:
        return [Piece("tides", "tide", "events", "The tide is coming in.", 9.0)]

    async def aclose(self) -> None:
        self.closed += 1


class Watching(MemoryCurator):
    """A curator that counts its reviews."""

    reviews = 0

    async def review(self, view: CurationView) -> tuple[Proposal, ...]:
        self.reviews += 1
        return ()


class OwnGraph(MemoryGraph):
    """A store that a configuration names by its place."""


class Small(MemoryState):
    def __init__(self) -> None:
        super().__init__(Limits(batch=10))


class Blocking(MemoryState):
    def get(self, keys: Any) -> Any:  # type: ignore[override]
        return {}


class Yielding(MemoryState):
    async def scan(self, prefix: Any, **options: Any) -> Any:
        for each in await super().scan(prefix, **options):
            yield each


class Awaited(MemoryCache):
    async def locate(self, scope: str) -> Any:  # type: ignore[override]
        return None


class Unconditional(MemoryState):
    async def commit(self, batch: Any) -> None:  # type: ignore[override]
        """Take no ``expected``."""


class Unscanned(MemoryState):
    scan: Any = None


class Promising:
    """A store that declares what it does not have."""

    def __init__(self, store: Any, *declared: Capability) -> None:
        self._store = store
        self.info = evolve(store.info, capabilities=frozenset(declared))

    def __getattr__(self, name: str) -> Any:
        if self.info.kind == "graph" and name in ("expand", "query"):
            raise AttributeError(name)
        return getattr(self._store, name)


class Vague(MemoryState):
    info: Any = "a store"


class Listing(MemoryState):
    info: Any = StoreInfo("state", "listing", capabilities=["durable"])  # type: ignore[arg-type]


class Half:
    info = StoreInfo("graph", "half")


def settings(data: Path, **more: Any) -> dict[str, Any]:
    return {"storage": {"path": str(data)}, "session": {"default_world": "ersia"}, **more}


async def test_a_turn_is_played_over_objects_which_the_caller_closes(tmp_path: Path) -> None:
    stores: dict[str, Any] = {
        "state": MemoryState(), "graph": MemoryGraph(), "vector": MemoryVector(), "cache": MemoryCache(),
    }  # fmt: skip
    embedder, curator, tides = Hearing(), Watching(), Tides()
    config = settings(tmp_path / "data", curator={"interval": 1})
    async with Saga.open(config, stores=stores, embedder=embedder, curator=curator, sources={"tides": tides}) as saga:
        chat = Frontend(saga)
        turn = await chat.say("숲으로 간다.", "숲에 들어선다.", location="어둠의 숲")
        await chat.say("둘러본다.", "조용하다.")
        await saga.drain(20)
        assert await saga.maintenance.differences(turn.session.id) == []
        status = await saga.status()
        assert {kind: found["backend"] for kind, found in status["stores"].items()} == dict.fromkeys(stores, "memory")
        assert status["embedder"] == "hearing" and "tides" in status["context"]["sources"]
        assert status["degraded"] == {}
        begun = await saga.begin([{"role": "user", "content": "어디지?"}], session=turn.session.id)
        assert "The tide is coming in." in begun.context.text
        await begun.abandon()
    assert embedder.calls and curator.reviews
    assert embedder.closed == tides.closed == 0
    assert await stores["graph"].scopes() and await stores["state"].scan(())
    assert (await curator.check()).ok
    assert not (tmp_path / "data" / "state.db").exists()
    async with Saga.open(config, stores=stores) as again:
        assert [each.session.id for each in await again.sessions.list()] == [turn.session.id]


@pytest.mark.parametrize(
    ("stores", "message"),
    [
        ({"graphs": MemoryGraph()}, "stores: 'graphs' is no kind of store; give some of state, graph, vector, cache"),
        ({"graph": MemoryGraph}, r"stores\['graph'\]: .*MemoryGraph.* is no open store; give an instance, or name it"),
        (
            {"graph": MemoryState()},
            r"stores\['graph'\]: MemoryState is no graph store; it lacks apply, drop, neighbors",
        ),
        ({"graph": Half()}, "Half is no graph store; it lacks aclose, apply, check, drop"),
        ({"state": Vague()}, "the info of Vague is 'a store'; give a saga_core.stores.StoreInfo"),
        ({"state": Listing()}, r"the capabilities of Listing are \['durable'\]; give a frozenset"),
        ({"state": Blocking()}, "Blocking.get is not asynchronous; write it with async def"),
        ({"state": Yielding()}, "Yielding.scan yields its results; return all of them at once"),
        ({"cache": Awaited()}, "Awaited.locate is asynchronous; write it with def"),
        (
            {"state": Unconditional()},
            r"Unconditional.commit cannot be called as commit\(batch, \*, expected=None\): got an unexpected keyword",
        ),
        ({"state": Unscanned()}, r"Unscanned.scan cannot be called as scan\(prefix, \*, after=None, limit=1000\): "),
        (
            {"vector": Promising(MemoryVector(), Capability.COMPACTS)},
            r"stores\['vector'\]: Promising declares compacts, and lacks compact",
        ),
        ({"graph": Promising(MemoryGraph(), Capability.RAW_QUERY)}, "declares raw_query, and lacks query"),
        ({"graph": Promising(MemoryGraph(), Capability.NATIVE_EXPAND)}, "declares native_expand, and lacks expand"),
        (
            {"graph": Promising(MemoryGraph(), Capability.RESIDENT, Capability.SHARED)},
            "declares resident and shared, and lacks hold, release",
        ),
        ({"state": Small()}, "memory takes too little .*batch: 10, SAGA needs 2000"),
    ],
)
async def test_an_object_that_is_no_such_store_fails_at_once(
    stores: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(BadInput, match=message) as caught:
        await Saga.open(settings(tmp_path), stores=stores)
    assert "\n" not in str(caught.value)


async def test_other_objects_are_checked_too(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="embedder: Tides is no Embedder; it lacks baseline, dimension, embed, id"):
        await Saga.open(settings(tmp_path), embedder=Tides())  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="curator: Tides is neither a ChatModel nor a Curator"):
        await Saga.open(settings(tmp_path), curator=Tides())  # type: ignore[arg-type]
    with pytest.raises(BadInput, match=r"sources\['moon'\]: what it opens is named 'tides'"):
        await Saga.open(settings(tmp_path), sources={"moon": Tides()})
    with pytest.raises(BadInput, match=r"sources\['lorebook'\]: there is a source of that name already"):
        await Saga.open(settings(tmp_path), sources={"lorebook": Tides()})


async def test_a_configuration_names_a_store_by_its_place(tmp_path: Path) -> None:
    config = load_config(settings(tmp_path, storage={"path": str(tmp_path), "graph": f"{HERE}:OwnGraph"}), environ={})
    assert config.storage.graph.backend == f"{HERE}:OwnGraph"
    assert path_of(config, "graph") == tmp_path / f"graph.{HERE}-OwnGraph"
    async with Saga.open(config) as saga:
        held: Any = saga.stores.graph
        assert isinstance(held._inner._store, OwnGraph)


async def test_a_store_that_is_not_opened_asynchronously_is_refused(tmp_path: Path) -> None:
    for name, message in (
        ("made", "what opens .*:made is not asynchronous"),
        ("Half", "Half is no graph store; it lacks"),
        ("Small", "Small is no graph store"),
    ):
        config = settings(tmp_path, storage={"path": str(tmp_path), "graph": f"{HERE}:{name}"})
        with pytest.raises(BadInput, match=f"opens nothing|{message}"):
            await Saga.open(config)


def made(options: Any) -> MemoryGraph:
    return MemoryGraph()


def test_a_name_alone_is_a_backend() -> None:
    config = load_config({"storage": {"graph": "kuzu", "vector": {"backend": "lancedb"}}}, environ={})
    assert config.storage.graph.backend == "kuzu" and config.storage.graph.resident_mb == 64
    assert load_config({"storage": {"graph": "${G:-ladybug}"}}, environ={}).storage.graph.backend == "ladybug"


def test_every_engine_has_a_place_of_its_own() -> None:
    places = [place_of(kind, name) for kind in ("state", "graph", "vector", "cache") for name in ("mine", "a.b:C")]
    assert len(set(places)) == len(places) and not [place for place in places if place is None or ":" in place]
    assert place_of("state", "sqlite") == "state.db" and place_of("cache", "files") == "pages"
