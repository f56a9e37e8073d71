"""The clauses and the checks belong together, both ways."""

from __future__ import annotations

import pytest

from conformance.check import Check
from conformance.checks import registered
from conformance.spec import KINDS, clauses
from conformance.strategies import STRATEGIES
from saga_core.capabilities import Capability

EXAMPLES = [check for check in registered() if not check.search]


def test_every_clause_has_a_check_of_its_own() -> None:
    tied = {name for check in EXAMPLES for name in check.clauses}
    assert [name for name in clauses() if name not in tied] == []


def test_every_check_names_known_clauses_that_bind_its_kinds() -> None:
    for check in registered():
        assert check.clauses, check.id
        assert {clauses()[name].given for name in check.durable} <= {Capability.DURABLE}
        for name in (*check.clauses, *check.durable):
            assert name in clauses(), (check.id, name)
            assert set(check.kinds) & set(clauses()[name].kinds), (check.id, name)
        assert check.kinds, f"{check.id} applies to no kind of store"


def test_every_clause_is_checked_on_every_kind_that_it_binds() -> None:
    """A curator holds nothing: the clauses about what is stored say nothing of it."""
    stored = {"L-6", "L-7", "L-9", *(f"L-{number}" for number in range(10, 26) if number not in (16, 21))}
    for name, clause in clauses().items():
        for kind in clause.kinds:
            if (kind == "curator" and name in stored) or (kind, name) == ("state", "L-23"):
                continue  # for a StateKV it is S-19
            assert any(name in check.clauses and kind in check.kinds for check in EXAMPLES), (name, kind)


def test_checks_are_data() -> None:
    ids = [check.id for check in registered()]
    assert len(set(ids)) == len(ids) > 100
    for check in registered():
        assert isinstance(check, Check)
        assert callable(check.run)
        if check.extended and not check.search:
            assert all(clauses()[name].given in check.given for name in check.clauses)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "curator"])
def test_searches_speak_of_clauses_of_their_kind(kind: str) -> None:
    letters = {clause.id[0] for clause in clauses().values() if clause.page == kind}
    (search,) = (check for check in registered() if check.search and kind in check.kinds)
    assert {name[0] for name in search.clauses} == letters
    assert set(STRATEGIES[kind].about) >= {*STRATEGIES[kind].writes, *STRATEGIES[kind].reads}


def test_a_check_is_found_by_its_clause() -> None:
    for check in registered():
        assert check.search or check.id.startswith(f"{check.clauses[0]}."), check.id
        kind = clauses()[check.clauses[0]].page
        module = check.run.__module__.rpartition(".")[2]
        shared = {
            "lifecycle",
            "limits",
            "names",
            "durability",
            "concurrency",
            "event_loop",
            "several_writers",
            "searches",
        }
        assert module in (kind, *check.kinds) or module in (*shared, "searches"), check.id
