"""Reads files of other tools through plugins, and turns what they hold into worlds and stories.

An importer reads a file into the values of this room, and notes what it changed or left out. The room itself knows no
other tool's format. See docs/write-an-importer.md.
"""

from __future__ import annotations

from saga_core.imports.archives import Archive, plain_files
from saga_core.imports.fields import (
    FILE_DATE,
    FROM_NEXT_REQUEST,
    KEPT,
    MEASURED,
    OWN_EDITOR,
    OWN_TOOL,
    SCRIPT,
    SENT_AGAIN,
    Fate,
    Fields,
    dropped,
    fates,
    mapped,
    read_time,
)
from saga_core.imports.foreign_file import ForeignFile, Source
from saga_core.imports.importer import Fit, Importer, Importers, check_amount, importers, read_file, read_files
from saga_core.imports.records import (
    Asset,
    Card,
    Chat,
    ChatMessage,
    ChatSummary,
    Found,
    Group,
    Lorebook,
    LoreItem,
    Loss,
    Losses,
    Persona,
    Reading,
    Record,
    Refused,
    SagaSession,
    Unreadable,
    stem,
    with_messages,
)
from saga_core.imports.stories import ROOT, Story, StoryLine, plan_stories
from saga_core.imports.texts import decode, read_json, tidy
from saga_core.imports.worlds import LoreMode, WorldPlan, world_of

__all__ = [
    "FILE_DATE",
    "FROM_NEXT_REQUEST",
    "KEPT",
    "MEASURED",
    "OWN_EDITOR",
    "OWN_TOOL",
    "ROOT",
    "SCRIPT",
    "SENT_AGAIN",
    "Archive",
    "Asset",
    "Card",
    "Chat",
    "ChatMessage",
    "ChatSummary",
    "Fate",
    "Fields",
    "Fit",
    "ForeignFile",
    "Found",
    "Group",
    "Importer",
    "Importers",
    "LoreItem",
    "LoreMode",
    "Lorebook",
    "Loss",
    "Losses",
    "Persona",
    "Reading",
    "Record",
    "Refused",
    "SagaSession",
    "Source",
    "Story",
    "StoryLine",
    "Unreadable",
    "WorldPlan",
    "check_amount",
    "decode",
    "dropped",
    "fates",
    "importers",
    "mapped",
    "plain_files",
    "plan_stories",
    "read_file",
    "read_files",
    "read_json",
    "read_time",
    "stem",
    "tidy",
    "with_messages",
    "world_of",
]
