"""What servers say of a prompt that is too long."""

from __future__ import annotations

from typing import Any

from saga_backends.provider_error import Blame
from saga_server.providers.context_size import context_refusal
from tests.wild.strangers import strangers


@strangers("windows")
def test_the_size_is_learned(row: dict[str, Any]) -> None:
    error = Blame("p", "host:1234", 1.0).refused(row["status"], row["body"], {})
    found = context_refusal(str(error), error.status)
    if row["limit"] == "no":
        assert found is None
    else:
        assert found is not None
        assert found.limit == row["limit"]
