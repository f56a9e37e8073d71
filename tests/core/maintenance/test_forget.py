"""Forgetting: not a byte is left in the data directory, and what was not forgotten is as it was."""

from __future__ import annotations

import asyncio
import importlib.util
import sqlite3
import unicodedata
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from saga_backends.memory import MemoryCache, MemoryGraph, MemoryState, MemoryVector
from saga_core import Saga, registry
from saga_core.capabilities import Capability
from saga_core.errors import BadInput, NotFound
from saga_core.model.tree import BLANK
from saga_core.stores import StoreInfo
from saga_core.views import scope_of
from tests.core.frontend import Frontend

SECRET = "자색고래"
ENGLISH = "Quillfeather"

ENGINES: list[dict[str, Any]] = [{}]
if importlib.util.find_spec("chromadb") and importlib.util.find_spec("ladybug"):
    ENGINES.append({"profile": "full"})
if importlib.util.find_spec("lancedb") and importlib.util.find_spec("ladybug"):
    ENGINES.append({"profile": "full-lance"})


UNCLEARED = "data_level0.bin"


def traces(data: Path, *needles: str) -> list[str]:
    """The files and folders below ``data`` in whose bytes or names one of ``needles`` stands.

    Chroma writes its index files from memory that it never cleared: old bytes of this very process may stand there.
    """
    wanted = [form.encode() for needle in needles for form in {needle, unicodedata.normalize("NFD", needle)}]
    wanted += [needle.encode("utf-16-le") for needle in needles]
    found = []
    for path in sorted(data.rglob("*")):
        name = str(path.relative_to(data))
        raw = path.read_bytes() if path.is_file() and path.name != UNCLEARED else b""
        if any(each in raw or each in name.encode() for each in wanted):
            found.append(name)
    return found


def config(data: Path, storage: dict[str, Any]) -> dict[str, Any]:
    return {"storage": {"path": str(data), **storage}, "session": {"default_world": "ersia"}}


async def play(saga: Saga, secret: str, *, label: str, owner: str = "") -> str:
    """A story in which ``secret`` is spoken of, met, noted and carried."""
    chat = Frontend(saga, session=label, owner=owner)
    await chat.say(
        f"{secret}에게 간다.", f"{secret}가 웃는다. 물이 차다.", npc_met=(secret,), notes=f"{secret}를 만났다"
    )
    await chat.say("묻는다.", f"“나는 {secret}다.” 그가 답한다.", mood="tense")
    turn = await chat.swipe(f"{secret}는 말이 없다. 파도만 친다.", hp_change=-5)
    await saga.timelines.fork(turn.session.id, None, f"{secret}의 끝")
    return turn.session.id


@pytest.mark.parametrize("storage", ENGINES, ids=lambda each: each.get("profile", "lite"))
async def test_a_session(tmp_path: Path, storage: dict[str, Any]) -> None:
    async with Saga.open(config(tmp_path, storage)) as saga:
        gone = await play(saga, SECRET, label=f"{SECRET} 이야기")
        kept = await play(saga, "붉은여우", label="남는 이야기")
        await saga.drain(20)
        before = await saga.describe(kept)
    assert traces(tmp_path, SECRET), "it stands somewhere before it is forgotten"
    async with Saga.open(config(tmp_path, storage)) as saga:
        assert (await saga.maintenance.forget_sessions([await saga.sessions.get(gone)])).sessions == (gone,)
        await saga.drain(20)
        assert traces(tmp_path, SECRET, gone) == [], "while it runs"
        assert (await saga.maintenance.verify()).findings == ()
        assert await saga.describe(kept) == before
        with pytest.raises(NotFound):
            await saga.sessions.get(gone)
    assert traces(tmp_path, SECRET, gone) == [], "and afterwards"
    assert traces(tmp_path, "붉은여우")


