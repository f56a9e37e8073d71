"""Keys of lore as people write them."""

from __future__ import annotations

from typing import Any

from saga_core.language import nfc
from saga_core.world.key_patterns import is_pattern, key_search
from tests.wild.strangers import strangers


@strangers("lore")
def test_a_key_fires_or_is_named(row: dict[str, Any]) -> None:
    search = key_search(row["key"], case=is_pattern(row["key"]), words=True)
    if row.get("silent"):
        assert search is None
    else:
        assert search is not None
        assert (search(nfc(row["hit"])), search(nfc(row["miss"]))) == (True, False)
