"""A monotonic clock that a test moves."""

from __future__ import annotations

import pytest

from saga_server.hosting import leases, liveness


class FakeTime:
    """Seconds that pass only when told to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1_000.0
        for module in (leases, liveness):
            monkeypatch.setattr(module, "_now", lambda: self.now)

    def passes(self, seconds: float) -> None:
        self.now += seconds
