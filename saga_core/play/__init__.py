"""Play: one turn, from the request to its recording."""

from __future__ import annotations

from saga_core.play.bills.turn_bills import TurnBills
from saga_core.play.context_reading import ContextReading
from saga_core.play.known_models import KnownModels
from saga_core.play.layout import Layouts
from saga_core.play.markers import MARKER
from saga_core.play.open_calls import OpenCalls
from saga_core.play.pending_turn import PendingTurn, Reply
from saga_core.play.places import Places
from saga_core.play.play import Play
from saga_core.play.prefix import Prefixes
from saga_core.play.prefix_texts import PrefixTexts
from saga_core.play.prompt_memories import KeptPage, PromptMemories
from saga_core.play.prompting import Prompting
from saga_core.play.recording import Recorder

__all__ = [
    "MARKER",
    "ContextReading",
    "KeptPage",
    "KnownModels",
    "Layouts",
    "OpenCalls",
    "PendingTurn",
    "Places",
    "Play",
    "PrefixTexts",
    "Prefixes",
    "PromptMemories",
    "Prompting",
    "Recorder",
    "Reply",
    "TurnBills",
]