async def test_what_a_vector_file_holds_when_no_server_runs(tmp_path: Path) -> None:
    """``saga forget`` opens the stores without taking up work. Then the engine's file is emptied too."""
    async with Saga.open(config(tmp_path, {})) as saga:
        gone = await play(saga, "푸른두루미", label="하나")
        kept = await play(saga, "붉은여우", label="둘")
        await saga.drain(20)
    with closing(sqlite3.connect(tmp_path / "vectors.db", isolation_level=None)) as file:
        file.execute("PRAGMA secure_delete = OFF")  # as where it is not SQLite's default
        file.execute("CREATE TABLE gone (text)")
        file.execute("INSERT INTO gone VALUES (?)", (SECRET * 1_000,))
        file.execute("DROP TABLE gone")
    assert traces(tmp_path, SECRET) == ["vectors.db"]
    async with Saga.open(config(tmp_path, {}), resume=False) as saga:
        assert (await saga.maintenance.forget_sessions([await saga.sessions.get(gone)])).remains == ()
    assert traces(tmp_path, SECRET) == []
    async with Saga.open(config(tmp_path, {})) as saga:
        await saga.drain(20)
        assert (await saga.maintenance.verify()).findings == ()
        assert [each.session.id for each in await saga.sessions.list()] == [kept]


async def test_all_of_a_key(tmp_path: Path) -> None:
    async with Saga.open(config(tmp_path, {})) as saga:
        mine = [await play(saga, SECRET, label=f"{number}", owner="k1") for number in range(2)]
        other = await play(saga, "붉은여우", label="0", owner="k2")
        await saga.drain(20)
        with pytest.raises(NotFound, match="fingerprint 'k3'"):
            await saga.maintenance.sessions_of("k3")
        gone = await saga.maintenance.forget_sessions(await saga.maintenance.sessions_of("k1"))
        assert sorted(gone.sessions) == sorted(mine)
        assert [each.session.id for each in await saga.sessions.list()] == [other]
        await saga.drain(20)
        assert traces(tmp_path, SECRET, *mine) == []


async def test_the_world_goes_with_the_last_session_in_it(tmp_path: Path) -> None:
    async with Saga.open(config(tmp_path, {})) as saga:
        first, second = [await play(saga, SECRET, label=label) for label in ("하나", "둘")]
        await saga.drain(20)
        await saga.maintenance.forget_sessions([await saga.sessions.get(first)])
        assert [key for key, _ in await saga.stores.state.scan(("world",))]
        await saga.maintenance.forget_sessions([await saga.sessions.get(second)])
        rest = [key for key, _ in await saga.stores.state.scan(())]
        assert {key[0] for key in rest} == {"meta"}, rest
        assert await saga.stores.vector.scopes() == []


@pytest.mark.parametrize("name", [SECRET, ENGLISH])
async def test_a_name(tmp_path: Path, name: str) -> None:
    async with Saga.open(config(tmp_path, {})) as saga:
        session = await play(saga, name, label=f"{name} 이야기")
        other = await play(saga, "붉은여우", label="남는 이야기")
        await saga.drain(20)
        hp = (await saga.describe(session))["hp"]
        gone = await saga.maintenance.forget_name(session, name.upper())
        await saga.drain(20)
        assert gone.sessions == (session,) and gone.places > 5
        assert traces(tmp_path, name) == []
        told = await saga.describe(session)
        assert (told["hp"], told["npcs_met"]) == (hp, [])
        turns = await saga.views.turns(session)
        assert turns[-1].reply == f"{BLANK}는 말이 없다. 파도만 친다."
        assert (await saga.maintenance.verify()).findings == ()
        assert (await saga.describe(other))["npcs_met"] == ["붉은여우"]


WORDS = (
    "Ed Ren Al Ion Ara location character kind text narration moved id root session note met turn model Note".split()
)


