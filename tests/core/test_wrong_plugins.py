"""A plugin that gives something else than it should is told which method, what it gave and what to give."""

from __future__ import annotations

from typing import Any

import pytest

from saga_core import Saga
from saga_core.counters import Counters
from saga_core.errors import BadInput
from saga_core.imports import Fit, Importers, read_file
from saga_core.model import WorldState
from saga_core.modules import Modules, ModuleTurn
from saga_core.storage.open_models import check_embedder
from saga_core.stores import Health, Proposal, StoreInfo


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


def test_a_module_that_gives_no_events_and_no_trackers() -> None:
    counters = Counters()
    modules = Modules((Odd(["it rains"]),), counters)
    assert modules.events(ModuleTurn(WorldState(), WorldState(), "", "", "t1")) == ()
    assert counters.degraded["module.odd"].startswith("rules gave a str; give events of saga_core.model.deltas; it is")
    assert modules.trackers("en") == ()
    assert counters.degraded["module.odd"].startswith("trackers gave a str; give saga_core.trackers.Tracker; it is")


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
