"""A plugin that gives something else than it should is told which method, what it gave and what to give."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator
from itertools import repeat
from pathlib import Path
from typing import Any

import pytest

from saga_backends.memory import MemoryCache, MemoryGraph, MemoryState, MemoryVector
from saga_core import Saga, registry
from saga_core.config import load_config
from saga_core.counters import Counters
from saga_core.errors import (
    BadInput,
    StoreCorrupt,
    StoreError,
    StoreLocked,
    StoreTimeout,
    StoreUnavailable,
    UpstreamError,
)
from saga_core.imports import (
    Card,
    Chat,
    ChatMessage,
    Fit,
    ForeignFile,
    Group,
    Importers,
    Lorebook,
    LoreItem,
    Persona,
    read_file,
)
from saga_core.maintenance import ImportOptions
from saga_core.model import Kind, Session, WorldState, deltas
from saga_core.modules import Modules, ModuleTurn, open_modules
from saga_core.registry import OpenOptions
from saga_core.storage import open_stores
from saga_core.storage.open_models import check_embedder, guarded
from saga_core.storage.opening import ForeignStore
from saga_core.stores import Batch, Health, Proposal, StoreInfo
from saga_core.trackers import Tracker

_TURN = ModuleTurn(WorldState(), WorldState(), "", "", "t1")


class Odd:
    """A module, a curator, an importer and an embedder that give what they were told to give."""

    name, version, kinds = "odd", 1, {"odd": "a file"}
    id, dimension, baseline, semantic = "odd", 1, 0.0, True
    info = StoreInfo(kind="curator", name="odd")

    def __init__(self, gives: Any) -> None:
        self.gives = gives

    def trackers(self, language: str) -> Any:
        return self.gives

    def rules(self, turn: ModuleTurn) -> Any:
        return self.gives

    def context(self, state: WorldState, language: str) -> Any:
        return ()

    def section(self, state: WorldState, language: str) -> Any:
        return ()

    def picture(self, state: WorldState, language: str) -> Any:
        return ""

    async def review(self, view: Any) -> Any:
        return self.gives

    def fits(self, file: Any) -> Fit:
        return Fit.DECLARED

    def read(self, file: Any) -> Any:
        return self.gives

    def embed(self, texts: Any, mode: Any) -> Any:
        return self.gives

    async def check(self, *, thorough: bool = False) -> Health:
        return Health(ok=True)

    async def aclose(self) -> None:
        pass


def versioned(version: Any) -> Odd:
    made = Odd([])
    made.version = version
    return made


def test_a_module_that_gives_no_events_and_no_trackers() -> None:
    counters = Counters()
    modules = Modules((Odd(["it rains"]),), counters)
    assert modules.events(_TURN) == ()
    assert counters.degraded["module.odd"].startswith("rules gave a str; give events of saga_core.model.deltas; it is")
    assert modules.trackers("en") == ()
    assert counters.degraded["module.odd"].startswith("trackers gave a str; give saga_core.trackers.Tracker; it is")


def test_a_module_that_gives_more_than_a_turn_can_hold() -> None:
    counters = Counters()
    modules = Modules((Odd([deltas.Noted("x" * 20_000)] * 60),), counters)
    assert modules.events(_TURN) == ()
    assert "characters in all; give at most 1,000,000; it is left out" in counters.degraded["module.odd"]


async def _later() -> str:
    return "<svg/>"


@pytest.mark.parametrize(
    ("method", "gives", "told"),
    [
        ("picture", lambda: b"<svg/>", "picture gave a bytes; give an SVG as a text, or '' for none"),
        ("picture", lambda: 5, "picture gave a int; give an SVG as a text"),
        ("picture", lambda: "<b>a map</b>", "picture gave '<b>a map</b>'; give an SVG, or '' for none"),
        ("picture", _later, "picture is asynchronous; write it with def"),
        ("section", lambda: b"hungry", "section gave a text; give a list of lines"),
        ("section", lambda: [b"hungry"], "section gave b'hungry' as a line; give texts"),
        ("section", lambda: ["hungry", None], "section gave None as a line; give texts"),
        ("section", lambda: repeat("hungry"), "section gave more than 1,000 lines; give fewer"),
        ("section", lambda: None, "section gave a NoneType; give a list"),
        ("context", lambda: [b"hungry"], "context gave b'hungry' as a line; give texts"),
        ("context", lambda: repeat("hungry"), "context gave more than 1,000 lines; give fewer"),
    ],
)
def test_a_module_that_shows_something_else_is_left_out(method: str, gives: Callable[[], Any], told: str) -> None:
    counters = Counters()
    module = Odd([])
    modules = Modules((module,), counters)
    setattr(module, method, lambda state, language: gives())
    shown = modules.sections(WorldState(), "en")
    assert shown == [{"name": "odd", "version": 1, "lines": [], "picture": False}]
    assert modules.context(WorldState(), "en") == ()
    assert modules.picture("odd", WorldState(), "en") == ""
    assert counters.degraded["module.odd"].startswith(told)
    setattr(module, method, lambda state, language: "" if method == "picture" else [])
    modules.sections(WorldState(), "en")
    modules.context(WorldState(), "en")
    assert counters.degraded == {}


@pytest.mark.parametrize("svg", ["<svg/>", '<?xml version="1.0"?><ns0:svg xmlns:ns0="x"></ns0:svg>', "", None])
def test_a_module_that_draws(svg: str | None) -> None:
    counters = Counters()
    module = Odd([])
    module.picture = lambda state, language: svg  # type: ignore[method-assign, assignment]
    modules = Modules((module,), counters)
    assert [each["picture"] for each in modules.sections(WorldState(), "en")] == [bool(svg)]
    assert modules.picture("odd", WorldState(), "en") == (svg or "")
    assert counters.degraded == {}


@pytest.mark.parametrize(
    ("gives", "told"),
    [
        (deltas.Noted(5), "Noted(text=5); give a text; it is left out"),  # type: ignore[arg-type]
        (
            deltas.Noted("a\ud800"),
            "Noted(text='a\\ud800'); give a text of at most 20,000 characters that UTF-8 can store",
        ),
        (deltas.Noted("a" * 20_001), "…); give a text of at most 20,000"),
        (deltas.EventTriggered("storm", None), "EventTriggered(name=None); give a text"),  # type: ignore[arg-type]
        (deltas.EventTriggered("storm", "Storm", (1,)), "(who=(1,)); give a tuple, each a text"),  # type: ignore[arg-type]
        (deltas.ValueSet("odd.last", 5), "ValueSet(value=5); give a text or None"),  # type: ignore[arg-type]
        (deltas.TrackerChanged("gold", 0.5), "TrackerChanged(by=0.5); give a whole number"),  # type: ignore[arg-type]
        (deltas.TrackerChanged("gold", True), "TrackerChanged(by=True); give a whole number"),
        (deltas.TrackerChanged("bag", added="rope"), "(added='rope'); give a tuple, each a text"),  # type: ignore[arg-type]
        (deltas.TrackerSet("gold", float("nan")), "TrackerSet(value=nan); give a text"),
        (deltas.Introduced("i1", "item", "Rope"), "Introduced(kind='item'); give a Kind"),  # type: ignore[arg-type]
        (
            deltas.TrackersDeclared((Tracker(name="x", least="1"),)),
            "TrackersDeclared, trackers 1: Tracker(least='1'); give a whole number or None",
        ),  # type: ignore[arg-type]
    ],
)
def test_an_event_with_a_field_of_another_type_changes_nothing(gives: Any, told: str) -> None:
    counters = Counters()
    modules = Modules((Odd([deltas.Noted("right"), gives]),), counters)
    assert modules.events(_TURN) == ()
    assert told in counters.degraded["module.odd"]
    assert counters.degraded["module.odd"].startswith("rules gave ")


def test_a_tracker_with_a_field_of_another_type_is_not_declared() -> None:
    counters = Counters()
    assert Modules((Odd([Tracker(name="oil", least="1")]),), counters).trackers("en") == ()  # type: ignore[arg-type]
    assert "trackers gave Tracker(least='1'); give a whole number or None" in counters.degraded["module.odd"]


def test_events_of_every_sort_of_field_are_taken() -> None:
    rope = deltas.Introduced("i1", Kind.ITEM, "Rope", ("line",), {"worn": 0.5, "marks": ("x", 1, None)})
    given = [rope, deltas.TrackersDeclared((Tracker(name="oil", steps=((1, "low"),)),)), deltas.ValueSet("odd.x", None)]
    assert Modules((Odd(given),)).events(_TURN)[1:] == tuple(given)


def test_more_events_than_a_turn_takes() -> None:
    counters = Counters()
    assert Modules((Odd([deltas.Noted("x")] * 1_001),), counters).events(_TURN) == ()
    assert "rules gave more than 1,000; give fewer" in counters.degraded["module.odd"]


def test_an_object_that_is_no_module(monkeypatch: pytest.MonkeyPatch) -> None:
    for made, told in (
        (object(), "is no module, for it lacks name, version, trackers, rules, context, section, picture"),
        (versioned("1"), "its version is '1'; give a whole number"),
    ):
        monkeypatch.setattr("saga_core.modules.module.object_at", lambda point, made=made: made)
        with pytest.raises(BadInput, match=f"modules.rpg: .*{told}"):
            open_modules({"rpg": True}, Counters())


def test_a_module_whose_class_needs_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    """It was imported, so that is not what is told."""
    monkeypatch.setattr(registry, "_configured", {})
    registry.add_entry_points({"saga.modules": {"needs": "argparse:Action"}})
    with pytest.raises(StoreUnavailable, match=r"^modules\.needs: argparse:Action cannot be loaded: .* missing 2 "):
        open_modules({"needs": True}, Counters())


def proposal(**fields: Any) -> Proposal:
    return Proposal(**{"kind": "event", "summary": "soon", **fields})


@pytest.mark.parametrize(
    ("gives", "told"),
    [
        ([{"kind": "lore"}], "review gave a dict among its proposals; give saga_core.stores.Proposal"),
        ({"kind": "lore"}, "review gave a dict; give a tuple of saga_core.stores.Proposal"),
        ((proposal(data={"due": 4}),), "the proposal 'soon': data: is 4, a int; give a text"),
        ((proposal(data=[4]),), "the proposal 'soon': data: is [4], a list; give a mapping of texts"),
        ((proposal(turns=(Session("s1", "t1"),)),), "the proposal 'soon': turns: is Session(id='s1'"),
        ((proposal(turns=(5,)),), "the proposal 'soon': turns: is 5, a int; give ids, such as turn.id"),
        ((proposal(turns="t01"),), "the proposal 'soon': turns is 't01'; give a tuple of ids"),
        ((proposal(entities="e01"),), "the proposal 'soon': entities is 'e01'; give a tuple of ids"),
        ((proposal(entities=(5,)),), "the proposal 'soon': entities: is 5, a int; give ids, such as entity.id"),
        ((proposal(summary=5),), "the proposal 5: summary: is 5, a int; give a text"),
        ((proposal(kind=None),), "the proposal 'soon': kind: is None, a NoneType; give a text"),
    ],
)
async def test_a_curator_that_gives_no_proposals(gives: Any, told: str) -> None:
    config = {"storage": {"profile": "memory"}, "curator": {"interval": 1}}
    async with Saga.open(config, curator=Odd(gives)) as saga:
        turn = await saga.begin([{"role": "user", "content": "I look around."}])
        turn.replies[0].feed("Fog.")
        await turn.commit()
        await saga.drain(5)
        assert told in str(saga.counters.degraded)


@pytest.mark.parametrize(
    ("gives", "told"),
    [
        ([("odd", {"name": "Mira"})], "give pairs of a kind and a record of saga_core.imports"),
        (None, "read gave None; give pairs of a kind and a record"),
        ([("other", Chat(name="x"))], "read gave a record of the kind 'other'; the kinds are odd"),
    ],
)
def test_an_importer_that_gives_no_records(gives: Any, told: str, caplog: pytest.LogCaptureFixture) -> None:
    (refused,) = read_file("x", b"{}", Importers({"odd": Odd(gives)}, {})).refused
    assert refused.why.startswith("the importer odd failed at it: ") and told in refused.why
    assert told in caplog.text


SAID = ChatMessage(role="user", text="I come.", speaker="me")


def chat(**reply: Any) -> Chat:
    return Chat.of(
        "a chat", [SAID, ChatMessage(**{"role": "assistant", "text": "Hello.", "speaker": "Odile", **reply})]
    )


@pytest.mark.parametrize(
    ("record", "told"),
    [
        (chat(text=None), "Chat, messages 2: ChatMessage(text=None); give a text"),
        (chat(text=5), "Chat, messages 2: ChatMessage(text=5); give a text"),
        (chat(text=b"Hello."), "Chat, messages 2: ChatMessage(text=b'Hello.'); give a text"),
        (chat(speaker=None), "Chat, messages 2: ChatMessage(speaker=None); give a text"),
        (chat(at=float("nan")), "Chat, messages 2: ChatMessage(at=nan); give a number"),
        (chat(swipes="abc"), "Chat, messages 2: ChatMessage(swipes='abc'); give a tuple, each a text"),
        (chat(role="player"), "ChatMessage(role='player'); give 'user' or 'assistant' or 'narrator'"),
        (Chat.of(None, [SAID]), "Chat(name=None); give a text"),  # type: ignore[arg-type]
        (Chat(name="x", messages=[SAID]), "give a tuple, each a ChatMessage"),  # type: ignore[arg-type]
        (Chat(name="x", messages=({"role": "user"},)), "give a tuple, each a ChatMessage"),  # type: ignore[arg-type]
        (Card(version="2", name=None), "Card(name=None); give a text"),  # type: ignore[arg-type]
        (Card(version="2", name="x", tags=("a", 1)), "Card(tags=('a', 1))"),  # type: ignore[arg-type]
        (
            Card(version="2", name="x", book=Lorebook(items=(LoreItem(title="a", content=None),))),  # type: ignore[arg-type]
            "read gave Card, book: Lorebook, items 1: LoreItem(content=None); give a text",
        ),
        (Persona(5), "Persona(name=5); give a text"),  # type: ignore[arg-type]
        (Group(name="x", parents=[("a", "b")]), "give a mapping"),  # type: ignore[arg-type]
    ],
)
async def test_an_importer_that_gives_records_with_fields_of_another_type(
    record: Any, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its file is refused with its name, the field and what to give. The file beside it is imported."""

    class Reads(Odd):
        def read(self, file: ForeignFile) -> Any:
            return [("odd", record if b"bad" in file.raw else chat())]

    monkeypatch.setattr("saga_core.imports.importer.importers", lambda: Importers({"odd": Reads([])}, {}))
    async with Saga.open({"storage": {"profile": "memory"}}) as saga:
        done = await saga.maintenance.import_files([("bad", b"bad"), ("good", b"good")], ImportOptions())
    (refused,) = done.refused
    assert refused.file == "bad" and refused.why.startswith("the importer odd failed at it: read gave ")
    assert told in refused.why
    assert [(each.file, each.state) for each in done.things] == [("good", "new")]