@pytest.mark.parametrize("name", WORDS)
async def test_a_name_that_is_a_word_of_the_program_too(tmp_path: Path, name: str) -> None:
    """It goes from the texts, and the records stay what they are. Nor is it cut out of other words."""
    async with Saga.open(config(tmp_path, {})) as saga:
        chat = Frontend(saga, session="tale")
        words = f"{name} introduced the children to Alice. {name}'s lamp edges on; two {name}s wait."
        turn = await chat.say("I look.", words, location="Harrow", npc_met=(name, "Mina"), present=(name, "Mina"))
        await chat.say("I wait.", "Mina yawns.", hp_change=-3)
        await saga.drain(20)
        bills = await saga.sessions.cost(turn.session.id)
        gone = await saga.maintenance.forget_name(turn.session.id, name)
        await saga.drain(20)
        assert gone.places
        (_, first, second) = await saga.views.turns(turn.session.id)
        assert first.reply == f"{BLANK} introduced the children to Alice. {BLANK}'s lamp edges on; two {BLANK}s wait."
        assert second.reply == "Mina yawns."
        told = await saga.describe(turn.session.id)
        assert (told["location"], told["npcs_met"]) == ("Harrow", ["Mina"])
        assert await saga.sessions.cost(turn.session.id) == bills
        assert (await saga.maintenance.verify()).findings == ()
        assert (await chat.begin("I go on.")).parent.depth == 2


async def test_letters_of_an_id_are_no_name(tmp_path: Path) -> None:
    async with Saga.open(config(tmp_path, {})) as saga:
        turn = await Frontend(saga, session="tale").say("I look.", "Mina yawns.")
        await saga.drain(20)
        with pytest.raises(BadInput, match="does not occur"):
            await saga.maintenance.forget_name(turn.session.id, turn.id[3:6])
        assert (await saga.maintenance.verify()).findings == ()


async def test_a_name_by_which_the_story_is_called(tmp_path: Path) -> None:
    async with Saga.open({"storage": {"path": str(tmp_path)}}) as saga:
        chat = Frontend(saga, greeting="", system="", session="label")
        turn = await chat.say("I go to her.", f"{ENGLISH} smiles. The water is cold.", npc_met=(ENGLISH,))
        assert (await saga.sessions.get("label")).title == ENGLISH
        await saga.drain(20)
        await saga.maintenance.forget_name(turn.session.id, ENGLISH)
        await saga.drain(20)
        found = await saga.sessions.get("label")
        assert (found.title, found.label) == (BLANK, "label")
        assert traces(tmp_path, ENGLISH) == []
        assert (await saga.maintenance.verify()).findings == ()


async def test_what_the_frontend_still_shows_is_the_turn_that_it_was(tmp_path: Path) -> None:
    async with Saga.open(config(tmp_path, {})) as saga:
        chat = Frontend(saga)
        turn = await chat.say("간다.", f"{SECRET}가 길을 막는다. 물러서지 않는다.", hp_change=-5)
        await saga.drain(20)
        await saga.maintenance.forget_name(turn.session.id, SECRET)
        begun = await chat.begin("비킨다.")
        assert (begun.session.id, begun.parent.id) == (turn.session.id, turn.id), "no turn is adopted with the name"


@pytest.mark.parametrize("owner", ["", "k1"])
async def test_a_session_in_which_a_name_was_forgotten_goes_without_a_rest(tmp_path: Path, owner: str) -> None:
    """Also the entries by which its replies were known before."""
    async with Saga.open(config(tmp_path, {})) as saga:
        session = await play(saga, SECRET, label="이야기", owner=owner)
        kept = await play(saga, ENGLISH, label="남는 이야기", owner=owner)
        await saga.drain(20)
        await saga.maintenance.forget_name(session, SECRET)
        await saga.maintenance.forget_sessions([await saga.sessions.get(session)])
        await saga.drain(20)
        assert (await saga.maintenance.verify()).findings == ()
        assert [found.session.id for found in await saga.sessions.list()] == [kept]


@pytest.mark.parametrize(
    ("name", "told"),
    [("가", "too short"), ("아무도안쓴말", "does not occur"), ("크룩", "belongs to its author")],
)
async def test_names_that_are_refused(tmp_path: Path, name: str, told: str) -> None:
    async with Saga.open(config(tmp_path, {})) as saga:
        session = await play(saga, SECRET, label="이야기")
        before = await saga.describe(session)
        with pytest.raises(BadInput, match=told):
            await saga.maintenance.forget_name(session, name)
        assert await saga.describe(session) == before


class Keeping(MemoryState):
    """A journal store on a file that it cannot rewrite."""

    place = ""

    @property
    def info(self) -> StoreInfo:
        found = super().info
        return evolve(found, location=self.place, capabilities=found.capabilities - {Capability.COMPACTS})


