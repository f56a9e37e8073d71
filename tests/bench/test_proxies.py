"""The comparison of proxies runs, and counts each side for itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bench.proxies import Rounds, rows, run_proxies
from tests.postgres.cluster import free_port


@pytest.mark.deep
def test_two_proxies_and_the_way_without_one(tmp_path: Path) -> None:
    port = free_port()
    told: list[str] = []
    ask = Rounds(rounds=1, replies=2, history=6, at_once=2, streams=4)
    sides = run_proxies([("none", f"http://127.0.0.1:{port}/v1", None)], port, ask, tmp_path, told.append)
    assert [side.name for side in sides] == ["directly", "SAGA", "none"]
    assert all(side.first and side.whole and side.streams_per_second > 0 for side in sides)
    assert sides[1].cpu_ms and sides[1].rss and sides[2].cpu_ms is None
    table = rows(sides)
    assert table[1][1].startswith("+") and table[2][3] == table[2][5] == ""
