"""The reader: parallel, bounded, deterministic; it never fails a turn."""

from __future__ import annotations

import asyncio
import gc
import logging
import random
from collections.abc import Sequence
from typing import Any

import pytest
from attrs import evolve, frozen
from hypothesis import given
from hypothesis import strategies as st

from saga_core.config.model import Config, GraphConfig, RecallConfig, TokenBudget
from saga_core.context import ContextReader, Piece, ReadRequest, Section, TurnContext, default_reader
from saga_core.context.scene import EntityNames, Scene, resident_read
from saga_core.context.source import NOTHING_GIVEN, Given
from saga_core.context.sources import Lorebook
from saga_core.errors import BadInput, StoreUnavailable
from saga_core.model.entities import Entity
from saga_core.recall.lorebook import LoreIndex
from saga_core.stores.vector import Hit, ScopeSpec
from saga_core.world.model import World
from tests.core.context.reading_stage import (
    ARIA,
    KO_WORLD,
    KRUK,
    Broken,
    CannedVectors,
    EdgeGraph,
    Never,
    OneVector,
    WordCounter,
    ask,
    edges_of,
    ko_state,
    path_episodes,
)

QUICK = Config(recall=RecallConfig(deadline_ms=40.0))
PAST = ["", *(f"Turn {at}\n열쇠를 {at}번 보았다. 크룩이 웃었다." for at in range(1, 13))]


@frozen
class Says:
    """A source that says one thing."""

    text: str
    name: str = "says"
    needs: tuple[str, ...] = ()

    async def gather(self, scene: Scene, given: Given = NOTHING_GIVEN) -> Sequence[Piece]:
        return [Piece(self.name, self.text, Section.EVENTS, self.text, 1.0)]


@frozen
class Raises:
    name: str = "raises"
    needs: tuple[str, ...] = ()

    async def gather(self, scene: Scene, given: Given = NOTHING_GIVEN) -> Sequence[Piece]:
        raise ZeroDivisionError("a bug in a source")


@frozen
class Unready:
    """A source that fails before anybody is asked."""

    name: str = "unready"
    needs: tuple[str, ...] = ()

    def prepare(self, scene: Scene) -> None:
        raise ZeroDivisionError("a bug while preparing")

    async def gather(self, scene: Scene, given: Given = NOTHING_GIVEN) -> Sequence[Piece]:
        return [Piece(self.name, "unprepared", Section.EVENTS, "unprepared", 1.0)]


@frozen
class GivesUp:
    """A source that cancels itself."""

    name: str = "gives up"
    needs: tuple[str, ...] = ()

    async def gather(self, scene: Scene, given: Given = NOTHING_GIVEN) -> Sequence[Piece]:
        raise asyncio.CancelledError


class Hangs:
    """A source that waits for ever, and may not end when told to."""

    needs: tuple[str, ...] = ()

    def __init__(self, name: str = "hangs", *, stubborn: bool = False) -> None:
        self.name = name
        self.never = Never(stubborn=stubborn)

    async def gather(self, scene: Scene, given: Given = NOTHING_GIVEN) -> Sequence[Piece]:
        await self.never.query([], [], 1)
        return []


def vectors() -> Any:
    return CannedVectors(
        {
            f"lore:{KO_WORLD.digest}": [Hit("대붕괴", 0.6, "", {})],
            "episodes:s": [Hit("t2", 0.7, "", {"depth": 2}), Hit("t4", 0.6, "", {"depth": 4})],
        }
    )


def full(**changes: Any) -> ReadRequest:
    values = {"episodes": path_episodes(PAST), "pinned": ko_state(relations={}), **changes}
    return ask("크룩에게 열쇠를 묻는다", **values)


async def read(reader: ContextReader, request: ReadRequest) -> TurnContext:
    try:
        return await reader.read(request)
    finally:
        await reader.aclose()


