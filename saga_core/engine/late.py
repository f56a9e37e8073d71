"""Modules that starting does without, and playing does not: imported right after it, so that no turn waits for them."""

from __future__ import annotations

import logging
from importlib import import_module

from saga_core import registry

log = logging.getLogger("saga")

_OWN = (
    "saga_core.curation.rulings",
    "saga_core.curation.corrections",
    "saga_core.strategies.consolidation",
)


def import_late() -> None:
    """Import them, and what the backends that were loaded put off (``Backend.late``). Takes a tenth of a second, for a
    thread. What cannot be imported is logged, and met again by whoever needs it.
    """
    for name in (*_OWN, *registry.late()):
        try:
            import_module(name)
        except ImportError as error:
            log.warning("%s cannot be imported: %s", name, error)
