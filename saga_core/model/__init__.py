"""The model: the entities of a story, the events that change them, and the resulting state."""

from __future__ import annotations

from saga_core.model import deltas as deltas
from saga_core.model.curated import CHAPTER, LEVELS, SCENE
from saga_core.model.deltas import Event, Forgotten, Introduced, Mentioned, Merged, Remembered, Renamed, Unremembered
from saga_core.model.entities import (
    ALIVE,
    DEAD,
    SCHEMA,
    Entity,
    Happening,
    Kind,
    MemoryRecord,
    Placement,
    Relation,
    Scheduled,
    Stack,
    StoryPart,
    newest,
)
from saga_core.model.folding import fold
from saga_core.model.namespaces import ACTOR, LOCAL, SESSION, STRATEGY, checked, crosses, filled, segments, within
from saga_core.model.tree import Timeline, Tree, TurnNode, follow, node_of, read_nodes
from saga_core.model.turn import ACCEPT, BLANK, READING, REFUSE, Review, Session, StandingRule, Turn, TurnKind, held
from saga_core.model.turn_delta import Delta, ReportStatus, Source, undoings
from saga_core.model.world_state import MAX_NOTES, MAX_STORY_CHARS, WorldState, sharing

__all__ = [
    "ACCEPT",
    "ACTOR",
    "ALIVE",
    "BLANK",
    "CHAPTER",
    "DEAD",
    "LEVELS",
    "LOCAL",
    "MAX_NOTES",
    "MAX_STORY_CHARS",
    "READING",
    "REFUSE",
    "SCENE",
    "SCHEMA",
    "SESSION",
    "STRATEGY",
    "Delta",
    "Entity",
    "Event",
    "Forgotten",
    "Happening",
    "Introduced",
    "Kind",
    "MemoryRecord",
    "Mentioned",
    "Merged",
    "Placement",
    "Relation",
    "Remembered",
    "Renamed",
    "ReportStatus",
    "Review",
    "Scheduled",
    "Session",
    "Source",
    "Stack",
    "StandingRule",
    "StoryPart",
    "Timeline",
    "Tree",
    "Turn",
    "TurnKind",
    "TurnNode",
    "Unremembered",
    "WorldState",
    "checked",
    "crosses",
    "deltas",
    "filled",
    "fold",
    "follow",
    "held",
    "newest",
    "node_of",
    "read_nodes",
    "segments",
    "sharing",
    "undoings",
    "within",
]
