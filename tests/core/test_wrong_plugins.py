"""A plugin that gives something else than it should is told which method, what it gave and what to give."""

from __future__ import annotations

from typing import Any

import pytest

from saga_core import Saga
from saga_core.counters import Counters
from saga_core.errors import BadInput
from saga_core.imports import Fit, Importers, read_file
from saga_core.model import Kind, WorldState, deltas
from saga_core.modules import Modules, ModuleTurn, open_modules
from saga_core.storage.open_models import check_embedder
from saga_core.stores import Health, Proposal, StoreInfo
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

    def picture(self, state: WorldState, language: str) -> str:
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
        (deltas.TrackersDeclared((Tracker(name="x", least="1"),)), "TrackersDeclared(trackers=("),  # type: ignore[arg-type]
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


@pytest.mark.parametrize(
    ("gives", "told"),
    [
        ([{"kind": "lore"}], "review gave a dict among its proposals; give saga_core.stores.Proposal"),
        ({"kind": "lore"}, "review gave a dict; give a tuple of saga_core.stores.Proposal"),
        ((Proposal("event", "soon", data={"due": 4}),), "'soon' has data that is no text: {'due': 4}; give texts"),  # type: ignore[dict-item]
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


def test_an_importer_that_gives_no_records(caplog: pytest.LogCaptureFixture) -> None:
    (refused,) = read_file("x", b"{}", Importers({"odd": Odd([("odd", {"name": "Mira"})])}, {})).refused
    assert "the importer odd failed at it (TypeError)" in refused.why
    assert "give pairs of a kind and a record of saga_core.imports" in caplog.text


def test_an_embedder_that_is_not_asynchronous() -> None:
    with pytest.raises(BadInput, match=r"mine: Odd\.embed is not asynchronous; write it with async def"):
        check_embedder("mine", Odd([]))
