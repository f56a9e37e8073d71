"""The admin API: looking inside, correcting and looking after, over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from saga_core.lazy_face import lazy_face

if TYPE_CHECKING:
    from saga_server.admin.backups import back_up, restore
    from saga_server.admin.events import EVENTS, Events, close_events, event_routes
    from saga_server.admin.handlers import prepare, unfinished
    from saga_server.admin.health import health_routes
    from saga_server.admin.lazy_routes import rare_routes
    from saga_server.admin.maintenance import exported, forgotten, imported
    from saga_server.admin.reload import reload_routes
    from saga_server.admin.sessions import admin_routes, summary_json
    from saga_server.admin.timelines import comparison_json

__all__ = [
    "EVENTS",
    "Events",
    "admin_routes",
    "back_up",
    "close_events",
    "comparison_json",
    "event_routes",
    "exported",
    "forgotten",
    "health_routes",
    "imported",
    "prepare",
    "rare_routes",
    "reload_routes",
    "restore",
    "summary_json",
    "unfinished",
]

# Imported when they are first asked for: commands and starts take what they need.
__getattr__ = lazy_face(
    {
        "back_up": "saga_server.admin.backups:back_up",
        "restore": "saga_server.admin.backups:restore",
        "EVENTS": "saga_server.admin.events:EVENTS",
        "Events": "saga_server.admin.events:Events",
        "close_events": "saga_server.admin.events:close_events",
        "event_routes": "saga_server.admin.events:event_routes",
        "prepare": "saga_server.admin.handlers:prepare",
        "unfinished": "saga_server.admin.handlers:unfinished",
        "health_routes": "saga_server.admin.health:health_routes",
        "rare_routes": "saga_server.admin.lazy_routes:rare_routes",
        "exported": "saga_server.admin.maintenance:exported",
        "forgotten": "saga_server.admin.maintenance:forgotten",
        "imported": "saga_server.admin.maintenance:imported",
        "reload_routes": "saga_server.admin.reload:reload_routes",
        "admin_routes": "saga_server.admin.sessions:admin_routes",
        "summary_json": "saga_server.admin.sessions:summary_json",
        "comparison_json": "saga_server.admin.timelines:comparison_json",
    }
)
