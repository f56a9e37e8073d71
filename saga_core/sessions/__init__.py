"""Sessions in memory, which requests and jobs work with, and how they are found."""

from __future__ import annotations

from saga_core.sessions.amending import amend
from saga_core.sessions.by_hand import remarks_by_hand
from saga_core.sessions.directory import SessionDirectory
from saga_core.sessions.index_segments import parts_with, seal
from saga_core.sessions.live_session import LiveSession
from saga_core.sessions.live_sessions import LiveSessions
from saga_core.sessions.other_sessions import OtherSession, OtherSessions
from saga_core.sessions.shared_memories import SharedMemories
from saga_core.sessions.silence import SILENT_FROM, SILENT_MODE, SilentChats, silence_at, unread_replies
from saga_core.sessions.turn_names import timeline_named, turn_named

__all__ = [
    "SILENT_FROM",
    "SILENT_MODE",
    "LiveSession",
    "LiveSessions",
    "OtherSession",
    "OtherSessions",
    "SessionDirectory",
    "SharedMemories",
    "SilentChats",
    "amend",
    "parts_with",
    "remarks_by_hand",
    "seal",
    "silence_at",
    "timeline_named",
    "turn_named",
    "unread_replies",
]
