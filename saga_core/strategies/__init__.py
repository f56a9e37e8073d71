"""Memory strategies: plugins that learn from play besides the state. They are off unless configured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from saga_core.lazy_face import lazy_face

if TYPE_CHECKING:
    from saga_core.strategies.consolidation import Skipped, consolidate, nearest
    from saga_core.strategies.learner import PREFIX, Learner, Terms
    from saga_core.strategies.strategy import Detail, LearnedRecord, RecordKind, Strategy, told

# Imported at the first use, to keep the start fast.
__getattr__ = lazy_face(
    {
        "Skipped": "saga_core.strategies.consolidation:Skipped",
        "consolidate": "saga_core.strategies.consolidation:consolidate",
        "nearest": "saga_core.strategies.consolidation:nearest",
        "Learner": "saga_core.strategies.learner:Learner",
        "PREFIX": "saga_core.strategies.learner:PREFIX",
        "Terms": "saga_core.strategies.learner:Terms",
        "Detail": "saga_core.strategies.strategy:Detail",
        "LearnedRecord": "saga_core.strategies.strategy:LearnedRecord",
        "RecordKind": "saga_core.strategies.strategy:RecordKind",
        "Strategy": "saga_core.strategies.strategy:Strategy",
        "told": "saga_core.strategies.strategy:told",
    }
)