async def test_a_whole_read() -> None:
    reader = default_reader(Config(), WordCounter(), vectors=vectors(), embedder=OneVector())
    found = await read(reader, full())
    assert found.text.startswith("[SAGA: 지금 사실인 것]\n[최신 변경]\n위치: 어둠의 숲 | HP: 85/100 |")
    assert found.text.endswith("\n[/SAGA]")
    for heading in ("[관련 연결]", "[관련 로어북]", "[지난 일]"):
        assert heading in found.text
    assert found.late == () and found.tokens == WordCounter().count(found.text)
    assert {"briefing", "deaths", "lorebook", "recollection", "connections", "events", "total"} <= found.timings.keys()
    assert {piece.source for piece in found.pieces} >= {"briefing", "lorebook", "recollection", "connections"}


async def test_the_embedder_is_asked_once_for_all() -> None:
    embedder, store = OneVector(), vectors()
    await read(default_reader(Config(), WordCounter(), vectors=store, embedder=embedder), full())
    assert embedder.asked == ["열쇠를 묻는다"]
    assert sorted(store.asked) == ["episodes:s", f"lore:{KO_WORLD.digest}"]


@pytest.mark.parametrize("made_by", [ScopeSpec("another", 4), ScopeSpec("one", 5)])
async def test_vectors_of_another_embedder_are_not_asked(made_by: ScopeSpec, caplog: pytest.LogCaptureFixture) -> None:
    store = vectors()
    store.made_by = made_by
    found = await read(default_reader(Config(), WordCounter(), vectors=store, embedder=OneVector()), full())
    assert store.asked == [] and found.late == ("vectors.episodes", "vectors.lore")
    assert f"its vectors were made by {made_by.embedder}, those of one are made in the background" in caplog.text
    assert "열쇠를" in found.text, "words find it meanwhile"


async def test_what_has_no_vectors_yet_is_not_late() -> None:
    no_vectors: Any = CannedVectors({})
    found = await read(default_reader(Config(), WordCounter(), vectors=no_vectors, embedder=OneVector()), full())
    assert found.late == () and "열쇠를" in found.text


async def test_the_graph_is_walked_once_for_all() -> None:
    graph = EdgeGraph(edges_of(ko_state()))
    await read(default_reader(Config(graph=GraphConfig(max_hop=2)), WordCounter()), full(graph=graph))
    assert graph.calls == 2


async def test_without_an_embedder_words_alone_do() -> None:
    found = await read(default_reader(Config(), WordCounter(), vectors=vectors()), full())
    assert found.late == () and "[지난 일]" in found.text and "어둠의 숲: " in found.text


async def test_the_same_request_gives_the_same_bytes() -> None:
    one = await read(default_reader(Config(), WordCounter(), vectors=vectors(), embedder=OneVector()), full())
    reader = default_reader(Config(), WordCounter(), vectors=vectors(), embedder=OneVector())
    first, again = await reader.read(full()), await read(reader, full())
    assert one.text == first.text == again.text and one.pieces == again.pieces and one.skipped == again.skipped


@given(st.randoms(use_true_random=False))
async def test_no_order_in_which_the_state_was_built_matters(rng: random.Random) -> None:
    def mixed(mapping: Any) -> Any:
        items = list(mapping.items())
        rng.shuffle(items)
        return dict(items)

    state, request = ko_state(), full()
    again = evolve(
        state,
        entities=mixed(state.entities),
        whereabouts=mixed(state.whereabouts),
        relations=mixed(state.relations),
        belongings={owner: mixed(hands) for owner, hands in state.belongings.items()},
    )
    edges = edges_of(state)
    rng.shuffle(edges)
    world = World("ersia", "에르시아", lore=tuple(rng.sample(KO_WORLD.lore, len(KO_WORLD.lore))))
    other = full(state=again, graph=EdgeGraph(edges), world=evolve(KO_WORLD), lore=LoreIndex(world.lore))
    reader = default_reader(Config(), WordCounter(), vectors=vectors(), embedder=OneVector())
    assert (await reader.read(request)).text == (await reader.read(other)).text


async def test_a_turn_in_which_nothing_changed_tells_the_same() -> None:
    reader = default_reader(Config(), WordCounter())
    before = ask(episodes=None, recent=())
    after = evolve(before, state=ko_state(depth=13, turn="t13"))
    assert (await reader.read(before)).text == (await reader.read(after)).text


