"""What a profile opens, what happens when an engine is missing, and when another one was used before."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import pytest

from saga_backends.memory import MemoryCache, MemoryGraph, MemoryState, MemoryVector
from saga_core import Saga, codec, registry
from saga_core.config import load_config
from saga_core.config.model import Profile
from saga_core.counters import Counters
from saga_core.errors import BadInput, Closed, StoreCorrupt, StoreError, StoreUnavailable
from saga_core.recall.episodes import episodes_scope
from saga_core.registry import Backend, OpenOptions
from saga_core.storage.opening import PROFILES, backend_of, open_stores, path_of, place_of
from saga_core.stores import MINIMUM, Batch, Limits
from tests.core.frontend import Frontend


def config(data: Path, **storage: Any) -> Any:
    return load_config({"storage": {"path": str(data), **storage}, "session": {"default_world": "ersia"}}, environ={})


def test_every_profile_names_backends_that_are_registered() -> None:
    assert tuple(PROFILES) == get_args(Profile)
    for profile in PROFILES.values():
        assert {kind: choice.backend for kind, choice in profile.items() if choice.backend in registry.names(kind)} == {
            kind: choice.backend for kind, choice in profile.items()
        }


def test_no_two_backends_share_a_place() -> None:
    for kind in ("graph", "vector"):
        places = [place_of(kind, name) for name in (*registry.names(kind), "other", "another")]
        told = [place for place in places if place is not None]
        assert len(set(told)) == len(told)


def test_where_data_lies(tmp_path: Path) -> None:
    plain = config(tmp_path, profile="full-lance", graph={"backend": "kuzu"}, vector={"path": "elsewhere"})
    assert backend_of(plain, "graph") == "kuzu"
    assert path_of(plain, "graph") == tmp_path / "graph.kuzu"
    assert backend_of(plain, "vector") == "lancedb"
    assert path_of(plain, "vector") == plain.base / "elsewhere"
    assert path_of(config(tmp_path), "graph") is None


@pytest.mark.parametrize(
    ("profile", "vector", "module"), [("full", "chroma", "chromadb"), ("full-lance", "lancedb", "lancedb")]
)
async def test_an_engine_that_is_missing_is_replaced_and_the_player_is_told(
    profile: str, vector: str, module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for each in ("ladybug", module):
        monkeypatch.setitem(sys.modules, each, None)  # as if it were not installed: importing it raises
    async with Saga.open(config(tmp_path, profile=profile)) as saga:
        assert {kind: store.info.name for kind, store in saga.stores.all().items()} == {
            "state": "sqlite", "graph": "networkx", "vector": "sqlite", "cache": "files",
        }  # fmt: skip
        degraded = (await saga.status())["degraded"]
        assert degraded.keys() == {"graph.ladybug", f"vector.{vector}"}
        for kind, name, instead in (("graph", "ladybug", "networkx"), ("vector", vector, "sqlite")):
            told = f"pip install 'saga-rp[{name}]'; using {instead} instead: "
            assert told in degraded[f"{kind}.{name}"]
        chat = Frontend(saga)
        turn = await chat.say("숲으로 간다.", "숲에 들어선다.", location="어둠의 숲")
        assert any("saga-rp[ladybug]" in why for why in turn.degraded.values())
        await saga.drain(20)
        assert await saga.maintenance.differences(turn.session.id) == []
    assert (tmp_path / "vectors.db").is_file()


async def test_the_former_graph_of_lite_is_networkx_now(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A journal played with ``adjacency`` opens under either name, and its graph is the same."""
    async with Saga.open(config(tmp_path)) as saga:
        chat = Frontend(saga)
        turn = await chat.say("숲으로 간다.", "숲에 들어선다.", location="어둠의 숲")
        await saga.drain(20)
        before = codec.dumps({"engine": "adjacency", "place": ""})
        await saga.stores.state.commit(Batch({("meta", "shown-by", "graph"): before}))
    for graph in ({"backend": "adjacency"}, {}):
        caplog.clear()
        async with Saga.open(config(tmp_path, graph=graph)) as saga:
            assert saga.stores.graph.info.name == "networkx"
            assert (await saga.status())["degraded"] == {}
            await saga.maintenance.rebuild(turn.session.id)
            assert await saga.maintenance.differences(turn.session.id) == []
        notes = [each for each in caplog.messages if "adjacency is networkx now" in each]
        assert notes == (["storage.graph.backend: adjacency is networkx now; write networkx"] if graph else [])


