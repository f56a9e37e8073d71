"""Play: one turn, from the request to its recording."""

from __future__ import annotations

from saga_core.play.bills import TurnBills
from saga_core.play.pending_turn import MARKER, PendingTurn, Reply, without_markers
from saga_core.play.places import OpenCalls, Places
from saga_core.play.play import ContextReading, Play
from saga_core.play.prompt_memories import NarratorModels, PinnedPage, PromptMemories
from saga_core.play.prompting import PrefixTexts, Prompting
from saga_core.play.recording import Recorder, TurnWork
from saga_core.play.request import Request
