"""Stores that are right up to some number of entries, and leave out the rest, are caught by the clause they break."""

from __future__ import annotations

import pytest
from attrs import evolve

from conformance import Status
from conformance.profiles import PROFILES
from conformance.runner import applicable, run_check
from saga_core.stores import Limits
from tests.mutants.causes import caps_graph, caps_state, caps_vector
from tests.mutants.stores_registry import CAPPED, CAPS, Mutant

FILES = (caps_graph, caps_state, caps_vector)
"""Importing them registers their mutants."""

_SMALL = evolve(PROFILES["default"], name="small", population=1_200, most_scopes=1_200, scope_seconds=600.0)
"""The same checks with fewer entries: what they do depends on the profile's numbers alone, also on a slow machine."""


_LARGE = frozenset(
    "many_edges many_nodes many_scopes expand_among_many reads_among_many writes_among_many a_long_history "
    "nearest_and_gone".split()
)
"""The checks of a large population, by the names of their functions."""


def caught(mutant: Mutant, profile: str) -> bool:
    """Whether one of the checks of a large population fails that are about the broken clause."""
    checks = [check for check in applicable(mutant.harness) if check.id.partition(".")[2] in _LARGE]
    outcomes = [run_check(mutant.harness, check, profile=profile) for check in checks if mutant.clause in check.clauses]
    assert not any(outcome.drawn for outcome in outcomes), "with another seed it says something else"
    return any(outcome.status is Status.FAIL for outcome in outcomes)


@pytest.mark.parametrize(
    "mutant",
    [mutant for mutant in CAPPED.values() if mutant.harness.open.args[0].cap == 1_000],
    ids=lambda mutant: f"{mutant.clause}-{mutant.name}",
)
def test_a_cap_below_the_population_is_found(mutant: Mutant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PROFILES, "small", _SMALL)
    assert caught(mutant, "small")


@pytest.mark.deep
@pytest.mark.parametrize("mutant", CAPPED.values(), ids=lambda mutant: f"{mutant.clause}-{mutant.name}")
def test_a_default_run_finds_every_cap(mutant: Mutant) -> None:
    assert caught(mutant, "default")


def test_the_population_is_beyond_every_cap_and_every_batch() -> None:
    for profile in (PROFILES["default"], PROFILES["deep"]):
        assert profile.population > max(*CAPS, Limits().batch)
        assert profile.most_scopes > max(CAPS)
    assert {mutant.file for mutant in CAPPED.values()} == {file.__name__ for file in FILES}
    assert len(CAPPED) == 384