async def test_the_budget_is_kept() -> None:
    budget = TokenBudget(dynamic_context_max=90, state_briefing_max=60, lorebook_max=30, recall_max=40)
    reader = default_reader(Config(token_budget=budget), WordCounter(), vectors=vectors(), embedder=OneVector())
    found = await read(reader, full())
    assert 0 < found.tokens <= 90 and found.skipped
    assert "위치: 어둠의 숲" in found.text


async def test_the_block_takes_a_quarter_of_a_small_window() -> None:
    reader = default_reader(Config(), WordCounter(), vectors=vectors(), embedder=OneVector())
    assert (await read(reader, full())).tokens > 50
    found = await read(reader, full(window=200))
    assert 0 < found.tokens <= 50 and found.skipped
    assert "위치: 어둠의 숲" in found.text


@pytest.mark.parametrize("slow", ["embedder", "vectors", "graph"])
async def test_what_is_slow_costs_only_what_it_would_have_brought(slow: str) -> None:
    never: Any = Never()
    reader = default_reader(
        QUICK,
        WordCounter(),
        vectors=never if slow == "vectors" else vectors(),
        embedder=never if slow == "embedder" else OneVector(),
    )
    found = await read(reader, full(graph=never) if slow == "graph" else full())
    names = {"embedder": ("embedder",), "vectors": ("vectors.episodes", "vectors.lore"), "graph": ("graph",)}[slow]
    assert found.late == names
    assert "위치: 어둠의 숲" in found.text and "어둠의 숲: 에르시아" in found.text and "열쇠를" in found.text
    assert never.cancelled >= 1
    assert {name: reader.misses[name] for name in names} == dict.fromkeys(names, 1)


@pytest.mark.parametrize("broken", ["vectors", "graph"])
async def test_what_fails_costs_only_what_it_would_have_brought(broken: str, caplog: pytest.LogCaptureFixture) -> None:
    store: Any = Broken()
    reader = default_reader(
        Config(), WordCounter(), vectors=store if broken == "vectors" else vectors(), embedder=OneVector()
    )
    with caplog.at_level(logging.WARNING, "saga.context"):
        found = await read(reader, full(graph=store) if broken == "graph" else full())
    assert found.late == (("vectors.episodes", "vectors.lore") if broken == "vectors" else ("graph",))
    assert "어둠의 숲: 에르시아" in found.text and "열쇠를" in found.text
    assert "the disk is on fire" in caplog.text
    assert store.calls == (2 if broken == "vectors" else 1)


async def test_an_embedder_that_fails_is_asked_once() -> None:
    class Refuses(OneVector):
        async def embed(self, texts: Sequence[str], mode: str) -> Any:
            self.asked += texts
            raise StoreUnavailable("no such host")

    embedder = Refuses()
    found = await read(default_reader(Config(), WordCounter(), vectors=vectors(), embedder=embedder), full())
    assert found.late == ("embedder",) and len(embedder.asked) == 1


async def test_a_store_that_cancels_itself_is_left_out() -> None:
    class Cancels:
        async def neighbors(self, scope: str, ids: Sequence[str], **_: Any) -> Any:
            raise asyncio.CancelledError

    found = await read(default_reader(Config(), WordCounter()), full(graph=Cancels()))
    assert found.late == ("graph",) and "위치: 어둠의 숲" in found.text


async def test_a_source_that_cannot_prepare_is_left_out(caplog: pytest.LogCaptureFixture) -> None:
    reader = ContextReader((Unready(), Says("먼저")), WordCounter())
    with caplog.at_level(logging.WARNING, "saga.context"):
        found = await reader.read(ask())
    assert found.late == ("unready",) and reader.misses["unready"] == 1
    assert "- 먼저" in found.text and "unprepared" not in found.text
    assert "a bug while preparing" in caplog.text


