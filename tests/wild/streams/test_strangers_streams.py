"""Streams as providers send them with status 200: the text comes whole, and an end is what it means."""

from __future__ import annotations

from typing import Any

import pytest

from saga_core.errors import UpstreamError
from saga_core.ports import FinishPart
from tests.backends.test_chat_streams import text
from tests.wild.strangers import strangers
from tests.wild.streams.sent import received

UNSAID = "unsaid"
"""The stream ends as one does that was sent whole, without a reason. Every door tells it as a stop."""
ENDS = {"stop": "stop", "length": "length", "content_filter": "refused"}


@strangers("streams")
@pytest.mark.parametrize("size", [1, 50_000])
def test_the_end_is_what_it_means(row: dict[str, Any], size: int) -> None:
    parts, error = received(row["dialect"], row["sent"].encode(), size)
    assert text(parts) == row["text"]
    if row["end"] == "error":
        assert isinstance(error, UpstreamError)
        assert row.get("words", "") in str(error)
        assert error.status == row.get("status", error.status) or row.get("status") == 502
    else:
        assert error is None, str(error)
        ends = [ENDS[part.reason] for part in parts if isinstance(part, FinishPart)]
        assert ends == ([] if row["end"] == UNSAID else [row["end"]])