def test_an_importer_that_notes_a_loss_that_is_none() -> None:
    class Loses(Odd):
        def read(self, file: ForeignFile) -> Any:
            file.losses.add("mood", "lost", "nobody knows it")  # type: ignore[arg-type]
            return [("odd", chat())]

    (refused,) = read_file("x", b"{}", Importers({"odd": Loses([])}, {})).refused
    assert "read gave Loss(verdict='lost'); give 'mapped' or 'dropped'" in refused.why


def test_an_importer_may_give_long_texts_of_any_kind_of_str() -> None:
    class Node(str):
        """As parsers of HTML give them."""

    (found,) = read_file("x", b"{}", Importers({"odd": Odd([("odd", chat(text=Node("a" * 50_000)))])}, {})).found
    assert found.file == "x"


def test_an_importer_that_finds_nothing_or_gives_no_fit(caplog: pytest.LogCaptureFixture) -> None:
    empty = Odd([])
    (refused,) = read_file("x", b"{}", Importers({"odd": empty}, {})).refused
    assert refused.why == "the importer odd found nothing in it"
    empty.fits = lambda file: True  # type: ignore[method-assign, assignment, return-value]
    (refused,) = read_file("x", b"{}", Importers({"odd": empty}, {})).refused
    assert refused.why == "the importer odd failed at it: fits gave True; give a Fit of saga_core.imports"
    assert "fits gave True; give a Fit of saga_core.imports" in caplog.text


