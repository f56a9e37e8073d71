"""The table of all endpoints of the admin API.

A new endpoint is a row here, plus its handler and the classes that the handler takes and returns. The order is that of
the list in docs/http.md.
"""

from __future__ import annotations

from typing import Any, Final

from saga_server.admin import (
    importing,
    key_handlers,
    maintenance,
    memory_handlers,
    server_handlers,
    session_handlers,
    settings,
)
from saga_server.admin.endpoint import Endpoint
from saga_server.admin.parameters import ANY_BYTES, JSON_LINES, PICTURE

_ONE: Final = "/api/sessions/{id}"
_HEALTH: Final = ("health",)
_SERVER: Final = ("server",)
_SESSIONS: Final = ("sessions",)
_TIMELINES: Final = ("timelines",)
_MEMORY: Final = ("memory",)
_DATA: Final = ("data",)
_KEYS: Final = ("keys",)
_KEY: Final = "/api/keys/{key}"
_WORLDS: Final = ("worlds",)
_WORLD: Final = "/api/library/{world}"
_CHANGES: Final = f"{_ONE}/changes"
_HEADS: Final = f"{_ONE}/timelines"
_RULES: Final = f"{_ONE}/standing"

ENDPOINTS: Final[tuple[Endpoint[Any, Any], ...]] = (
    Endpoint(
        "GET", "/", server_handlers.welcome, "Links to the pages and the API",
        tags=_HEALTH, reach="open", any_query=True,
    ),
    Endpoint("GET", "/healthz", server_handlers.healthz, "Liveness check", tags=_HEALTH, reach="open", any_query=True),
    Endpoint(
        "GET", "/readyz", server_handlers.readyz, "Readiness check",
        tags=_HEALTH, reach="open",
        any_query=True, status_of=server_handlers.readiness_status, other_status=(503, "Not now, and why"),
    ),
    Endpoint(
        "GET", "/metrics", server_handlers.metrics, "Metrics for Prometheus",
        tags=_HEALTH, reach="admin", any_query=True, media="text/plain",
    ),
    Endpoint("GET", "/api/status", server_handlers.show_status, "State of the server", tags=_SERVER, reach="admin"),
    Endpoint("GET", "/api/sessions", session_handlers.list_sessions, "List sessions", tags=_SESSIONS, reach="own"),
    Endpoint(
        "POST", "/api/sessions", session_handlers.create_session, "Create a session",
        tags=_SESSIONS, reach="own", grows=True, status=201,
    ),
    Endpoint("GET", _ONE, session_handlers.show_session, "Get a session", tags=_SESSIONS, reach="own"),
    Endpoint(
        "POST", _ONE, session_handlers.rename_session, "Rename a session",
        tags=_SESSIONS, reach="own", if_match=_ONE,
    ),
    Endpoint(
        "POST", f"{_ONE}/share", session_handlers.join_world, "Share a session's world with other sessions",
        tags=_SESSIONS, reach="own",
    ),
    Endpoint(
        "DELETE", f"{_ONE}/share", session_handlers.leave_world, "Leave a shared world",
        tags=_SESSIONS, reach="own",
    ),
    Endpoint(
        "GET", "/api/chats/{chat}", session_handlers.show_chat, "Find the session of a frontend's chat",
        tags=_SESSIONS, reach="own",
    ),
    Endpoint(
        "GET", f"{_ONE}/portrait", session_handlers.show_portrait, "Get the picture of the session's card",
        tags=_SESSIONS, reach="own", media=PICTURE,
    ),
    Endpoint("GET", f"{_ONE}/state", memory_handlers.show_state, "Get the state at a turn", tags=_MEMORY, reach="own"),
    Endpoint(
        "GET", f"{_ONE}/{{module}}.svg", memory_handlers.show_picture, "Get the drawing of a module, such as the map",
        tags=_MEMORY, reach="own", media=memory_handlers.SVG,
    ),
    Endpoint(
        "GET", f"{_ONE}/lines", memory_handlers.show_lines, "Get the state at a turn, line by line",
        tags=_MEMORY, reach="own",
    ),
    Endpoint(
        "GET", f"{_ONE}/knowledge", memory_handlers.show_knowledge,
        "Who knows what happened at a turn, or what a character knows",
        tags=_MEMORY, reach="own",
    ),
    Endpoint(
        "GET", f"{_ONE}/cost", session_handlers.show_cost, "Get the cost of a session",
        tags=_SESSIONS, reach="own",
    ),
    Endpoint(
        "GET", f"{_ONE}/bills", session_handlers.list_bills, "List bills, latest first",
        tags=_SESSIONS, reach="own",
    ),
    Endpoint("GET", f"{_ONE}/graph", memory_handlers.show_graph, "Get the graph", tags=_MEMORY, reach="own"),
    Endpoint(
        "GET", f"{_ONE}/turns", session_handlers.list_turns, "List the turns of a path",
        tags=_SESSIONS, reach="own",
    ),
    Endpoint(
        "GET", f"{_ONE}/tree", session_handlers.show_tree, "Get the tree of all turns",
        tags=_SESSIONS, reach="own",
    ),
    Endpoint(
        "GET", f"{_ONE}/runs", session_handlers.show_runs, "Get the tree as runs of turns without branches",
        tags=_TIMELINES, reach="own",
    ),
    Endpoint(
        "GET", f"{_ONE}/turns/{{turn}}", session_handlers.show_turn, "Get a turn: what was said, changed and paid",
        tags=_SESSIONS, reach="own",
    ),
    Endpoint(
        "GET", f"{_ONE}/timelines", session_handlers.list_timelines,
        "List named timelines, and the ends of other paths",
        tags=_TIMELINES, reach="own",
    ),
    Endpoint(
        "POST", f"{_ONE}/fork", session_handlers.fork_timeline, "Name a timeline",
        tags=_TIMELINES, reach="own", grows=True, status=201, if_match=_HEADS,
    ),
    Endpoint(
        "POST", f"{_ONE}/timelines/{{name}}", session_handlers.rename_timeline, "Rename a timeline",
        tags=_TIMELINES, reach="own", if_match=_HEADS,
    ),
    Endpoint(
        "DELETE", f"{_ONE}/timelines/{{name}}", session_handlers.forget_timeline, "Forget a timeline's name",
        tags=_TIMELINES, reach="own", if_match=_HEADS,
    ),
    Endpoint(
        "GET", f"{_ONE}/compare", session_handlers.compare_timelines,
        "Compare two turns: where they diverged, and what differs",
        tags=_TIMELINES, reach="own",
    ),
    Endpoint(
        "GET", f"{_ONE}/curation", memory_handlers.show_curation, "List what curators noticed",
        tags=_MEMORY, reach="own",
    ),
    Endpoint(
        "GET", f"{_ONE}/entities", memory_handlers.list_entities,
        "List the people, places, things and events of the story",
        tags=_MEMORY, reach="own",
    ),
    Endpoint(
        "GET", f"{_ONE}/entities/{{entity}}", memory_handlers.show_entity, "Get a person, place, thing or event",
        tags=_MEMORY, reach="own",
    ),
    Endpoint(
        "GET", f"{_ONE}/memories", memory_handlers.list_memories, "List what memory strategies learned",
        tags=_MEMORY, reach="own",
    ),
    Endpoint(
        "GET", f"{_ONE}/changes", memory_handlers.list_changes, "List corrections by curators and people",
        tags=_MEMORY, reach="own",
    ),
    Endpoint(
        "POST", f"{_ONE}/changes", memory_handlers.make_change, "Correct something",
        tags=_MEMORY, reach="own", grows=True, status=201, if_match=_CHANGES,
    ),
    Endpoint(
        "DELETE", f"{_ONE}/changes/{{change}}", memory_handlers.undo_change, "Undo a change",
        tags=_MEMORY, reach="own", if_match=_CHANGES,
    ),
    Endpoint(
        "POST", f"{_ONE}/changes/{{change}}", memory_handlers.decide_change, "Accept or reject a pending change",
        tags=_MEMORY, reach="own", if_match=_CHANGES,
    ),
    Endpoint(
        "GET", _RULES, memory_handlers.list_standing, "List standing rules for proposals",
        tags=_MEMORY, reach="own",
    ),
    Endpoint(
        "POST", _RULES, memory_handlers.decide_always, "Always accept or reject proposals like this one",
        tags=_MEMORY, reach="own", grows=True, status=201, if_match=_RULES,
    ),
    Endpoint(
        "DELETE", f"{_RULES}/{{rule}}", memory_handlers.ask_again, "Delete a standing rule",
        tags=_MEMORY, reach="own", if_match=_RULES,
    ),
    Endpoint(
        "GET", f"{_ONE}/context", memory_handlers.show_context, "Explain the context of a turn",
        tags=_MEMORY, reach="own",
    ),
    Endpoint(
        "POST", f"{_ONE}/context", memory_handlers.try_words, "Preview the context for given words",
        tags=_MEMORY, reach="own",
    ),
    Endpoint(
        "GET", f"{_ONE}/untold", memory_handlers.show_untold, "Explain why a text was told or not",
        tags=_MEMORY, reach="own",
    ),
    Endpoint(
        "POST", f"{_ONE}/untold", memory_handlers.look_up, "Explain why a long text was told or not",
        tags=_MEMORY, reach="own",
    ),
    Endpoint(
        "GET", f"{_ONE}/lore", memory_handlers.show_lore, "List lore, and when each entry was told",
        tags=_MEMORY, reach="own",
    ),
    Endpoint("GET", f"{_ONE}/cache", memory_handlers.show_pages, "Get the four pages", tags=_MEMORY, reach="own"),
    Endpoint(
        "POST", f"{_ONE}/cache/regen", memory_handlers.regenerate_pages, "Render the pages again",
        tags=_MEMORY, reach="own",
    ),
    Endpoint(
        "POST", f"{_ONE}/prune", session_handlers.prune_timeline, "Delete a turn and everything below it",
        tags=_TIMELINES, reach="own", if_match=_HEADS,
    ),
    Endpoint(
        "POST", f"{_ONE}/reextract", session_handlers.reextract, "Run the extraction model again",
        tags=_SESSIONS, reach="own", costs=True,
    ),
    Endpoint(
        "GET", f"{_ONE}/backfill", importing.show_backfill, "Estimate the cost of a backfill",
        tags=_SESSIONS, reach="own",
    ),
    Endpoint(
        "POST", f"{_ONE}/backfill", importing.backfill, "Backfill the next turns",
        tags=_SESSIONS, reach="own", costs=True,
    ),
    Endpoint("POST", f"{_ONE}/reset", session_handlers.reset_session, "Reset a session", tags=_SESSIONS, reach="own"),
    Endpoint(
        "DELETE", _ONE, session_handlers.delete_session, "Delete a session from every store",
        tags=_SESSIONS, reach="own",
    ),
    Endpoint(
        "GET", "/api/trash", session_handlers.list_trash, "List the deleted sessions that can be restored",
        tags=_SESSIONS, reach="own",
    ),
    Endpoint(
        "POST", "/api/trash/{deleted}", session_handlers.restore_session, "Restore a deleted session",
        tags=_SESSIONS, reach="own",
    ),
    Endpoint(
        "DELETE", "/api/trash/{deleted}", session_handlers.discard_session, "Remove a deleted session for good",
        tags=_SESSIONS, reach="own",
    ),
    Endpoint(
        "GET", "/api/memory/search", memory_handlers.search, "Search the turns that best answer a question",
        tags=_MEMORY, reach="own",
    ),
    Endpoint("GET", "/api/roll", memory_handlers.show_roll, "Roll dice", tags=_MEMORY, reach="shared"),
    Endpoint(
        "GET", "/api/graph/query", memory_handlers.query_graph, "Run a query in the graph engine's own language",
        tags=_MEMORY, reach="admin",
    ),
    Endpoint("GET", "/api/library", memory_handlers.show_library, "List worlds", tags=_WORLDS, reach="admin"),
    Endpoint("GET", _WORLD, memory_handlers.show_world, "List the files of a world", tags=_WORLDS, reach="admin"),
    Endpoint(
        "POST", _WORLD, memory_handlers.edit_world, "Write a file of a world",
        tags=_WORLDS, reach="admin", if_match=_WORLD,
    ),
    Endpoint(
        "GET", "/api/verify", maintenance.verify_views, "Compare every view with the journal",
        tags=_DATA, reach="admin",
    ),
    Endpoint(
        "POST", "/api/repair", maintenance.repair_views, "Verify, and render again what differs",
        tags=_DATA, reach="admin",
    ),
    Endpoint(
        "POST", "/api/rebuild", maintenance.rebuild_views, "Discard a session's views and render them again",
        tags=_DATA, reach="admin",
    ),
    Endpoint("GET", "/api/jobs", maintenance.show_jobs, "List unfinished background jobs", tags=_DATA, reach="own"),
    Endpoint("POST", "/api/jobs/retry", maintenance.retry_jobs, "Retry jobs now", tags=_DATA, reach="own"),
    Endpoint("GET", "/api/backups", maintenance.list_backups, "List backups", tags=_DATA, reach="admin"),
    Endpoint(
        "POST", "/api/backups", maintenance.make_backup, "Copy the journal to a single file",
        tags=_DATA, reach="admin", status=201,
    ),
    Endpoint(
        "GET", f"{_ONE}/export", maintenance.export_one, "Export a session as a file",
        tags=_DATA, reach="own", media=JSON_LINES,
    ),
    Endpoint(
        "GET", f"{_WORLD}/export", maintenance.export_world, "Export a world as a card or a lorebook",
        tags=_DATA, reach="admin", media=ANY_BYTES,
    ),
    Endpoint(
        "POST", "/api/import", importing.import_files, "Import cards, lorebooks, chats, and exported sessions",
        tags=_DATA, reach="admin",
        status=201, status_of=importing.import_status, other_status=(200, "What would be taken in (dry_run=1)"),
    ),
    Endpoint("DELETE", "/api/import", importing.stop_imports, "Stop running imports", tags=_DATA, reach="admin"),
    Endpoint(
        "POST", "/api/forget", maintenance.forget, "Forget a session, a name in it, or everything of an API key",
        tags=_DATA, reach="admin",
    ),
    Endpoint(
        "GET", "/api/me", key_handlers.show_me, "Get the caller, and what is left of its quotas",
        tags=_KEYS, reach="own",
    ),
    Endpoint("GET", "/api/keys", key_handlers.list_keys, "List keys, and their use today", tags=_KEYS, reach="admin"),
    Endpoint("POST", "/api/keys", key_handlers.create_key, "Create a key", tags=_KEYS, reach="admin", status=201),
    Endpoint("GET", _KEY, key_handlers.show_key, "Get a key, and its use today", tags=_KEYS, reach="admin"),
    Endpoint(
        "POST", _KEY, key_handlers.change_key, "Change the name or the quotas of a key",
        tags=_KEYS, reach="admin",
    ),
    Endpoint(
        "POST", f"{_KEY}/rotate", key_handlers.rotate_key, "Rotate the secret of a key",
        tags=_KEYS, reach="admin",
    ),
    Endpoint("DELETE", _KEY, key_handlers.revoke_key, "Revoke a key", tags=_KEYS, reach="admin"),
    Endpoint("GET", "/api/audit", key_handlers.show_audit, "Get the audit log", tags=_KEYS, reach="admin"),
    Endpoint(
        "GET", "/api/events", server_handlers.show_events, "Stream events",
        tags=_SERVER, reach="own", media="text/event-stream",
    ),
    Endpoint("GET", "/api/log", server_handlers.show_log, "Get the end of the log", tags=_SERVER, reach="admin"),
    Endpoint(
        "POST", "/api/doctor", server_handlers.examine, "Check stores, providers and worlds",
        tags=_SERVER, reach="admin",
    ),
    Endpoint(
        "GET", "/api/openapi.json", server_handlers.show_description, "Get this description",
        tags=_SERVER, reach="shared",
    ),
    Endpoint(
        "GET", "/api/settings", settings.show_settings, "List the settings that players change",
        tags=_SERVER, reach="admin",
    ),
    Endpoint(
        "POST", "/api/settings", settings.change_settings, "Change settings in the settings file",
        tags=_SERVER, reach="admin", if_match="/api/settings",
    ),
    Endpoint(
        "POST", "/api/reload", server_handlers.reload_settings, "Reload the settings",
        tags=_SERVER, reach="admin",
    ),
    Endpoint(
        "POST", "/api/drain", server_handlers.drain, "Run the background work that is due",
        tags=_SERVER, reach="admin",
    ),
)  # fmt: skip
