"""The catalog of sessions, timelines and memory: list, change and correct them."""

from __future__ import annotations

from saga_core.catalog.memory import Memory
from saga_core.catalog.sessions import Sessions, SessionSummary
from saga_core.catalog.timelines import Comparison, Pruned, Side, Timelines
