"""The admin API: inspect, correct and maintain the data over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from saga_core.lazy_face import lazy_face

if TYPE_CHECKING:
    from saga_server.admin.backups import back_up, restore, state_file
    from saga_server.admin.events import EVENTS, Events, close_events
    from saga_server.admin.importing import imported, usual_owner
    from saga_server.admin.keys.handlers import (
        changed_key,
        created_key,
        listed_entries,
        listed_keys,
        revoked_key,
        rotated_key,
        with_use,
    )
    from saga_server.admin.maintenance import exported, exported_world, forgotten
    from saga_server.admin.mounting import admin_routes, prepare, unfinished
    from saga_server.admin.reply import to_plain
    from saga_server.admin.session_handlers import listed_sessions
    from saga_server.admin.timeline_handlers import comparison

__all__ = [
    "EVENTS",
    "Events",
    "admin_routes",
    "back_up",
    "changed_key",
    "close_events",
    "comparison",
    "created_key",
    "exported",
    "exported_world",
    "forgotten",
    "imported",
    "listed_entries",
    "listed_keys",
    "listed_sessions",
    "prepare",
    "restore",
    "revoked_key",
    "rotated_key",
    "state_file",
    "to_plain",
    "unfinished",
    "usual_owner",
    "with_use",
]

# Each name is imported on first use, so that a command or a start loads only what it needs.
__getattr__ = lazy_face(
    {
        "back_up": "saga_server.admin.backups:back_up",
        "restore": "saga_server.admin.backups:restore",
        "state_file": "saga_server.admin.backups:state_file",
        "EVENTS": "saga_server.admin.events:EVENTS",
        "Events": "saga_server.admin.events:Events",
        "close_events": "saga_server.admin.events:close_events",
        "exported": "saga_server.admin.maintenance:exported",
        "exported_world": "saga_server.admin.maintenance:exported_world",
        "forgotten": "saga_server.admin.maintenance:forgotten",
        "imported": "saga_server.admin.importing:imported",
        "usual_owner": "saga_server.admin.importing:usual_owner",
        "created_key": "saga_server.admin.keys.handlers:created_key",
        "changed_key": "saga_server.admin.keys.handlers:changed_key",
        "rotated_key": "saga_server.admin.keys.handlers:rotated_key",
        "revoked_key": "saga_server.admin.keys.handlers:revoked_key",
        "listed_keys": "saga_server.admin.keys.handlers:listed_keys",
        "listed_entries": "saga_server.admin.keys.handlers:listed_entries",
        "with_use": "saga_server.admin.keys.handlers:with_use",
        "to_plain": "saga_server.admin.reply:to_plain",
        "admin_routes": "saga_server.admin.mounting:admin_routes",
        "prepare": "saga_server.admin.mounting:prepare",
        "unfinished": "saga_server.admin.mounting:unfinished",
        "listed_sessions": "saga_server.admin.session_handlers:listed_sessions",
        "comparison": "saga_server.admin.timeline_handlers:comparison",
    }
)
