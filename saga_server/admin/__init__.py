"""The admin API: inspect, correct and maintain the data over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from saga_core.lazy_face import lazy_face

if TYPE_CHECKING:
    from saga_server.admin.backups import Restored, back_up, restore
    from saga_server.admin.endpoint import Endpoint
    from saga_server.admin.endpoints import ENDPOINTS
    from saga_server.admin.events import EVENTS, Events, close_events
    from saga_server.admin.importing import imported, usual_owner
    from saga_server.admin.mounting import admin_routes, prepare, unfinished
    from saga_server.admin.openapi import describe_api
    from saga_server.admin.reply import to_plain

# Each name is imported on first use, so that a command or a start loads only what it needs.
__getattr__ = lazy_face(__name__)
