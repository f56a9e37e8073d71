"""The stores keep their contract behind PgBouncer in transaction mode, with fewer connections than clients."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conformance.report import Status, report_on, summary
from conformance.runner import DEFAULT_SEED, applicable, run_check
from tests.conformance.harnesses import IN_POSTGRES
from tests.postgres.pooler import PROGRAM, Pooler
from tests.postgres.real_server import ADDRESS, RealServer

pytestmark = [pytest.mark.deep, pytest.mark.skipif(PROGRAM is None, reason="no PgBouncer: apt install pgbouncer")]


@pytest.fixture
def pooled(server: RealServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    pooler = Pooler(server)
    try:
        monkeypatch.setenv(ADDRESS, pooler.url)
        yield
    finally:
        pooler.remove()


@pytest.mark.usefixtures("pooled")
@pytest.mark.parametrize("name", [name for name in IN_POSTGRES if "resident" not in name])
def test_it_keeps_the_contract_behind_a_pooler(name: str) -> None:
    harness = IN_POSTGRES[name]
    outcomes = [run_check(harness, check, profile="quick", seed=DEFAULT_SEED) for check in applicable(harness)]
    told = summary(report_on(harness, outcomes, profile="quick", seed=DEFAULT_SEED))
    assert {outcome.status for outcome in outcomes} <= {Status.PASS, Status.NOT_PROVIDED}, told
