"""Every wrong store is caught by the clause that it breaks, on three seeds, and every right one passes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from conformance import Harness, Outcome, Status, Verdict, case, run
from conformance.check import Check
from conformance.checks import event_loop
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
from tests.mutants.causes import (
    clauses_durable,
    clauses_graph,
    clauses_state,
    clauses_vector,
    durable_wrong,
    graph_wrong,
    life_wrong,
    opened_again,
    several_writers,
    state_names,
    state_scale,
    vector_wrong,
)
from tests.mutants.left_to_deep import LEFT_TO_DEEP
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
    clauses_durable,
    clauses_graph,
    clauses_state,
    clauses_vector,
    durable_wrong,
    graph_wrong,
    life_wrong,
    opened_again,
    several_writers,
    state_names,
    state_scale,
    vector_wrong,
)
"""Importing them registers their mutants."""

REFERENCES = (
    harness(stores_graph_reading.WalkingGraph),
    harness(stores_vector.ApproximateVector, recall=0.8),
    harness(stores_cache.FolderCache),
    harness(life_wrong.RememberingCurator),
)
"""The right stores that the wrong ones are made of, besides the memory backends."""


def caught_by(mutant: Mutant, seed: int) -> str | None:
    """The first check of the broken clause that fails: examples first, then the long searches."""
    found = _found_by(mutant, seed)
    return found.check if found is not None else None


COSTLY = (
    "confusable",
    "questions",
    "filters",
    "sizes",
    "scale",
    "moments",
    "under_way",
    "durability",
    "elsewhere",
    "crashes",
)
"""Modules of checks that take longer than the rest, the quickest first."""


def _cost(check: Check) -> int:
    module = check.id.partition(".")[0]
    found = [at for at, name in enumerate(COSTLY, start=1) if module.startswith(name)]
    return len(COSTLY) + 1 if check.search else (found or [0])[0]


def _found_by(mutant: Mutant, seed: int) -> Outcome | None:
    """Cheap checks and small sizes first: a default run makes them too, whatever it finds before."""
    checks = [check for check in applicable(mutant.harness) if mutant.clause in check.clauses]
    for profile in ("quick", "default"):
        for check in sorted(checks, key=_cost):
            outcome = run_check(mutant.harness, check, profile=profile, seed=seed)
            if outcome.status is Status.FAIL:
                return outcome
    return None


@pytest.fixture(autouse=True)
def _short_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """What hangs here hangs for ever: two seconds show it as well as thirty."""
    monkeypatch.setattr(case, "PATIENCE", 2.0)


@pytest.fixture(autouse=True)
def _quick_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """What stands still here does so for a time that is too long on a quick machine."""
    monkeypatch.setattr(event_loop, "_ruler", lambda: 0.0)


def _first_of_each_clause(count: int = 2) -> set[str]:
    """The names of the first ``count`` quick ones of each clause; the others, of the same kinds, are deep."""
    by_clause: dict[str, list[str]] = {}
    for name, each in MUTANTS.items():
        if name not in LEFT_TO_DEEP:
            by_clause.setdefault(each.clause, []).append(name)
    return {name for names in by_clause.values() for name in names[:count]}


QUICK = _first_of_each_clause()


@pytest.mark.parametrize(
    "mutant",
    [pytest.param(each, marks=() if name in QUICK else pytest.mark.deep) for name, each in MUTANTS.items()],
    ids=lambda mutant: f"{mutant.clause}-{mutant.name}",
)
def test_a_wrong_store_is_caught_by_the_clause_it_breaks(mutant: Mutant) -> None:
    assert _found_by(mutant, SEEDS[0]) is not None


@pytest.mark.deep
@pytest.mark.parametrize("mutant", MUTANTS.values(), ids=lambda mutant: f"{mutant.clause}-{mutant.name}")
@pytest.mark.parametrize("seed", SEEDS[1:])
def test_it_is_caught_with_other_seeds_too(mutant: Mutant, seed: int) -> None:
    """A check that has not asked for the seed says the same with every one."""
    first = _found_by(mutant, SEEDS[0])
    assert first is not None
    assert not first.drawn or _found_by(mutant, seed) is not None


def test_every_clause_has_a_wrong_store() -> None:
    assert set(MUTANTS) >= LEFT_TO_DEEP
    assert {mutant.clause for name, mutant in MUTANTS.items() if name not in LEFT_TO_DEEP} == set(clauses())
    assert {mutant.file for mutant in MUTANTS.values()} == {file.__name__ for file in FILES}
    broken = {mutant.clause for mutant in MUTANTS.values()}
    assert broken == set(clauses())
    assert len(MUTANTS) >= 550


KEPT = (
    harness(stores_durable.SharedState),
    harness(stores_durable.FileState),
    *(harness(kind) for kind in (*durable_wrong.KEPT, *several_writers.KEPT)),
    harness(life_wrong.Compacting),
)
"""Those of them that keep what they hold: each is opened in some forty processes."""


@pytest.mark.parametrize(
    "right",
    [*REFERENCES, *(pytest.param(right, marks=pytest.mark.deep) for right in KEPT)],
    ids=lambda right: right.name,
)
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
    outcomes = (run_check(MUTANTS[name].harness, search, profile="default", seed=seed) for seed in SEEDS)
    outcome = next((each for each in outcomes if each.status is Status.FAIL), None)
    assert outcome is not None
    assert outcome.detail.count("\n") <= 12, f"the story is not short:\n{outcome.detail}"
