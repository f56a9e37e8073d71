"""Backends by name: found by their entry points, and refused in words that say what to do."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from typing import Any

import pytest

from saga_core import registry
from saga_core.errors import BadInput, StoreUnavailable
from saga_core.registry import Backend, OpenOptions


async def opened(options: OpenOptions) -> OpenOptions:
    return options


FINE = Backend("state", "fine", opened, warm_up=("json.decoder",))
FORMER = Backend("state", "former", opened, late=("csv",))
LACKING = Backend("state", "lacking", opened, warm_up=("no_module_of_that_name.part",))
NONE = object()


@pytest.fixture
def points(monkeypatch: pytest.MonkeyPatch) -> None:
    """Entry points of this very module in the place of those that are installed."""
    names = {"state.fine": "FINE", "state.former": "FORMER", "state.lacking": "LACKING", "state.none": "NONE"}
    found = [EntryPoint(name, f"{__name__}:{value}", registry.GROUP) for name, value in names.items()]
    found += [EntryPoint("graph.broken", "no_module_of_that_name:X", registry.GROUP)]
    monkeypatch.setattr(registry, "entry_points", lambda **_: found)


@pytest.mark.usefixtures("points")
def test_backends_are_listed_by_kind_in_order() -> None:
    assert registry.names("state") == ["fine", "former", "lacking", "none"]
    assert registry.names("graph") == ["broken"] and registry.names("sta") == registry.names("vector") == []


def test_an_unknown_name_is_told_with_those_that_are_known() -> None:
    with pytest.raises(BadInput, match=r"no state backend 'postgress'; known: .*memory.*sqlite"):
        registry.load("state", "postgress")
    with pytest.raises(BadInput, match="none are installed"):
        registry.load("nothing", "x")
    assert registry.load("state", "memory").name == "memory"


@pytest.mark.usefixtures("points")
def test_what_cannot_be_used_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(
        StoreUnavailable, match=r"backend 'graph\.broken' \(no_module_of_that_name:X\) cannot be imported"
    ):
        registry.load("graph", "broken")
    monkeypatch.setattr(EntryPoint, "load", lambda point: globals()[point.value.rpartition(":")[2]])
    with pytest.raises(StoreUnavailable, match="pip install no_module_of_that_name"):
        registry.load("state", "lacking")
    with pytest.raises(BadInput, match=r"is no saga_core\.registry\.Backend"):
        registry.load("state", "none")
    assert registry.load("state", "fine") is FINE and registry.load("state", "former") is FORMER
    assert {"json.decoder", "csv"} <= set(registry.warm_up())
    assert "no_module_of_that_name.part" not in registry.warm_up()


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        ({}, {"size": 4, "name": "x", "scale": 1.0, "any": None}),
        ({"size": 9, "scale": 2, "any": [1]}, {"size": 9, "name": "x", "scale": 2, "any": [1]}),
    ],
)
def test_options_are_taken_over_the_defaults(given: dict[str, Any], taken: dict[str, Any]) -> None:
    assert OpenOptions(options=given).take(size=4, name="x", scale=1.0, any=None) == taken


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"sise": 4}, r"options\.sise: unknown option; this backend takes: name, size"),
        ({"size": "4"}, r"options\.size: '4' is a str; give a int"),
        ({"size": True}, r"options\.size: True is a bool; give a int"),
    ],
)
def test_other_options_are_refused_by_name(given: dict[str, Any], why: str) -> None:
    with pytest.raises(BadInput, match=why):
        OpenOptions(options=given).take(size=4, name="x")
    with pytest.raises(BadInput, match="this backend takes: none"):
        OpenOptions(options=given).take()


def test_a_url_is_not_shown() -> None:
    assert "secret" not in repr(OpenOptions(url="https://user:secret@host"))
