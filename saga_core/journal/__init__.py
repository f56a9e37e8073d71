"""The journal: the append-only record of turns, with its keys and its ledger."""

from __future__ import annotations

from saga_core.journal import keys as keys
from saga_core.journal.format import MOVED, moved_to
from saga_core.journal.journal import Journal, greeting_key
from saga_core.journal.keys import (
    MOVED_KEY,
    OF_A_SESSION,
    PROBE_KEY,
    TOLD,
    Scanned,
    delete_below,
    delete_rows,
    pages,
    put_rows,
    rows,
    session_of,
    value,
)
from saga_core.journal.ledger import Ledger
from saga_core.journal.records import PendingWork, SharedTurn, TurnEntry, entries_of, make_root
from saga_core.journal.removal import Keep, Removal
from saga_core.journal.unfinished import AT_ONCE, note_of, uproot, write_turns