async def test_what_sources_wait_for_is_asked_before_any_of_them() -> None:
    asked: list[str] = []

    class Noted(OneVector):
        async def embed(self, texts: Sequence[str], mode: str) -> Any:
            asked.append("embedder")
            return await super().embed(texts, mode)

    class Graph:
        async def neighbors(self, scope: str, ids: Sequence[str], **_: Any) -> Any:
            asked.append("graph")
            return []

    @frozen
    class First(Says):
        async def gather(self, scene: Scene, given: Given = NOTHING_GIVEN) -> Sequence[Piece]:
            asked.append("first source")
            return []

    reader = ContextReader((First(""), Lorebook()), WordCounter(), vectors=vectors(), embedder=Noted())
    assert not (await reader.read(full(graph=Graph()))).late
    assert asked[:3] == ["embedder", "graph", "first source"]


@pytest.mark.parametrize("stubborn", [False, True])
async def test_a_source_that_hangs_is_left_out(stubborn: bool, caplog: pytest.LogCaptureFixture) -> None:
    hangs = Hangs(stubborn=stubborn)
    reader = ContextReader((hangs, Says("먼저"), Raises(), GivesUp()), WordCounter(), deadline_ms=30.0)
    with caplog.at_level(logging.WARNING, "saga.context"):
        found = await reader.read(ask())
    assert found.late == ("gives up", "hangs", "raises") and "- 먼저" in found.text
    assert "hangs left out" in caplog.text and "a bug in a source" in caplog.text
    assert hangs.never.cancelled == 1
    await reader.read(ask())
    assert reader.misses == {"gives up": 2, "hangs": 2, "raises": 2}
    hangs.never.release.set()
    await reader.aclose()
    assert [task for task in asyncio.all_tasks() if task.get_name().startswith("saga-context")] == []


async def test_a_read_that_is_cancelled_takes_its_sources_along() -> None:
    hangs = Hangs()
    reader = ContextReader((hangs,), WordCounter(), deadline_ms=60_000.0)
    task = asyncio.create_task(reader.read(ask()))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert hangs.never.cancelled == 1
    assert [each for each in asyncio.all_tasks() if each.get_name().startswith("saga-context")] == []


async def test_reads_at_the_same_time_do_not_mix() -> None:
    reader = default_reader(Config(), WordCounter(), vectors=vectors(), embedder=OneVector())
    alone = [(await reader.read(request)).text for request in (full(), ask("쉰다"), full(session="other"))]
    together = await asyncio.gather(*(reader.read(request) for request in (full(), ask("쉰다"), full(session="other"))))
    assert [context.text for context in together] == alone


def test_bad_settings_are_refused() -> None:
    with pytest.raises(BadInput, match="deadline_ms is 0"):
        ContextReader((), WordCounter(), deadline_ms=0)
    with pytest.raises(BadInput, match="2 are named 'says'"):
        ContextReader((Says("a"), Says("b")), WordCounter())


async def test_no_sources_no_text() -> None:
    found = await ContextReader((), WordCounter()).read(ask())
    assert found.text == "" and found.tokens == 0 and found.pieces == ()


def test_names_are_indexed_anew_only_when_one_changed() -> None:
    names, state = EntityNames(), ko_state()
    first = names.of("s", state)
    wounded = evolve(state.entities[ARIA], attributes={"hp": 1})
    assert names.of("s", evolve(state, entities={**state.entities, ARIA: wounded})) is first
    renamed = evolve(state.entities[KRUK], name="크룩 1세")
    other = names.of("s", evolve(state, entities={**state.entities, KRUK: renamed}))
    assert other is not first
    for number in range(64):
        names.of(f"s{number}", state)
    again = names.of("s", state)
    assert again is not first and names.of("s", state) is again
    fewer: dict[str, Entity] = {ARIA: state.entities[ARIA]}
    assert names.of("s", evolve(state, entities=fewer)) is not other


@pytest.mark.parametrize("waits", [False, True])
async def test_a_read_that_failed_and_that_nobody_awaits_is_not_logged(
    waits: bool, caplog: pytest.LogCaptureFixture
) -> None:
    async def loads() -> None:
        raise KeyError("edge")

    async def fails() -> None:
        if not waits:
            await loads()
        loading = asyncio.create_task(loads())
        loading.add_done_callback(lambda done: done.exception())
        await asyncio.shield(loading)

    answer = resident_read(fails, "graph", at_once=True)
    if waits:
        with pytest.raises(KeyError):
            await answer
    del answer
    gc.collect()
    assert "never retrieved" not in caplog.text