@pytest.mark.parametrize("module", ["numpy"])
def test_without_what_takes_the_place_of_others_nothing_opens(module: str, tmp_path: Path) -> None:
    """``lite`` has nothing to fall back to, and does not pretend to."""
    program = (
        f"import asyncio, sys; sys.modules[{module!r}] = None\n"
        "from saga_core import Saga\n"
        "from saga_core.errors import StoreCorrupt, StoreUnavailable\n"
        "async def opened():\n"
        f"    await Saga.open({{'storage': {{'path': {str(tmp_path)!r}}}}})\n"
        "try:\n    asyncio.run(opened())\nexcept StoreUnavailable as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert module in done.stdout
    assert "degraded" not in done.stderr


async def test_a_damaged_store_is_no_missing_engine(tmp_path: Path) -> None:
    (tmp_path / "graph.ladybug").write_text("a file, and no directory", encoding="utf-8")
    with pytest.raises(StoreUnavailable, match="give the path of a directory"):
        await Saga.open(config(tmp_path, graph={"backend": "ladybug"}))


@pytest.mark.parametrize(
    ("error", "written", "raised"),
    [
        (ValueError("bad magic"), True, StoreCorrupt),
        (ValueError("bad magic"), False, StoreUnavailable),
        (PermissionError(13, "denied"), True, StoreUnavailable),
        (MemoryError(), True, StoreUnavailable),
    ],
)
async def test_an_exception_of_an_engine_at_its_opening_becomes_an_error_with_a_remedy(
    error: Exception, written: bool, raised: type[Exception], tmp_path: Path
) -> None:
    async def broken(options: OpenOptions) -> Any:
        raise error

    if written:
        (tmp_path / "state.broken").write_bytes(b"another engine's")
    registry.register("state.broken", broken)
    try:
        with pytest.raises(
            raised, match=r"state: broken.*state\.broken.*another (backend|storage\.state\.path|engine)"
        ) as caught:
            await Saga.open(config(tmp_path, state={"backend": "broken"}))
    finally:
        registry.unregister("state.broken")
    assert type(error).__name__ in str(caught.value)
    assert caught.value.__cause__ is error


@pytest.mark.parametrize(
    ("kind", "here", "there"),
    [("vector", "chroma", "lancedb"), ("vector", "lancedb", "chroma"), ("graph", "ladybug", "kuzu")],
)
async def test_files_of_another_engine_are_never_opened(kind: str, here: str, there: str, tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.mkdir()
    if kind == "graph":
        (place / "graph.db").write_bytes(b"KUZU" + (49).to_bytes(8, "little") + bytes(4_084))
    else:
        label = {"saga": "vectors", "engine": there, "version": 1, "notes": {}}
        (place / "saga.json").write_text(json.dumps(label), encoding="utf-8")
    wanted = rf"by {kind}\.{there} and not by {kind}\.{here}; use {kind}\.{there}.*saga rebuild --to {kind}={here}"
    with pytest.raises(StoreCorrupt, match=wanted):
        await Saga.open(config(tmp_path / "data", **{kind: {"backend": here, "path": str(place)}}))
    assert len(list(place.iterdir())) == 1


class TestWhereNoJournalIs:
    """A missing journal is told of where views of an earlier one are; what holds nothing is no view."""

    @pytest.mark.parametrize("left", ["pages/", "pages/.lock", "pages/s1/", "pages/.gitkeep", "vectors.db"])
    async def test_an_empty_folder_or_file_is_nothing(self, left: str, tmp_path: Path) -> None:
        path = tmp_path / left
        (path if left.endswith("/") else path.parent).mkdir(parents=True, exist_ok=True)
        if not left.endswith("/"):
            path.write_bytes(b"" if left == "vectors.db" else b"4711")
        async with Saga.open(config(tmp_path)) as saga:
            assert saga.counters.degraded == {}

    async def test_a_page_that_was_written_tells(self, tmp_path: Path) -> None:
        page = tmp_path / "pages" / "s1" / "state.md"
        page.parent.mkdir(parents=True)
        page.write_text("# state", encoding="utf-8")
        async with Saga.open(config(tmp_path)) as saga:
            assert "views of an earlier one exist (pages)" in saga.counters.degraded["journal.new"]

    async def test_an_engine_that_cannot_be_opened_begins_none(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        page = tmp_path / "pages" / "s1" / "state.md"
        page.parent.mkdir(parents=True)
        page.write_text("# state", encoding="utf-8")
        with pytest.raises(BadInput):
            await Saga.open(config(tmp_path, state="no.module:HERE"))
        assert "a new journal begins" not in caplog.text


@pytest.mark.usefixtures("sees_meaning")
class TestAnotherEngine:
    """An engine that comes back is not believed: it missed what was played without it."""

    async def play(self, data: Path, words: str, **storage: Any) -> tuple[dict[str, str], str]:
        async with Saga.open(config(data, **storage)) as saga:
            noticed = dict(saga.counters.degraded)
            chat = Frontend(saga, session="모험", history=list(self.history))
            turn = await chat.say(words, f"{words} 그렇게 되었다.", location="어둠의 숲")
            self.history = chat.history
            await saga.drain(20)
            assert await saga.maintenance.differences(turn.session.id) == []
            return noticed, turn.session.id

    history: list[dict[str, Any]]

    async def test_what_was_missed_is_filled_in(self, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
        self.history = []
        there: dict[str, Any] = {"vector": {"path": str(tmp_path / "there.db")}}
        noticed, session = await self.play(tmp_path, "첫째 턴이다.")
        assert noticed == {}
        noticed, _ = await self.play(tmp_path, "둘째 턴이다.")
        assert noticed == {}, "the same stores are no news"
        with caplog.at_level(logging.WARNING, "saga"):
            noticed, _ = await self.play(tmp_path, "셋째 턴이다.", **there)
        assert noticed.keys() == {"vector.changed"}
        assert "written with sqlite in vectors.db" in noticed["vector.changed"]
        assert "saga rebuild --to vector=sqlite" in noticed["vector.changed"]
        assert noticed["vector.changed"] in caplog.text
        noticed, _ = await self.play(tmp_path, "넷째 턴이다.")
        assert "written with sqlite in there.db" in noticed["vector.changed"]
        async with Saga.open(config(tmp_path)) as saga:
            assert saga.counters.degraded == {}
            assert await saga.stores.vector.count(episodes_scope(session)) == 4

    async def test_who_only_looks_changes_nothing(self, tmp_path: Path) -> None:
        self.history = []
        there = config(tmp_path, vector={"path": str(tmp_path / "there.db")})
        _, session = await self.play(tmp_path, "첫째 턴이다.")
        for _ in range(2):
            saga = await Saga.open(there, resume=False)
            assert "vector.changed" in saga.counters.degraded
            await saga.aclose()
        async with Saga.open(config(tmp_path)) as saga:
            assert saga.counters.degraded == {}
            assert await saga.stores.vector.count(episodes_scope(session)) == 1

    async def test_a_data_directory_may_be_moved(self, tmp_path: Path) -> None:
        self.history = []
        await self.play(tmp_path / "old", "첫째 턴이다.")
        (tmp_path / "old").rename(tmp_path / "new")
        noticed, _ = await self.play(tmp_path / "new", "둘째 턴이다.")
        assert noticed == {}


@pytest.mark.parametrize("kind", ["state", "graph", "vector", "cache"])
async def test_a_store_that_takes_too_little_is_refused_and_closed(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the start and with both numbers, not later as the fault of whoever writes a long reply."""
    opened: list[Any] = []
    real = registry.load

    async def small(options: OpenOptions) -> Any:
        kinds = {"state": MemoryState, "graph": MemoryGraph, "vector": MemoryVector, "cache": MemoryCache}
        opened.append(kinds[kind](Limits(value_bytes=1_000)))
        return opened[0]

    def load(wanted: str, name: str) -> Backend:
        return Backend(kind, "memory", small, "small") if (wanted, name) == (kind, "memory") else real(wanted, name)

    monkeypatch.setattr(registry, "load", load)
    needed = MINIMUM[kind].value_bytes
    told = rf"storage\.{kind}\.backend: memory takes too little \(value_bytes: 1000, SAGA needs {needed}\)"
    with pytest.raises(BadInput, match=told):
        await open_stores(config(tmp_path, profile="memory"), Counters())
    with pytest.raises(Closed):
        await opened[0].check()


class Unlucky(MemoryState):
    """A journal of somebody's own, whose driver's errors come through."""

    answer: Any = KeyError("oops")

    async def get(self, keys: Any) -> Any:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    async def check(self, *, thorough: bool = False) -> Any:
        return await self.get(())


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (KeyError("oops"), r"KeyError: 'oops'"),
        (StoreUnavailable("the disk is gone"), r"^stores\['state'\]: memory: the disk is gone$"),
        (None, "answered get with NoneType"),
        (5, "with int"),
    ],
)
async def test_what_a_foreign_store_raises_or_answers_names_it(answer: Any, told: str) -> None:
    store = Unlucky()
    store.answer = answer
    opened = await open_stores(load_config({"storage": {"profile": "memory"}}), Counters(), stores={"state": store})
    with pytest.raises(StoreError, match=told):
        await opened.state.get([("a",)])
    health = await opened.state.check()
    assert not health.ok and "stores['state']: memory" in health.detail
    await opened.aclose()


async def test_the_story_goes_on_though_a_foreign_journal_cannot_be_read() -> None:
    store = Unlucky()
    store.answer = {}
    async with Saga.open({"storage": {"profile": "memory"}}, stores={"state": store}) as saga:
        store.answer = KeyError("oops")
        turn = await saga.begin([{"role": "user", "content": "I go on."}])
        assert "oops" in str(turn.notices) or saga.counters.degraded
