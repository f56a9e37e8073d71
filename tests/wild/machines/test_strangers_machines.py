"""Addresses that are never asked through a proxy."""

from __future__ import annotations

from typing import Any

from saga_backends.http_client import is_local
from tests.wild.strangers import strangers


@strangers("machines")
def test_a_local_address_needs_no_proxy(row: dict[str, Any]) -> None:
    assert is_local(row["url"]) is row["without"]
