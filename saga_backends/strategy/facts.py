"""Records facts that the story establishes about people, places and things, beyond the state."""

from __future__ import annotations

from saga_core.registry import Backend, OpenOptions
from saga_core.strategies import RecordKind, Strategy, told

FACTS = Strategy("facts", told("facts.task"), (RecordKind("fact", told("facts.fact"), "/facts/{actor}/{session}"),))


async def _open(options: OpenOptions) -> Strategy:
    options.take()
    return FACTS


BACKEND = Backend("strategy", "facts", _open, "facts about the story's people, places and things")
