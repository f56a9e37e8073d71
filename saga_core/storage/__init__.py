"""Storage: opens the stores of a configuration, and provides stand-ins for stores that fail."""

from __future__ import annotations

from saga_core.storage.engine_fingerprint import notice_change
from saga_core.storage.journal_guard import ANSWER_SECONDS, DAMAGED, ReadOnlyOnCorruption, restoring
from saga_core.storage.late_calls import what_hangs as what_hangs
from saga_core.storage.open_models import checked_chat, open_embedder
from saga_core.storage.opening import (
    FALLBACK,
    PROFILES,
    Stores,
    backend_of,
    health_of,
    open_journal_store,
    open_stores,
    path_of,
)
from saga_core.storage.other_journals import notice_other_journals
from saga_core.storage.private_files import make_private_once
from saga_core.storage.self_healing import SelfHealingStore