def test_a_file_that_another_importer_takes_says_what_failed() -> None:
    wrong = Odd([])
    wrong.fits = lambda file: file.json["nope"]  # type: ignore[method-assign]
    read = Importers({"wrong": wrong, "odd": Odd([("odd", chat(text="Hm."))])}, {})
    (found,) = read_file("x", b"{}", read).found
    assert [loss for loss in found.losses if "the importer wrong failed at it (KeyError" in str(loss)]


def test_an_embedder_that_is_not_asynchronous() -> None:
    with pytest.raises(BadInput, match=r"mine: Odd\.embed is not asynchronous; write it with async def"):
        check_embedder("mine", Odd([]))


# -- opening and closing -----------------------------------------------------------------------------------------

_OF = {
    "state": ("storage.state", lambda: {"storage": {"profile": "memory", "state": "bad"}}),
    "graph": ("storage.graph", lambda: {"storage": {"profile": "memory", "graph": "bad"}}),
    "vector": ("storage.vector", lambda: {"storage": {"profile": "memory", "vector": "bad"}}),
    "cache": ("storage.cache", lambda: {"storage": {"profile": "memory", "cache": "bad"}}),
    "embedder": ("recall.embedder", lambda: _memory(recall={"embedder": "bad"})),
    "tokens": ("token_budget.counter", lambda: _memory(token_budget={"counter": "bad"})),
    "curator": ("curator.backend", lambda: _memory(curator={"backend": "bad"})),
    "context": ("recall.sources.bad", lambda: _memory(recall={"sources": {"bad": {}}})),
    "strategy": ("memory_strategies.bad.use", lambda: _memory(memory_strategies={"bad": {}})),
}
"""The setting that names a plugin of each kind, and a configuration with it."""


