"""The prompt: the order of its blocks, and how they are kept stable for the provider's cache."""

from __future__ import annotations

from saga_core.prompt.build import build_plan, client_blocks, read_client_blocks
from saga_core.prompt.cutting import Cut
from saga_core.prompt.memory import Kept, KeptVolatile, PromptMemory, keep, only, recall
from saga_core.prompt.pinning import Pin, Reason, rewrite_pays
from saga_core.prompt.planner import Planned, SessionPrompts
from saga_core.prompt.rules import static_rules
from saga_core.prompt.volatile_text import Arranged

__all__ = [
    "Arranged",
    "Cut",
    "Kept",
    "KeptVolatile",
    "Pin",
    "Planned",
    "PromptMemory",
    "Reason",
    "SessionPrompts",
    "build_plan",
    "client_blocks",
    "keep",
    "only",
    "read_client_blocks",
    "recall",
    "rewrite_pays",
    "static_rules",
]