async def test_what_a_journal_that_cannot_compact_keeps_is_said(tmp_path: Path) -> None:
    (tmp_path / "state.mine").write_text(SECRET)
    store = Keeping()
    store.place = str(tmp_path / "state.mine")
    async with Saga.open({"storage": {"profile": "memory"}}, stores={"state": store}) as saga:
        chat = Frontend(saga)
        await chat.say("가자.", f"{SECRET}.")
        await saga.drain(30)
        assert chat.last is not None
        gone = await saga.maintenance.forget_sessions([chat.last.session])
        assert [each.partition(":")[0] for each in gone.remains] == [store.place]
        assert "saga move --to state=sqlite" in gone.remains[0]


class Pages(MemoryCache):
    """A page cache of another author on a file that it cannot rewrite."""

    @property
    def info(self) -> StoreInfo:
        return evolve(super().info, name="mine", location=__file__)


class Graph(MemoryGraph):
    """A durable graph that does not say where it is."""

    @property
    def info(self) -> StoreInfo:
        found = super().info
        return evolve(found, name="mine", capabilities=found.capabilities | {Capability.DURABLE})


async def test_a_graph_that_is_emptied_while_it_is_written_is_written_whole(
    mine: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Saga.open({"storage": {"profile": "memory", "graph": "mine"}}) as saga:
        chat = Frontend(saga)
        await chat.say("I wait.", "It rains.", location="the pier")
        await saga.drain(30)
        graph: Any = saga.stores.graph
        apply = graph.apply

        async def emptied_first(*given: Any) -> None:
            monkeypatch.undo()
            await graph.renew()
            await apply(*given)

        monkeypatch.setattr(graph, "apply", emptied_first)
        await chat.say("I go on.", "A stone falls.", hp_change=-5)
        await saga.drain(30)
        assert [str(each) for each in (await saga.maintenance.verify()).findings] == []


class Vectors(MemoryVector):
    """Durable vectors."""

    @property
    def info(self) -> StoreInfo:
        found = super().info
        return evolve(found, name="mine", capabilities=found.capabilities | {Capability.DURABLE})


@pytest.fixture
def mine() -> Iterator[None]:
    """Stores named ``mine`` that keep their data and cannot compact."""
    registry.register("graph.mine", Graph)
    registry.register("vector.mine", Vectors)
    yield
    registry.unregister("graph.mine")
    registry.unregister("vector.mine")


async def test_a_store_that_was_emptied_and_filled_again_is_equal_to_the_journal(mine: None) -> None:
    config = {
        "storage": {"profile": "memory", "graph": "mine", "vector": "mine"},
        "session": {"default_world": "ersia"},
    }
    async with Saga.open(config) as saga:
        paths = Frontend(saga, session="paths")
        for way in ("road", "path"):
            for number in range(5):
                await paths.say(f"I follow the {way} {number}.", f"The {way} is long. The sign says {number}.")
            await saga.drain(30)
            paths.history = paths.history[:2]
        other = await Frontend(saga, session="other").say("I wait.", "It rains.")
        for name in ("one", "two"):
            gone = await Frontend(saga, session=name).say("I wait.", "It rains.")
            await saga.drain(30)
            await saga.maintenance.forget_sessions([gone.session.id])
            await saga.drain(30)
            assert [str(each) for each in (await saga.maintenance.verify()).findings] == []
        assert await saga.stores.graph.watermark(scope_of(other.session.id, 0)) == other.id


async def test_what_other_stores_that_cannot_compact_keep_is_said() -> None:
    stores = {"cache": Pages(), "graph": Graph()}
    async with Saga.open({"storage": {"profile": "memory"}}, stores=stores) as saga:
        gone = await saga.maintenance.forget_sessions([await play(saga, SECRET, label="비밀")])
    told = "cannot rewrite its file; end SAGA, delete what it stores, and `saga rebuild`"
    assert gone.remains == (f"graph: mine {told}", f"{__file__}: mine {told}")


class Rewriting:
    """A store of another author on top of ``store``: it declares ``compacts`` and not ``resident``."""

    def __init__(self, store: Any, broken: bool = False) -> None:
        self._store = store
        self.info = evolve(store.info, name="mine", capabilities=frozenset({Capability.COMPACTS}))
        self.broken = broken
        self.rewritten = 0

    async def compact(self) -> None:
        if self.broken:
            raise OSError("no space")
        self.rewritten += 1

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


@pytest.mark.parametrize("broken", [False, True])
async def test_stores_of_others_are_rewritten_behind_the_layers_in_front(broken: bool) -> None:
    stores = {
        "graph": Rewriting(MemoryGraph(), broken), "vector": Rewriting(MemoryVector()),
        "cache": Rewriting(MemoryCache()), "state": Rewriting(MemoryState()),
    }  # fmt: skip
    async with Saga.open({"storage": {"profile": "memory"}}, stores=stores) as saga:
        session = await play(saga, SECRET, label="비밀")
        gone = await saga.maintenance.forget_sessions([session])
        assert [each.rewritten for each in stores.values()] == [not broken, 1, 1, 1]
        if broken:
            assert gone.remains == (
                "graph: mine could not rewrite its files (StoreError: stores['graph']: mine failed in compact "
                "(OSError: no space)); forget the same again once it can",
            )
            stores["graph"].broken = False
            assert await saga.maintenance.finish_forgetting() == ()
            assert stores["graph"].rewritten == 1
        assert await saga.maintenance.finish_forgetting() is None


async def test_a_session_whose_removal_was_interrupted_is_forgotten_in_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def killed(*_: Any) -> None:
        raise asyncio.CancelledError

    async with Saga.open(config(tmp_path, {}), resume=False) as saga:
        session = await play(saga, SECRET, label="비밀")
        await saga.drain(20)
        with monkeypatch.context() as patched:
            patched.setattr("saga_core.journal.removal.Removal._clear", killed)
            patched.setattr("saga_core.maintenance.forget.leave_no_trace", killed)
            with pytest.raises(asyncio.CancelledError):
                await saga.maintenance.forget_sessions([session])
    async with Saga.open(config(tmp_path, {}), resume=False) as saga:
        with pytest.raises(NotFound):
            await saga.sessions.get(session)
        assert traces(tmp_path, SECRET)
        assert await saga.maintenance.finish_forgetting() == ()
        assert traces(tmp_path, SECRET) == []
        assert {key[0] for key, _ in await saga.stores.state.scan(())} == {"meta"}


async def test_a_name_whose_forgetting_was_interrupted_is_forgotten_again() -> None:
    graph = Rewriting(MemoryGraph(), broken=True)
    async with Saga.open({"storage": {"profile": "memory"}}, stores={"graph": graph}) as saga:
        session = await play(saga, SECRET, label="비밀")
        assert (await saga.maintenance.forget_name(session, SECRET)).remains
        graph.broken = False
        assert (await saga.maintenance.forget_name(session, SECRET)).remains == ()
        with pytest.raises(BadInput, match="does not occur"):
            await saga.maintenance.forget_name(session, SECRET)


async def test_files_of_engines_that_are_used_no_more_are_named(tmp_path: Path) -> None:
    config = {"storage": {"path": str(tmp_path)}}
    async with Saga.open(config) as saga:
        chat = Frontend(saga)
        await chat.say("가자.", f"{SECRET}.")
        await saga.drain(30)
        assert chat.last is not None
        for name in ("graph.adjacency", "state.duckdb", "state.duckdb.lock", "notes.txt"):
            (tmp_path / name).write_text(SECRET)
        gone = await saga.maintenance.forget_sessions([chat.last.session])
        assert [Path(each.partition(":")[0]).name for each in gone.remains] == ["graph.adjacency", "state.duckdb"]


async def test_a_session_in_the_trash(tmp_path: Path) -> None:
    async with Saga.open(config(tmp_path, {})) as saga:
        gone = await play(saga, SECRET, label="하나")
        await saga.drain(20)
        trashed = await saga.maintenance.put_in_trash(gone)
        assert (await saga.maintenance.forget_sessions([], [trashed])).sessions == (gone,)
        assert {key[0] for key, _ in await saga.stores.state.scan(())} == {"meta"}
        assert await saga.stores.vector.scopes() == []
    assert traces(tmp_path, SECRET, gone) == []
