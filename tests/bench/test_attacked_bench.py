"""The benchmark of players beside an attacker: it attacks what is there, and it ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from saga_server.admin.endpoints import ENDPOINTS
from tests.bench.load import attacked


def test_every_attack_is_sent_to_a_path_that_is_served() -> None:
    served = {endpoint.path for endpoint in ENDPOINTS} | {attacked.CHAT}
    assert {attack.path for attack in attacked.ATTACKS.values()} <= served


@pytest.mark.deep
async def test_it_ends_and_everybody_played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = ("a session's file, 50,000 deep", "packed, without a key")
    monkeypatch.setattr(attacked, "ATTACKS", {name: attacked.ATTACKS[name] for name in chosen})
    rows = await attacked.run_attacked(tmp_path, 5, 2.0, lambda line: None)
    assert [row.name for row in rows] == list(chosen)
    assert all(row.turns >= 5 and row.attacks and row.quiet_p99 for row in rows)
