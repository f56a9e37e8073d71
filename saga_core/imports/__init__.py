"""Reads files of other tools into values, lists what was changed or left out, and writes their formats."""

from __future__ import annotations

from saga_core.imports.reading import read_file, read_files
from saga_core.imports.records import (
    KINDS,
    Card,
    Chat,
    ChatSummary,
    Found,
    Group,
    Lorebook,
    Loss,
    Losses,
    Persona,
    Reading,
    Refused,
    SagaSession,
    stem,
)
from saga_core.imports.sources import Source
from saga_core.imports.stories import ROOT, Story, StoryLine, StoryTurn, plan_stories
from saga_core.imports.worlds import LoreMode, WorldPlan, world_of
from saga_core.imports.written import Line, card_of, chat_of, lorebook_of

__all__ = [
    "KINDS",
    "ROOT",
    "Card",
    "Chat",
    "ChatSummary",
    "Found",
    "Group",
    "Line",
    "LoreMode",
    "Lorebook",
    "Loss",
    "Losses",
    "Persona",
    "Reading",
    "Refused",
    "SagaSession",
    "Source",
    "Story",
    "StoryLine",
    "StoryTurn",
    "WorldPlan",
    "card_of",
    "chat_of",
    "lorebook_of",
    "plan_stories",
    "read_file",
    "read_files",
    "stem",
    "world_of",
]
