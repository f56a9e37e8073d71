"""Sessions in memory, which requests and jobs work with, and how they are found."""

from __future__ import annotations

from saga_core.sessions.directory import NewSession, SessionDirectory, is_number, timeline_named, turn_named
from saga_core.sessions.kinds import EPHEMERAL, PERSONAL, SESSION_KINDS, WORLD, checked_kind, checked_share, share_of
from saga_core.sessions.knowledge import Perspective, Perspectives, heard_of, hears, knowers, unknown_here
from saga_core.sessions.live_sessions import (
    LiveSession,
    LiveSessions,
    amend,
    parts_with,
    said_by_hand,
    seal,
)
from saga_core.sessions.missing_reports import (
    SILENT_FROM,
    SILENT_MODE,
    MissingReports,
    UnreportedReplies,
    unread_replies,
    unreported_at,
)
from saga_core.sessions.other_sessions import OtherSession, OtherSessions, SharedMemories, SharedRecords, card_of
from saga_core.sessions.shared_worlds import Publication, SharedWorlds