def _memory(**tree: Any) -> dict[str, Any]:
    return {"storage": {"profile": "memory"}, **tree}


@pytest.fixture
def bad(request: pytest.FixtureRequest) -> Iterator[Callable[[str, Any], None]]:
    """Registers what opens the plugin ``bad`` of a kind."""
    names: list[str] = []

    def add(kind: str, opener: Any) -> None:
        names.append(f"{kind}.bad")
        registry.register(names[-1], opener)

    yield add
    for name in names:
        registry.unregister(name)


@pytest.mark.parametrize("kind", _OF)
@pytest.mark.parametrize(
    ("error", "todo"),
    [
        (ImportError, "install it"),
        (RuntimeError, "options"),
        (ConnectionRefusedError, "start what it connects to, or correct its address in "),
        (StoreUnavailable, ""),
    ],
)
async def test_a_plugin_that_cannot_be_opened_is_named_with_its_setting(
    kind: str, error: type[Exception], todo: str, bad: Callable[[str, Any], None]
) -> None:
    async def fails(options: OpenOptions) -> Any:
        raise error("it is away")

    bad(kind, fails)
    at, config = _OF[kind]
    if kind in ("graph", "vector") and error is ImportError:
        async with Saga.open(config()) as saga:  # another engine takes its place
            assert saga.counters.degraded[f"{kind}.bad"].startswith(f"{at}: bad cannot be opened (ImportError: ")
        return
    with pytest.raises(StoreUnavailable) as caught:
        await Saga.open(config())
    told = str(caught.value)
    assert told.startswith(f"{at}: bad")
    assert "it is away" in told and todo in told


