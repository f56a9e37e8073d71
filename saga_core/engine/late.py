"""What starting does without, and playing does not: made ready right after it, so that no turn waits for it."""

from __future__ import annotations

import logging
from importlib import import_module

from saga_core import codec, registry
from saga_core.billing.bill import Bill
from saga_core.engine.prompt_memories import KeptPage
from saga_core.journal.tree import Node
from saga_core.model.turn import Session, Turn
from saga_core.model.world_state import WorldState
from saga_core.prompt.memory import Kept, KeptFloating
from saga_core.world.model import World

log = logging.getLogger("saga")

_MODULES = (
    "saga_core.curation.rulings",
    "saga_core.curation.corrections",
    "saga_core.strategies.consolidation",
)
_RECORDS = (Session, Turn, Node, WorldState, World, Bill, Kept, KeptFloating, KeptPage)
"""What a turn reads and writes."""


def make_ready() -> None:
    """Import what was put off, by the engine and by the backends that were loaded (``Backend.late``), and make the
    readers and writers of records. Takes two tenths of a second, for a thread. What cannot be imported is logged, and
    met again by whoever needs it.
    """
    for name in (*_MODULES, *registry.late()):
        try:
            import_module(name)
        except ImportError as error:
            log.warning("%s cannot be imported: %s", name, error)
    codec.prepare(*_RECORDS)
