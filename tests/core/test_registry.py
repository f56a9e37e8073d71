"""Backends by name: found by their entry points, and refused in words that say what to do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from saga_backends.memory import MemoryState
from saga_core import Saga, registry
from saga_core.errors import BadInput, StoreUnavailable
from saga_core.registry import Backend, OpenOptions


async def opened(options: OpenOptions) -> OpenOptions:
    return options


FINE = Backend("state", "fine", opened, warm_up=("json.decoder",))
LACKING = Backend("state", "lacking", opened, warm_up=("no_module_of_that_name.part",))
NONE = object()


@pytest.fixture
def points(monkeypatch: pytest.MonkeyPatch) -> None:
    """Entry points of this very module in the place of those that are installed."""
    names = {"state.fine": "FINE", "state.lacking": "LACKING", "state.none": "NONE"}
    found = [EntryPoint(name, f"{__name__}:{value}", registry.GROUP) for name, value in names.items()]
    found += [EntryPoint("graph.broken", "no_module_of_that_name:X", registry.GROUP)]
    monkeypatch.setattr(registry, "entry_points", lambda **_: found)


@pytest.mark.usefixtures("points")
def test_backends_are_listed_by_kind_in_order() -> None:
    assert registry.names("state") == ["fine", "lacking", "none"]
    assert registry.names("graph") == ["broken"] and registry.names("vector") == []


def test_an_unknown_name_is_told_with_those_that_are_known() -> None:
    with pytest.raises(
        BadInput, match=r"no state backend 'postgress'; known: .*memory.*sqlite; or give the place of one"
    ):
        registry.load("state", "postgress")
    with pytest.raises(BadInput, match="no resident backend 'x'; known: graph, vector; or"):
        registry.load("resident", "x")
    assert registry.load("state", "memory").name == "memory"


@pytest.mark.usefixtures("points")
def test_what_cannot_be_used_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(
        BadInput,
        match=r"backend 'graph\.broken' \(no_module_of_that_name:X\): there is no module 'no_module_of_that_name'; .* "
        "PYTHONPATH=FOLDER",
    ):
        registry.load("graph", "broken")
    monkeypatch.setattr(EntryPoint, "load", lambda point: globals()[point.value.rpartition(":")[2]])
    with pytest.raises(StoreUnavailable, match="pip install no_module_of_that_name"):
        registry.load("state", "lacking")
    with pytest.raises(
        BadInput, match=r"state backend 'none': <object .*> opens nothing; give a Backend, a class, or a coroutine"
    ):
        registry.load("state", "none")
    assert registry.load("state", "fine") is FINE
    assert "json.decoder" in registry.warm_up()
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
        ({"size": "4"}, r"options\.size: '4' is of type str; give one of type int"),
        ({"size": True}, r"options\.size: True is of type bool; give one of type int"),
    ],
)
def test_other_options_are_refused_by_name(given: dict[str, Any], why: str) -> None:
    with pytest.raises(BadInput, match=why):
        OpenOptions(options=given).take(size=4, name="x")
    with pytest.raises(BadInput, match="this backend takes: none"):
        OpenOptions(options=given).take()


def test_a_url_is_not_shown() -> None:
    assert "secret" not in repr(OpenOptions(url="https://user:secret@host"))


class Plain:
    """Is called without arguments."""


class Asking:
    """Gets the options."""

    def __init__(self, options: OpenOptions) -> None:
        self.options = options


WRONG: Backend[Any] = Backend("graph", "wrong", opened)


@pytest.fixture
def mine() -> Iterator[None]:
    yield
    for name in ("state.mine", "graph.mine", "state.sqlite"):
        registry.unregister(name)


@pytest.mark.usefixtures("mine")
async def test_what_a_program_registers_is_found_by_its_name_and_before_what_is_installed() -> None:
    with pytest.raises(BadInput, match="no state backend 'mine'"):
        registry.load("state", "mine")
    registry.register("state.mine", Plain)
    assert "mine" in registry.names("state") and "mine" not in registry.names("graph")
    assert isinstance(await registry.load("state", "mine").open(OpenOptions()), Plain)
    with pytest.raises(BadInput, match=r"options\.size: unknown option; this backend takes: none"):
        await registry.load("state", "mine").open(OpenOptions(options={"size": 1}))
    registry.register("state.mine", Asking)
    asked = OpenOptions(options={"size": 1})
    assert (await registry.load("state", "mine").open(asked)).options is asked
    registry.register("state.mine", opened)
    assert await registry.load("state", "mine").open(asked) is asked
    registry.register("state.sqlite", FINE)
    assert registry.load("state", "sqlite") is FINE
    registry.unregister("state.sqlite")
    assert registry.load("state", "sqlite").name == "sqlite"


@pytest.mark.usefixtures("mine")
@pytest.mark.parametrize(
    ("name", "opener", "message"),
    [
        ("mine", Plain, "'mine' is no name of a backend; give <kind>.<name>, such as state.mine"),
        ("state.", Plain, "no name of a backend"),
        ("stat.mine", Plain, "kind: 'stat' is no kind of backend; give one of state, graph, "),
        ("state.mine", WRONG, "state backend 'mine': it is a backend of kind 'graph'; give one of 'state'"),
        ("state.mine", Plain(), "state backend 'mine': .*Plain object.* opens nothing; give a Backend, a class"),
        ("state.mine", lambda options: Plain(), "opens nothing"),
    ],
)
def test_what_is_registered_wrongly_fails_at_once(name: str, opener: Any, message: str) -> None:
    with pytest.raises(BadInput, match=message) as caught:
        registry.register(name, opener)
    assert str(caught.value).count("\n") == 0
    assert "mine" not in registry.names("state")


def test_a_backend_of_no_kind_or_that_opens_nothing_cannot_be_made() -> None:
    with pytest.raises(BadInput, match=r"kind: 'vectors' is no kind of backend; give one of .*vector"):
        Backend("vectors", "x", opened)  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="the state backend 'x': None cannot open anything"):
        Backend("state", "x", None)  # type: ignore[arg-type]
    with pytest.raises(BadInput, match=r"the state backend 'x': MemoryState is a class.*give a coroutine function"):
        Backend("state", "x", MemoryState)  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="kind: 'vectors' is no kind"):
        registry.load("vectors", "sqlite")  # type: ignore[arg-type]


async def test_a_name_may_be_the_place_of_what_opens_it() -> None:
    here = __name__
    assert registry.load("state", f"{here}:FINE") is FINE
    assert isinstance(await registry.load("graph", f"{here}:Plain").open(OpenOptions()), Plain)
    with pytest.raises(BadInput, match=f"state backend '{here}:Nobody': {here} has no 'Nobody'"):
        registry.load("state", f"{here}:Nobody")
    with pytest.raises(BadInput, match=f"{here} has no 'FINEE'; did you mean 'FINE'[?]"):
        registry.load("state", f"{here}:FINEE")
    with pytest.raises(BadInput, match="it is a backend of kind 'state'; give one of 'graph'"):
        registry.load("graph", f"{here}:FINE")
    with pytest.raises(BadInput, match="opens nothing"):
        registry.load("state", f"{here}:NONE")
    with pytest.raises(BadInput, match="there is no module 'no_such_module'; if the name is right, install"):
        registry.load("state", "no_such_module:X")
    with pytest.raises(BadInput, match=r"there is no module 'saga_core\.no_such'"):
        registry.load("graph", "saga_core.no_such.module:X")


async def test_an_engine_that_a_place_imports_may_be_missing_but_not_its_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "heavy_graph.py").write_text("import no_such_engine", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    async with Saga.open({"storage": {"profile": "memory", "graph": "heavy_graph:BACKEND"}}) as saga:
        assert "using networkx instead" in saga.counters.degraded["graph.heavy_graph:BACKEND"]
    with pytest.raises(BadInput, match="there is no module 'heavy_grap'"):
        await Saga.open({"storage": {"profile": "memory", "graph": "heavy_grap:BACKEND"}})


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str, str], None]]:
    """Installs a package with an ``entry_points.txt``. Earlier ones on the path are found first."""

    def add(package: str, points: str) -> None:
        info = tmp_path / package / f"{package}-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n", encoding="utf-8")
        (info / "entry_points.txt").write_text(points, encoding="utf-8")
        monkeypatch.syspath_prepend(str(info.parent))

    yield add
    registry._searched.cache_clear()


MINE = f"{__name__}:FINE"


@pytest.mark.parametrize("package", ["aaa-dup", "zzz-dup"])
def test_a_package_cannot_take_a_name_of_sagas_own(
    package: str, install: Callable[[str, str], None], caplog: pytest.LogCaptureFixture
) -> None:
    install(package, f"[saga.backends]\nstate.sqlite = {MINE}\n[saga.modules]\nmap = {MINE}\n")
    assert registry.load("state", "sqlite").open.__module__ == "saga_backends.state_kv.sqlite"
    assert registry.names("state").count("sqlite") == 1
    told = (
        f"{package}: state.sqlite = {MINE} in saga.backends is not used: saga-rp has one of this name; "
        "rename it, or uninstall one of the two"
    )
    assert told in registry.unused() and told in caplog.messages
    assert [each for each in registry.unused() if f"{package}: map = " in each]


def test_of_two_packages_the_first_by_name_is_used_and_the_other_is_told(install: Callable[[str, str], None]) -> None:
    install("bbb", "[saga.backends]\nstate.mine = tests.core.test_registry:LACKING\n")
    install("ccc", f"[saga.backends]\nstate.mine = {MINE}\n")
    assert [each.value for each in registry.entry_points(group=registry.GROUP) if each.name == "state.mine"] == [
        "tests.core.test_registry:LACKING"
    ]
    (told,) = registry.unused()
    assert told.startswith(f"ccc: state.mine = {MINE} in saga.backends is not used: bbb has one of this name")


def test_one_package_in_two_folders_is_no_second_one(install: Callable[[str, str], None]) -> None:
    install("bbb", f"[saga.backends]\nstate.mine = {MINE}\n")
    install("ccc", f"[saga.backends]\nstate.mine = {MINE}\n")
    assert registry.unused() == ()


@pytest.mark.parametrize(
    ("points", "told"),
    [
        ("[saga.backends]\nstat.x = m:X\n", "odd: stat.x = m:X in saga.backends is not used: name it <kind>.<name>; "),
        ("[saga.backends]\nx = m:X\n", "odd: x = m:X in saga.backends is not used: name it <kind>.<name>; the kinds"),
        ("[saga.backend]\nstate.x = m:X\n", "odd: state.x = m:X in saga.backend is not used: there is no group "),
    ],
)
def test_an_entry_point_that_nothing_looks_for_is_told(
    points: str, told: str, install: Callable[[str, str], None], caplog: pytest.LogCaptureFixture
) -> None:
    install("odd", points)
    (found,) = registry.unused()
    assert found.startswith(told) and found in caplog.messages
