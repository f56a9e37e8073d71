"""Extraction: turns the report in a reply into typed events, and asks a model for the report if there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from saga_core.lazy_face import lazy_face

if TYPE_CHECKING:
    from saga_core.extraction.card import CardReading, card_events, doubles, read_card
    from saga_core.extraction.counts import count_events
    from saga_core.extraction.edited import still_told
    from saga_core.extraction.extractor import Extractor
    from saga_core.extraction.one_person import Pair, read_pairs
    from saga_core.extraction.player import nameless, second_person, the_player
    from saga_core.extraction.statuses import conditions, joined
    from saga_core.extraction.tool_reports import REPORT, read_call, report_tool
    from saga_core.extraction.window import WindowTurn, fits
    from saga_core.extraction.writer import mention_event, read_delta

__all__ = [
    "REPORT",
    "CardReading",
    "Extractor",
    "Pair",
    "WindowTurn",
    "card_events",
    "conditions",
    "count_events",
    "doubles",
    "fits",
    "joined",
    "mention_event",
    "nameless",
    "read_call",
    "read_card",
    "read_delta",
    "read_pairs",
    "report_tool",
    "second_person",
    "still_told",
    "the_player",
]

# Imported on first access, because the start of the process does not need them.
__getattr__ = lazy_face(__name__)
