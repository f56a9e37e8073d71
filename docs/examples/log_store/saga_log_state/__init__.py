"""A StateKV in an append-only file: each commit is one line, synced before the call returns."""

from __future__ import annotations

from saga_core import Backend
from saga_log_state.store import open_log

BACKEND = Backend("state", "log", open_log, "an append-only file, read whole when it is opened")

__all__ = ["BACKEND"]
