"""Fixtures: the shared server, and one that a test may stop."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.postgres.real_server import RealServer, missing
from tests.postgres.shared_server import address, schema_of


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Where no PostgreSQL is, these tests say so."""
    reason = missing()
    here = Path(__file__).parent
    for item in items:
        if reason and here in item.path.parents:
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture
def url() -> str:
    """The address of the shared server."""
    return address()


@pytest.fixture
def schema(tmp_path: Path) -> str:
    """A schema of its own."""
    return schema_of(tmp_path)


@pytest.fixture(scope="session")
def _own_server() -> Iterator[RealServer]:
    found = RealServer(options=("fsync=off",))  # the machine does not fail here, only processes do
    try:
        yield found
    finally:
        found.remove()


@pytest.fixture
def server(_own_server: RealServer) -> RealServer:
    """A server of one's own, to be stopped and started. It runs, and holds nothing of SAGA's."""
    _own_server.clear()
    return _own_server
