"""Files as they come: what is taken is whole or listed, and what is refused says why."""

from __future__ import annotations

import re
from typing import Any

from saga_core.imports import read_file
from tests.core.imports import samples
from tests.wild.strangers import strangers

KINDS = {"character": "Card", "lore": "Lorebook", "chat": "Chat"}


@strangers("imports")
def test_it_is_taken_whole_or_listed(row: dict[str, Any]) -> None:
    reading = read_file(row["name"], row["text"].encode(row.get("bytes", "utf-8")))
    if row["kind"] == "refused":
        (refused,) = reading.refused
        assert re.search(row.get("words", ""), refused.why, re.IGNORECASE)
        return
    (one,) = reading.found
    assert type(one.record).__name__ == KINDS[row["kind"]]
    held, listed = samples.texts(one.record) if hasattr(samples, "texts") else repr(one.record), repr(one.losses)
    assert [text for text in row["holds"] if text not in held] == []
    assert [words for words in row.get("listed", ()) if words not in listed] == []
