"""The admin API: inspect, correct and maintain the data over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from saga_core.lazy_face import lazy_face

if TYPE_CHECKING:
    from saga_server.admin.backups import back_up, restore, state_file
    from saga_server.admin.endpoint import Endpoint
    from saga_server.admin.endpoints import ENDPOINTS
    from saga_server.admin.events import EVENTS, Events, close_events
    from saga_server.admin.importing import imported, usual_owner
    from saga_server.admin.key_handlers import (
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
    from saga_server.admin.openapi import describe_api
    from saga_server.admin.reply import to_plain
    from saga_server.admin.session_handlers import comparison, listed_sessions, session_record

# Each name is imported on first use, so that a command or a start loads only what it needs.
_PLACES = {
    "backups": "back_up restore state_file",
    "endpoint": "Endpoint",
    "endpoints": "ENDPOINTS",
    "events": "EVENTS Events close_events",
    "importing": "imported usual_owner",
    "key_handlers": "changed_key created_key listed_entries listed_keys revoked_key rotated_key with_use",
    "maintenance": "exported exported_world forgotten",
    "mounting": "admin_routes prepare unfinished",
    "openapi": "describe_api",
    "reply": "to_plain",
    "session_handlers": "comparison listed_sessions session_record",
}
__all__ = [
    "ENDPOINTS",
    "EVENTS",
    "Endpoint",
    "Events",
    "admin_routes",
    "back_up",
    "changed_key",
    "close_events",
    "comparison",
    "created_key",
    "describe_api",
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
    "session_record",
    "state_file",
    "to_plain",
    "unfinished",
    "usual_owner",
    "with_use",
]

__getattr__ = lazy_face(
    {name: f"{__name__}.{module}:{name}" for module, names in _PLACES.items() for name in names.split()}
)
