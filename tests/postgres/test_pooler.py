"""The stores keep their contract behind a pooler in transaction mode, with fewer connections than clients: each
transaction meets another connection, and ``DISCARD ALL`` is asked between two. With PgBouncer too, where it is there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from conformance.check import Check
from conformance.report import Status, report_on, summary
from conformance.runner import DEFAULT_SEED, applicable, run_check
from tests.conformance.harnesses import IN_POSTGRES
from tests.conformance.test_postgres import ALWAYS
from tests.postgres.pooler import PROGRAM, Pooler
from tests.postgres.real_server import ADDRESS, RealServer
from tests.postgres.transaction_pooler import TransactionPooler


@pytest.fixture
def pooler(server: RealServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[TransactionPooler]:
    """Whose address is that of the shared server. Nothing may be left in a session at the end."""
    found = TransactionPooler(server.port)
    monkeypatch.setenv(ADDRESS, found.url)
    try:
        yield found
    finally:
        found.remove()
    assert found.left_behind == []


def _cases() -> list[Any]:
    """One check for each store in each run; all of them in the long searches, those with killed clients too."""
    found = []
    for name, harness in IN_POSTGRES.items():
        first = min(ALWAYS[harness.kind]) if "resident" not in name else None
        for check in applicable(harness):
            marks = () if check.id == first else pytest.mark.deep
            found.append(pytest.param(name, check, id=f"{name}-{check.id}", marks=marks))
    return found


@pytest.mark.parametrize(("name", "check"), _cases())
def test_it_keeps_the_contract_where_each_transaction_meets_another_connection(
    name: str, check: Check, pooler: TransactionPooler
) -> None:
    harness = IN_POSTGRES[name]
    outcome = run_check(harness, check, profile="quick", seed=DEFAULT_SEED)
    told = summary(report_on(harness, [outcome], profile="quick", seed=DEFAULT_SEED))
    assert outcome.status in (Status.PASS, Status.NOT_PROVIDED), told
    if outcome.status is Status.PASS:
        assert pooler.changes, "it was pooled at all"


def test_what_is_left_in_a_session_is_noticed_and_is_gone_with_the_next_transaction(server: RealServer) -> None:
    pooler = TransactionPooler(server.port)
    try:
        # Otherwise psycopg prepares what is asked for the sixth time.
        with psycopg.connect(pooler.url, autocommit=True, prepare_threshold=None) as line:
            seen = {line.execute("SELECT pg_backend_pid()").fetchone() for _ in range(4)}
            assert len(seen) == 2, "each transaction meets another connection"
            line.execute("SET search_path TO nowhere")
            line.execute("SELECT pg_advisory_lock(7)")
            assert line.execute("SHOW search_path").fetchone() != ("nowhere",)
            with line.transaction():
                (first,), (then,) = [line.execute("SELECT pg_backend_pid()").fetchone() or (0,) for _ in range(2)]
            assert first == then, "a transaction has one connection"
    finally:
        pooler.remove()
    assert pooler.left_behind == ["0 prepared, 0 locks, 1 settings", "0 prepared, 1 locks, 0 settings"]


@pytest.mark.deep
@pytest.mark.skipif(PROGRAM is None, reason="no PgBouncer: apt install pgbouncer")
@pytest.mark.parametrize("name", [name for name in IN_POSTGRES if "resident" not in name])
def test_it_keeps_the_contract_behind_pgbouncer(name: str, server: RealServer, monkeypatch: pytest.MonkeyPatch) -> None:
    pooler = Pooler(server)
    try:
        monkeypatch.setenv(ADDRESS, pooler.url)
        harness = IN_POSTGRES[name]
        outcomes = [run_check(harness, check, profile="quick", seed=DEFAULT_SEED) for check in applicable(harness)]
        told = summary(report_on(harness, outcomes, profile="quick", seed=DEFAULT_SEED))
        assert {outcome.status for outcome in outcomes} <= {Status.PASS, Status.NOT_PROVIDED}, told
    finally:
        pooler.remove()
