"""What a small model answers that was asked what changed: a report, "nothing changed", or no answer."""

from __future__ import annotations

from typing import Any

import pytest

from saga_core.extraction.extractor import Extractor
from saga_core.model import WorldState
from saga_core.model_calls import ModelCallFailed
from saga_core.state_block import BlockFields
from tests.core.extraction.scripted import Scripted
from tests.wild.strangers import strangers


@strangers("helpers")
async def test_no_answer_is_not_nothing_changed(row: dict[str, Any]) -> None:
    reader = Extractor(Scripted(otherwise=row["answer"]), "tiny-1", Words())
    asked = reader.extract("I sit.", "Ruda pulls out the splinter; it costs you 5 HP.", WorldState(player="p"), "en")
    if row["kind"] == "none":
        with pytest.raises(ModelCallFailed):
            await asked
    else:
        wanted = BlockFields(hp_change=-5) if row["kind"] == "report" else BlockFields()
        fields = (await asked).fields
        assert (fields.hp_change, fields.items_gained) == (wanted.hp_change, ())


class Words:
    """Counts words."""

    def count(self, text: str) -> int:
        return len(text.split())
