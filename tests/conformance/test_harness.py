"""What a harness may claim, and where it is found."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from conformance import Harness, load_harness, run
from saga_backends.memory import MemoryCache, MemoryGraph, MemoryState
from saga_core.errors import BadInput
from tests.conformance.harnesses import HARNESSES


@pytest.mark.parametrize("deviations", [{"S-99": "why"}, {"S-1": " "}])
def test_deviations_need_a_clause_and_a_reason(deviations: dict[str, str]) -> None:
    with pytest.raises(BadInput, match=r"deviations"):
        evolve(HARNESSES["state-memory"], deviations=deviations)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"provides": "durable", "limits": 5}, "limits: is a int; give a Limits"),
        ({"provides": "durabel"}, "provides: 'durabel' is no capability; give some of durable, "),
        ({"provides": {"durabel"}}, "provides: 'durabel' is no capability; give some of durable, "),
        ({"deviations": ["S-1"]}, "deviations: is a list; give a mapping of clauses to reasons"),
        ({"recall": 2}, "recall: is 2; give a number from 0 to 1"),
        ({"retries": -1}, "retries: is -1; give a number from 0 to 100"),
        ({"journal": 5}, "journal: is a int; give a coroutine function that takes a folder"),
        ({"raw": 5}, "raw: is a int; give a RawRead"),
    ],
)
def test_a_wrong_claim_is_named(wrong: dict[str, Any], told: str) -> None:
    with pytest.raises(BadInput) as error:
        evolve(HARNESSES["state-memory"], **wrong)
    assert str(error.value).startswith(told)


class AwaitedLocate(MemoryCache):
    async def locate(self, scope: str) -> Any:  # type: ignore[override]
        return None


class PlainGet(MemoryState):
    def get(self, keys: Any) -> Any:  # type: ignore[override]
        return {}


async def opens(made: Any, path: Path) -> Any:
    return made()


@pytest.mark.parametrize(
    ("kind", "opener", "told"),
    [
        (
            "state",
            lambda path: MemoryState(),
            "open gave a MemoryState at once; write it with async def",
        ),
        (
            "state",
            partial(opens, MemoryState, Path()),
            "open cannot be called with the path of a folder: too many positional arguments",
        ),
        ("state", partial(opens, MemoryGraph), "MemoryGraph is no state store; it lacks commit"),
        ("cache", partial(opens, lambda: None), "NoneType is no cache store; it lacks aclose"),
        ("state", partial(opens, PlainGet), "PlainGet.get is not asynchronous; write it with async def"),
        ("cache", partial(opens, AwaitedLocate), "AwaitedLocate.locate is asynchronous; write it with def"),
        ("store", partial(opens, MemoryState), "'store' is no kind of store; give one of state, graph, vector"),
        ("state", MemoryState(), "open: is a MemoryState; give a coroutine function that takes a folder"),
    ],
)
def test_what_no_check_could_judge_is_said_at_once(kind: str, opener: Any, told: str) -> None:
    with pytest.raises(BadInput) as error:
        run(Harness("mine", kind, opener), profile="quick")
    assert told in str(error.value)
    assert len(str(error.value)) < 200


def test_a_module_that_cannot_be_imported_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken_harness.py").write_text("HARNESS = Nothing()\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(BadInput, match="cannot be imported: NameError: name 'Nothing' is not defined"):
        load_harness("broken_harness:HARNESS")


@pytest.mark.parametrize(
    ("code", "told"),
    [
        (
            "Harness('mine', 'state', print, deviations={'S-99': 'why'})",
            "deviations: unknown clause 'S-99'; `python -m conformance clauses` lists them ({}:3)",
        ),
        ("raise SystemExit('no licence')", "SystemExit: no licence ({}:3)"),
    ],
)
def test_a_mistake_in_the_module_is_told_with_its_line(
    code: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "mistaken_harness.py"
    file.write_text(f"from conformance import Harness\n\n{code}\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, file.stem, raising=False)
    with pytest.raises(BadInput) as error:
        load_harness(f"{file.stem}:HARNESS")
    assert str(error.value) == f"harness: 'mistaken_harness:HARNESS' cannot be imported: {told.format(file)}"


@pytest.mark.parametrize("place", ["conformance", "no.such.module:X", "conformance:NOTHING", "conformance:run", ":X"])
def test_a_harness_that_is_none_is_refused(place: str) -> None:
    with pytest.raises(BadInput, match="harness"):
        load_harness(place)
