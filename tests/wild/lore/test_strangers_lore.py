"""Keys of lore as people write them."""

from __future__ import annotations

from typing import Any

from saga_core.world import pattern_search
from tests.wild.strangers import strangers


@strangers("lore")
def test_a_key_fires_or_is_named(row: dict[str, Any]) -> None:
    search = pattern_search(row["key"])
    if row.get("silent"):
        assert search is None
    else:
        assert search is not None
        assert (search(row["hit"]), search(row["miss"])) == (True, False)
