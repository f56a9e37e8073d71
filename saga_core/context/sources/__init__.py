"""The sources of context. Each returns pieces for one turn."""

from __future__ import annotations

from saga_core.context.sources.briefing import Briefing
from saga_core.context.sources.connections import Connections
from saga_core.context.sources.deaths import Deaths
from saga_core.context.sources.events import Events
from saga_core.context.sources.kept_lore import told_by_rule
from saga_core.context.sources.lorebook import Lorebook
from saga_core.context.sources.other_stories import OtherStories
from saga_core.context.sources.recollection import Recollection
from saga_core.context.sources.source import ContextSource, Given

__all__ = [
    "Briefing",
    "Connections",
    "ContextSource",
    "Deaths",
    "Events",
    "Given",
    "Lorebook",
    "OtherStories",
    "Recollection",
    "told_by_rule",
]