async def test_an_error_at_opening_without_a_remedy_gets_one(bad: Callable[[str, Any], None], tmp_path: Path) -> None:
    class Torn:
        def __init__(self, options: OpenOptions) -> None:
            raise StoreError("file is not a database")

    bad("graph", Torn)
    config = {"storage": {"path": str(tmp_path), "graph": "bad"}}
    plain = r"^storage\.graph: bad: file is not a database; "
    with pytest.raises(StoreError, match=plain + r"check storage\.graph\.options, .* or name another backend$"):
        await Saga.open(config)
    (tmp_path / "graph.bad").write_text("torn")
    damaged = r"if another engine wrote .*graph\.bad, give another storage\.graph\.path; if it is damaged, move it away"
    with pytest.raises(StoreError, match=plain + damaged):
        await Saga.open(config)


@pytest.mark.parametrize("kind", sorted(_OF.keys() - {"tokens", "strategy"}))
async def test_a_plugin_that_cannot_be_closed_is_named_with_its_setting(
    kind: str, bad: Callable[[str, Any], None]
) -> None:
    opened: list[Any] = []

    async def opens(options: OpenOptions) -> Any:
        given: Any = _PLAIN[kind]()

        async def fails() -> None:
            raise RuntimeError("cannot close")

        given.aclose = fails
        opened.append(given)
        return given

    bad(kind, opens)
    at, config = _OF[kind]
    saga = await Saga.open(config())
    with pytest.raises(StoreError, match=rf"^{at}: .*failed in aclose \(RuntimeError: cannot close\)"):
        await saga.aclose()
    assert len(opened) == 1


