"""The prompt: the order of its blocks, and how they are kept stable for the provider's cache."""

from __future__ import annotations

from saga_core.prompt.caching import Planned, SessionPrompts
from saga_core.prompt.memory import PromptMemory, StoredMemory, StoredVolatile, keep, only, recall
from saga_core.prompt.plan import build_plan, client_blocks, read_client_blocks, static_rules
from saga_core.prompt.prefix import Arranged, Cut, Pin, Reason, rewrite_pays
