"""Every store engine that runs in this process keeps its contract."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest

from conformance import conforms
from tests.conformance.harnesses import IN_THIS_PROCESS

PROFILE = os.environ.get("SAGA_CONFORMANCE", "quick")


def _test(name: str) -> Callable[..., Any]:
    return conforms(IN_THIS_PROCESS[name], profile=PROFILE)


test_state_memory = _test("state-memory")
test_state_sqlite = _test("state-sqlite")
test_graph_memory = _test("graph-memory")
test_graph_networkx = _test("graph-networkx")
test_graph_resident_networkx = _test("graph-resident-networkx")
test_vector_memory = _test("vector-memory")
test_vector_sqlite = pytest.mark.deep(_test("vector-sqlite"))  # tests/backends has its contract, check by check
test_vector_resident_sqlite = pytest.mark.deep(_test("vector-resident-sqlite"))  # its parts are tested by themselves
test_cache_memory = _test("cache-memory")
test_cache_files = _test("cache-files")
test_curator_memory = _test("curator-memory")
test_curator_rules = _test("curator-rules")


def test_no_engine_is_forgotten() -> None:
    tested = {name for name in globals() if name.startswith("test_") and hasattr(globals()[name], "pytestmark")}
    assert tested == {f"test_{name.replace('-', '_')}" for name in IN_THIS_PROCESS}