async def test_a_store_that_does_not_end_is_named(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(registry, "CLOSING_SECONDS", 0.01)
    saga = await Saga.open(_memory())
    ends = asyncio.Event()
    monkeypatch.setattr(saga.stores.graph, "aclose", ends.wait)
    closing = asyncio.create_task(saga.aclose(drain=0))
    await asyncio.sleep(0.1)
    assert saga.stores.closing == "storage.graph"
    ends.set()
    await closing
    assert "storage.graph: memory is still in aclose after 0.01 s; what was recorded is safe" in caplog.text


async def test_a_store_of_another_author_that_does_not_end_is_named_once(
    bad: Callable[[str, Any], None], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(registry, "CLOSING_SECONDS", 0.01)

    class Slow(MemoryGraph):
        async def aclose(self) -> None:
            await asyncio.sleep(0.1)

    bad("graph", Slow)
    saga = await Saga.open(_OF["graph"][1]())
    await saga.aclose(drain=0)
    assert caplog.text.count("is still in aclose") == 1


async def test_a_store_of_ours_that_cannot_be_closed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    async def fails() -> None:
        raise RuntimeError("cannot close")

    saga = await Saga.open(_memory())
    monkeypatch.setattr(saga.stores.graph, "aclose", fails)
    with pytest.raises(StoreError, match=r"^storage\.graph: memory failed in aclose \(RuntimeError: cannot close\); "):
        await saga.aclose(drain=0)


class Needs:
    def __init__(self, host: str, port: int) -> None: ...


async def takes_nothing() -> Any: ...


@pytest.mark.parametrize(("opener", "form"), [(Needs, r"Needs\(host: 'str', port"), (takes_nothing, r"nothing\(\)")])
def test_what_cannot_be_called_with_the_options_alone(opener: Any, form: str) -> None:
    with pytest.raises(BadInput, match=rf"^state backend 'x': .*{form}.* cannot be called with OpenOptions alone \("):
        registry.register("state.x", opener)


class Weather:
    name, needs = "bad", ()

    async def gather(self, scene: Any, given: Any = None) -> Any:
        return []


class Foreign(MemoryState):
    pass


_PLAIN: dict[str, Callable[[], Any]] = {
    "state": Foreign,
    "graph": type("Graph", (MemoryGraph,), {}),
    "vector": type("Vectors", (MemoryVector,), {}),
    "cache": type("Cache", (MemoryCache,), {}),
    "embedder": lambda: AsyncOdd([]),
    "curator": lambda: Odd(()),
    "context": Weather,
}


class AsyncOdd(Odd):
    async def embed(self, texts: Any, mode: Any) -> Any:
        return self.gives


# -- views that are away -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["graph", "vector", "cache"])
@pytest.mark.parametrize("error", [StoreUnavailable, RuntimeError])
async def test_the_story_goes_on_while_a_derived_store_is_away(
    kind: str, error: type[Exception], bad: Callable[[str, Any], None], caplog: pytest.LogCaptureFixture
) -> None:
    async def fails(options: OpenOptions) -> Any:
        raise error("10.0.0.1 is away")

    bad(kind, fails)
    async with Saga.open(_OF[kind][1](), tolerant=True) as saga:
        turn = await saga.begin([{"role": "user", "content": "I look around."}])
        turn.replies[0].feed("Fog.")
        await turn.commit()
        await saga.drain(5)
        status = await saga.status()
    told = status["degraded"][f"{kind}.bad"]
    assert told.startswith(f"storage.{kind}: bad") and "10.0.0.1 is away" in told
    assert told.endswith("until it can be opened, these views are kept in memory")
    assert status["counters"][f"degraded.{kind}.bad"] == 1
    assert told in caplog.text
    assert status["stores"][kind]["backend"] == "memory"


async def _never(options: OpenOptions) -> Any:
    await asyncio.Event().wait()


@pytest.mark.parametrize("kind", ["graph", "vector", "cache"])
async def test_the_story_goes_on_though_a_derived_store_never_opens(
    kind: str, bad: Callable[[str, Any], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "OPEN_SECONDS", 0.02)
    bad(kind, _never)
    async with asyncio.timeout(5), Saga.open(_OF[kind][1](), tolerant=True) as saga:
        status = await saga.status()
    told = f"storage.{kind}: bad did not open within 0.02 s; until it can be opened, these views are kept in memory"
    assert status["degraded"][f"{kind}.bad"] == told


async def test_a_journal_that_never_opens_ends_the_start(
    bad: Callable[[str, Any], None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(registry, "OPEN_SECONDS", 0.02)
    bad("state", _never)
    (tmp_path / "state.bad").write_text("data")
    config = {"storage": {"path": str(tmp_path), "state": {"backend": "bad"}}}
    with pytest.raises(StoreTimeout, match=r"^storage\.state: bad did not open within 0\.02 s$"):
        async with asyncio.timeout(5):
            await Saga.open(config, tolerant=True)


async def test_a_damaged_journal_of_another_engine_is_told_and_the_story_goes_on(
    bad: Callable[[str, Any], None], tmp_path: Path
) -> None:
    async def torn(options: OpenOptions) -> Any:
        raise StoreCorrupt("block 7 is torn; put a backup in its place")

    bad("state", torn)
    config = {"storage": {"path": str(tmp_path), "state": {"backend": "bad"}}}
    with pytest.raises(StoreCorrupt, match=r"^storage\.state: bad: block 7 is torn"):
        await Saga.open(config)
    async with Saga.open(config, tolerant=True) as saga:
        turn = await saga.begin([{"role": "user", "content": "I look around."}])
        assert turn.notices == ("this turn is played without memory, and is not recorded",)
        assert set(saga.counters.degraded) >= {"journal.damaged"}
        told = saga.counters.degraded["journal.damaged"]
    assert told.startswith("storage.state: bad: block 7 is torn; put a backup in its place. Nothing is written to it.")


# -- answers of a journal ----------------------------------------------------------------------------------------


class Coroutine(MemoryState):
    async def commit(self, batch: Any, *, expected: Any = None) -> Any:
        return super().commit(batch, expected=expected)


class SaysNo(MemoryState):
    async def commit(self, batch: Any, *, expected: Any = None) -> Any:
        return False


class Views(MemoryState):
    async def get(self, keys: Any) -> Any:
        return {key: memoryview(value) for key, value in (await super().get(keys)).items()}

    async def scan(self, *args: Any, **named: Any) -> Any:
        return [(key, value.decode()) for key, value in await super().scan(*args, **named)]


async def _foreign(store: Any) -> Any:
    opened = await open_stores(load_config(_memory()), Counters(), stores={"state": store})
    return opened.state


@pytest.mark.parametrize(
    ("store", "told"),
    [
        (Coroutine, r"stores\['state'\]: memory answered commit with a coroutine; await what does the work"),
        (SaysNo, r"stores\['state'\]: memory answered commit with bool; give None"),
    ],
)
async def test_a_commit_that_answers_something_is_no_commit(store: Any, told: str) -> None:
    state = await _foreign(store())
    with pytest.raises(StoreError, match=told):
        await state.commit(Batch({("a",): b"1"}))


class Forgets(MemoryState):
    """Takes what it is given, and keeps nothing."""

    async def commit(self, batch: Any, *, expected: Any = None) -> None:
        pass


@pytest.mark.parametrize(
    ("store", "told"),
    [
        (Coroutine, "answered commit with a coroutine"),
        (SaysNo, "answered commit with bool"),
        (Forgets, "the journal lost a session that it had just taken; its commit must have written"),
    ],
)
async def test_the_story_goes_on_though_nothing_is_committed(store: Any, told: str) -> None:
    async with Saga.open(_memory(), stores={"state": store()}, tolerant=True) as saga:
        turn = await saga.begin([{"role": "user", "content": "I go on."}])
        assert turn.notices == ("this turn is played without memory, and is not recorded",)
        assert told in saga.counters.degraded["journal.read"]
        with pytest.raises(BadInput, match=r"^session: is empty; .* played without memory has none"):
            await saga.describe(turn.session.id)


@pytest.mark.parametrize(
    ("kind", "method", "gives", "told"),
    [
        ("graph", "neighbors", [("a", "b")], r"\('a', 'b'\); give each as an Edge"),
        ("graph", "get", {"a": {"id": "a"}}, r"\{'id': 'a'\}; give each as a Node"),
        ("graph", "scopes", [1], "1; give each as a str"),
        ("graph", "watermark", True, "bool; give a str or None"),
        ("vector", "describe", "x", "str; give a ScopeSpec or None"),
        ("vector", "count", "x", "str; give an int"),
        ("vector", "query", [("id", 0.5)], r"\('id', 0.5\); give each as a Hit"),
        ("cache", "read", "x", "str; give a Pages or None"),
        ("state", "scan", [(("a",), b"1")], r"\('a',\), which is not below \('asked',\); give only keys that begin"),
    ],
)
async def test_a_part_of_an_answer_that_has_the_wrong_type_is_named(
    kind: str, method: str, gives: Any, told: str
) -> None:
    store = _PLAIN[kind]()

    async def answers(*_: Any, **__: Any) -> Any:
        return gives

    setattr(store, method, answers)
    foreign = ForeignStore(f"storage.{kind}", store, Counters(), owned=True)
    with pytest.raises(StoreError, match=rf"^storage\.{kind}: memory answered {method} with {told}"):
        await getattr(foreign, method)(("asked",))


async def test_values_that_are_no_bytes_are_named_where_they_come_from() -> None:
    inner = Views()
    state = await _foreign(inner)
    await state.commit(Batch({("a",): b"1"}))
    with pytest.raises(StoreError, match=r"answered get with .*memory at .*; give keys .*, and values that are bytes"):
        await state.get([("a",)])
    with pytest.raises(StoreError, match=r"answered scan with \(\('a',\), '1'\); give keys"):
        await state.scan(("a",))


async def test_a_class_in_the_place_of_a_curator_is_named() -> None:
    with pytest.raises(BadInput, match=r"curator: <class .*Odd'> is no curator store; give an instance"):
        await Saga.open(_memory(), curator=Odd)  # type: ignore[arg-type]


class Rows(Odd):
    """An embedder whose vectors are no list, as an array of two dimensions is none."""

    async def embed(self, texts: Any, mode: Any) -> Any:
        return {each: [1.0] for each in texts}


async def test_an_embedder_that_gives_no_list_of_vectors() -> None:
    told = "recall.embedder: odd gave a dict for 2 texts; give a list with a vector for each text, in their order"
    with pytest.raises(UpstreamError, match=re.escape(told)):
        await guarded("recall.embedder", Rows([])).embed(["a", "b"], "passage")


@pytest.mark.parametrize("id_", [None, "", 5])
def test_an_embedder_without_an_id(id_: Any) -> None:
    made = Rows([])
    made.id = id_
    with pytest.raises(BadInput, match=re.escape(f"mine: its id is {id_!r}; give a text that names it")):
        check_embedder("mine", made)


async def test_a_class_that_takes_its_path_is_told_what_it_gets(
    tmp_path: Path, bad: Callable[[str, Any], None]
) -> None:
    class AtPath(MemoryState):
        def __init__(self, path: Any) -> None:
            super().__init__()
            self.file = Path(path)

    bad("state", AtPath)
    with pytest.raises(StoreError, match=r"gets OpenOptions as its one argument; take path, url and options from"):
        await Saga.open({"storage": {"path": str(tmp_path), "state": "bad"}})


async def test_two_stores_with_one_path_are_both_named(tmp_path: Path) -> None:
    path = str(tmp_path / "both.db")
    storage = {"path": str(tmp_path), "state": {"path": path}, "vector": {"path": path}}
    both = f"storage.vector.path: {path} is the path of storage.state, too; give each store a path of its own"
    with pytest.raises(StoreLocked, match=re.escape(both)):
        await Saga.open({"storage": storage})
