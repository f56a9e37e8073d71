"""Sessions, timelines and memory: what can be listed, changed and corrected besides playing."""

from __future__ import annotations

from saga_core.catalog.memory import Memory
from saga_core.catalog.sessions import Sessions, SessionSummary
from saga_core.catalog.timelines import Comparison, Pruned, Side, Timelines

__all__ = [
    "Comparison",
    "Memory",
    "Pruned",
    "SessionSummary",
    "Sessions",
    "Side",
    "Timelines",
]
