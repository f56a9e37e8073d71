"""Every wrong store is caught by the clause that it breaks, on three seeds, and every right one passes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from conformance import Harness, Status, Verdict, run
from conformance.runner import applicable, run_check
from conformance.spec import clauses
from tests.mutants import (
    stores_cache,
    stores_durable,
    stores_graph,
    stores_graph_reading,
    stores_lifecycle,
    stores_state,
    stores_vector,
)
from tests.mutants.stores_registry import MUTANTS, Mutant, harness

SEEDS = (1, 20_260_101, 987_654_321)

FILES = (
    stores_cache,
    stores_durable,
    stores_graph,
    stores_graph_reading,
    stores_lifecycle,
    stores_state,
    stores_vector,
)
"""Importing them registers their mutants."""

REFERENCES = (
    harness(stores_graph_reading.WalkingGraph),
    harness(stores_vector.ApproximateVector, recall=0.8),
    harness(stores_cache.FolderCache),
    harness(stores_durable.FileState),
    harness(stores_durable.SharedState),
)
"""The right stores that the wrong ones are made of, besides the memory backends."""


def caught_by(mutant: Mutant, seed: int) -> str | None:
    """The first check of the broken clause that fails: examples first, then the long searches."""
    checks = [check for check in applicable(mutant.harness) if mutant.clause in check.clauses]
    for check in sorted(checks, key=lambda check: check.search):
        if run_check(mutant.harness, check, profile="default", seed=seed).status is Status.FAIL:
            return check.id
    return None


@pytest.mark.parametrize("mutant", MUTANTS.values(), ids=lambda mutant: f"{mutant.clause}-{mutant.name}")
def test_a_wrong_store_is_caught_by_the_clause_it_breaks(mutant: Mutant) -> None:
    assert [seed for seed in SEEDS if caught_by(mutant, seed) is None] == []


def test_every_clause_has_a_wrong_store() -> None:
    assert {mutant.file for mutant in MUTANTS.values()} == {file.__name__ for file in FILES}
    broken = {mutant.clause for mutant in MUTANTS.values()}
    assert broken == set(clauses())
    assert len(MUTANTS) >= 40


@pytest.mark.parametrize("right", REFERENCES, ids=lambda right: right.name)
def test_the_stores_they_are_made_of_are_right(right: Harness) -> None:
    report = run(right, profile="quick", seed=SEEDS[0])
    assert report.verdict is Verdict.CONFORMANT, report.reasons


def test_optimised_python_catches_it_too() -> None:
    """With ``-O`` assert statements vanish; the checks must not be made of them."""
    program = (
        "import tests.mutants.test_store_mutants as t\n"
        "names = 'state.LosesADelete graph.TearsAMutation vector.MakesFloatsOfInts state.SavesAtItsEnd'.split()\n"
        "left = [name for name in names if t.caught_by(t.MUTANTS[name], 1) is None]\n"
        "print(__debug__, left, len(t.MUTANTS) > 40)\n"
    )
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run([sys.executable, "-O", "-c", program], cwd=root, capture_output=True, text=True, check=False)
    assert done.stdout == "False [] True\n", done.stderr


SEARCHED = (
    "state.LosesADelete",
    "state.MatchesPartsOfSegments",
    "state.IgnoresExpectations",
    "graph.MakesFloatsOfInts",
    "graph.DropLeavesTheWatermark",
    "graph.GivesAnEdgeForEachEnd",
    "graph.WalksOneWay",
    "vector.LosesNullMetadata",
    "vector.ScoresByTheProduct",
    "vector.FiltersAfterTheCut",
    "vector.TakesMissingForNotIn",
    "cache.KeepsPagesThatBecameEmpty",
    "cache.DropsNothing",
)


@pytest.mark.parametrize("name", SEARCHED)
def test_the_random_search_alone_finds_it_too(name: str) -> None:
    (search,) = (check for check in applicable(MUTANTS[name].harness) if check.search)
    outcome = run_check(MUTANTS[name].harness, search, profile="default", seed=SEEDS[1])
    assert outcome.status is Status.FAIL
    assert outcome.detail.count("\n") <= 12, f"the story is not short:\n{outcome.detail}"
