"""Files of SAGA that are replaced under a running server: what fails then says that a restart is needed."""

from __future__ import annotations

from typing import Any

import pytest

from saga_core import errors
from saga_core.play.pending_turn import PendingTurn
from tests.server.client import Client, words
from tests.server.upstream import Upstream, says


@pytest.mark.parametrize("replaced", [True, False])
async def test_a_turn_that_cannot_be_recorded_says_so(
    client: Client, upstream: Upstream, monkeypatch: pytest.MonkeyPatch, replaced: bool
) -> None:
    async def commit(self: PendingTurn, **given: Any) -> None:
        raise ImportError("cannot import name 'spoken_day'")

    upstream.then(says("The rain stops over the hills."))
    monkeypatch.setattr(PendingTurn, "commit", commit)
    monkeypatch.setattr(errors, "_BEGUN", 0.0 if replaced else float("inf"))
    reply = await client.chat(words("I go."))
    assert reply.text == "The rain stops over the hills."
    assert "this turn is not recorded" in reply.headers["X-SAGA-Notice"]
    assert ("restart it" in reply.headers["X-SAGA-Notice"]) is replaced
