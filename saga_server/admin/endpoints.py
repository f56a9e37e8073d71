"""The table of all endpoints of the admin API.

A new endpoint is a row here, plus its handler and the class that the handler returns. The order is that of the list in
docs/http.md.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from saga_server.admin import (
    importing,
    key_handlers,
    maintenance,
    memory_handlers,
    server_handlers,
    session_handlers,
    settings,
)
from saga_server.admin.endpoint import Endpoint, Reach
from saga_server.admin.parameters import ANY_BYTES, JSON_LINES, PICTURE


def _about(tag: str, reach: Reach) -> Callable[..., Endpoint]:
    """Return what makes the rows of one topic; ``reach`` is that of a row that does not say it."""
    return partial(Endpoint, tags=(tag,), reach=reach)


_health = partial(_about("health", "open"), any_query=True)
_server = _about("server", "admin")
_sessions = _about("sessions", "own")
_timelines = _about("timelines", "own")
_memory = _about("memory", "own")
_worlds = _about("worlds", "admin")
_data = _about("data", "admin")
_keys = _about("keys", "admin")

_ONE: Final = "/api/sessions/{id}"
_CHANGES: Final = _ONE + "/changes"
_HEADS: Final = _ONE + "/timelines"
_RULES: Final = _ONE + "/standing"
_KEY: Final = "/api/keys/{key}"
_WORLD: Final = "/api/library/{world}"

ENDPOINTS: Final[tuple[Endpoint, ...]] = (
    _health("GET", "/", server_handlers.welcome, "Links to the pages and the API"),
    _health("GET", "/healthz", server_handlers.healthz, "Liveness check"),
    _health("GET", "/readyz", server_handlers.readyz,
        "Readiness check", status_of=server_handlers.readiness_status, other_status=(503, "Not now, and why")),
    _health("GET", "/metrics", server_handlers.metrics, "Metrics for Prometheus", media="text/plain", reach="admin"),
    _server("GET", "/api/status", server_handlers.show_status, "State of the server"),
    _sessions("GET", "/api/sessions", session_handlers.list_sessions, "List sessions"),
    _sessions("POST", "/api/sessions", session_handlers.create_session, "Create a session", grows=True, status=201),
    _sessions("GET", _ONE, session_handlers.show_session, "Get a session"),
    _sessions("POST", _ONE, session_handlers.rename_session, "Rename a session", if_match=_ONE),
    _sessions("POST", _ONE + "/share", session_handlers.join_world, "Share a session's world with other sessions"),
    _sessions("DELETE", _ONE + "/share", session_handlers.leave_world, "Leave a shared world"),
    _sessions("GET", "/api/chats/{chat}", session_handlers.show_chat, "Find the session of a frontend's chat"),
    _sessions("GET", _ONE + "/portrait", session_handlers.show_portrait,
        "Get the picture of the session's card", media=PICTURE),
    _memory("GET", _ONE + "/state", memory_handlers.show_state, "Get the state at a turn"),
    _memory("GET", _ONE + "/{module}.svg", memory_handlers.show_picture,
        "Get the drawing of a module, such as the map", media=memory_handlers.SVG),
    _memory("GET", _ONE + "/lines", memory_handlers.show_lines, "Get the state at a turn, line by line"),
    _memory("GET", _ONE + "/knowledge", memory_handlers.show_knowledge,
        "Who knows what happened at a turn, or what a character knows"),
    _sessions("GET", _ONE + "/cost", session_handlers.show_cost, "Get the cost of a session"),
    _sessions("GET", _ONE + "/bills", session_handlers.list_bills, "List bills, latest first"),
    _memory("GET", _ONE + "/graph", memory_handlers.show_graph, "Get the graph"),
    _sessions("GET", _ONE + "/turns", session_handlers.list_turns, "List the turns of a path"),
    _sessions("GET", _ONE + "/tree", session_handlers.show_tree, "Get the tree of all turns"),
    _timelines("GET", _ONE + "/runs", session_handlers.show_runs, "Get the tree as runs of turns without branches"),
    _sessions("GET", _ONE + "/turns/{turn}", session_handlers.show_turn, "Get a turn: what was said, changed and paid"),
    _timelines("GET", _ONE + "/timelines", session_handlers.list_timelines,
        "List named timelines, and the ends of other paths"),
    _timelines("POST", _ONE + "/fork", session_handlers.fork_timeline,
        "Name a timeline", grows=True, status=201, if_match=_HEADS),
    _timelines("POST", _ONE + "/timelines/{name}", session_handlers.rename_timeline,
        "Rename a timeline", if_match=_HEADS),
    _timelines("DELETE", _ONE + "/timelines/{name}", session_handlers.forget_timeline,
        "Forget a timeline's name", if_match=_HEADS),
    _timelines("GET", _ONE + "/compare", session_handlers.compare_timelines,
        "Compare two turns: where they diverged, and what differs"),
    _memory("GET", _ONE + "/curation", memory_handlers.show_curation, "List what curators noticed"),
    _memory("GET", _ONE + "/entities", memory_handlers.list_entities,
        "List the people, places, things and events of the story"),
    _memory("GET", _ONE + "/entities/{entity}", memory_handlers.show_entity, "Get a person, place, thing or event"),
    _memory("GET", _ONE + "/memories", memory_handlers.list_memories, "List what memory strategies learned"),
    _memory("GET", _ONE + "/changes", memory_handlers.list_changes, "List corrections by curators and people"),
    _memory("POST", _ONE + "/changes", memory_handlers.make_change,
        "Correct something", grows=True, status=201, if_match=_CHANGES),
    _memory("DELETE", _ONE + "/changes/{change}", memory_handlers.undo_change, "Undo a change", if_match=_CHANGES),
    _memory("POST", _ONE + "/changes/{change}", memory_handlers.decide_change,
        "Accept or reject a pending change", if_match=_CHANGES),
    _memory("POST", _ONE + "/chapters", memory_handlers.rewrite_chapter, "Tell some turns in a style", costs=True),
    _memory("GET", _RULES, memory_handlers.list_standing, "List standing rules for proposals"),
    _memory("POST", _RULES, memory_handlers.decide_always,
        "Always accept or reject proposals like this one", grows=True, status=201, if_match=_RULES),
    _memory("DELETE", _RULES + "/{rule}", memory_handlers.ask_again, "Delete a standing rule", if_match=_RULES),
    _memory("GET", _ONE + "/context", memory_handlers.show_context, "Explain the context of a turn"),
    _memory("POST", _ONE + "/context", memory_handlers.try_words, "Preview the context for given words"),
    _memory("GET", _ONE + "/untold", memory_handlers.show_untold, "Explain why a text was told or not"),
    _memory("POST", _ONE + "/untold", memory_handlers.look_up, "Explain why a long text was told or not"),
    _memory("GET", _ONE + "/lore", memory_handlers.show_lore, "List lore, and when each entry was told"),
    _memory("GET", _ONE + "/cache", memory_handlers.show_pages, "Get the four pages"),
    _memory("POST", _ONE + "/cache/regen", memory_handlers.regenerate_pages, "Render the pages again"),
    _timelines("POST", _ONE + "/prune", session_handlers.prune_timeline,
        "Delete a turn and everything below it", if_match=_HEADS),
    _sessions("POST", _ONE + "/reextract", session_handlers.reextract, "Run the extraction model again", costs=True),
    _sessions("GET", _ONE + "/backfill", importing.show_backfill, "Estimate the cost of a backfill"),
    _sessions("POST", _ONE + "/backfill", importing.backfill, "Backfill the next turns", costs=True),
    _sessions("POST", _ONE + "/reset", session_handlers.reset_session, "Reset a session"),
    _sessions("DELETE", _ONE, session_handlers.delete_session, "Delete a session from every store"),
    _sessions("GET", "/api/trash", session_handlers.list_trash, "List the deleted sessions that can be restored"),
    _sessions("POST", "/api/trash/{deleted}", session_handlers.restore_session, "Restore a deleted session"),
    _sessions("DELETE", "/api/trash/{deleted}", session_handlers.discard_session, "Remove a deleted session for good"),
    _memory("GET", "/api/memory/search", memory_handlers.search, "Search the turns that best answer a question"),
    _memory("GET", "/api/roll", memory_handlers.show_roll, "Roll dice", reach="shared"),
    _memory("GET", "/api/graph/query", memory_handlers.query_graph,
        "Run a query in the graph engine's own language", reach="admin"),
    _worlds("GET", "/api/library", memory_handlers.show_library, "List worlds"),
    _worlds("GET", _WORLD, memory_handlers.show_world, "List the files of a world"),
    _worlds("POST", _WORLD, memory_handlers.edit_world, "Write a file of a world", if_match=_WORLD),
    _data("GET", "/api/verify", maintenance.verify_views, "Compare every view with the journal"),
    _data("POST", "/api/repair", maintenance.repair_views, "Verify, and render again what differs"),
    _data("POST", "/api/rebuild", maintenance.rebuild_views, "Discard a session's views and render them again"),
    _data("GET", "/api/jobs", maintenance.show_jobs, "List unfinished background jobs", reach="own"),
    _data("POST", "/api/jobs/retry", maintenance.retry_jobs, "Retry jobs now", reach="own"),
    _data("GET", "/api/backups", maintenance.list_backups, "List backups"),
    _data("POST", "/api/backups", maintenance.make_backup, "Copy the journal to a single file", status=201),
    _data("GET", _ONE + "/export", maintenance.export_one, "Export a session as a file", media=JSON_LINES, reach="own"),
    _data("GET", _WORLD + "/export", maintenance.export_world,
        "Export a world as a card or a lorebook", media=ANY_BYTES),
    _data("POST", "/api/import", importing.import_files,
        "Import cards, lorebooks, chats, and exported sessions", status=201,
        status_of=importing.import_status, other_status=(200, "What would be taken in (dry_run=1)")),
    _data("DELETE", "/api/import", importing.stop_imports, "Stop running imports"),
    _data("POST", "/api/forget", maintenance.forget, "Forget a session, a name in it, or everything of an API key"),
    _keys("GET", "/api/me", key_handlers.show_me, "Get the caller, and what is left of its quotas", reach="own"),
    _keys("GET", "/api/keys", key_handlers.list_keys, "List keys, and their use today"),
    _keys("POST", "/api/keys", key_handlers.create_key, "Create a key", status=201),
    _keys("GET", _KEY, key_handlers.show_key, "Get a key, and its use today"),
    _keys("POST", _KEY, key_handlers.change_key, "Change the name or the quotas of a key"),
    _keys("POST", _KEY + "/rotate", key_handlers.rotate_key, "Rotate the secret of a key"),
    _keys("DELETE", _KEY, key_handlers.revoke_key, "Revoke a key"),
    _keys("GET", "/api/audit", key_handlers.show_audit, "Get the audit log"),
    _server("GET", "/api/events", server_handlers.show_events, "Stream events", media="text/event-stream", reach="own"),
    _server("GET", "/api/log", server_handlers.show_log, "Get the end of the log"),
    _server("POST", "/api/doctor", server_handlers.examine, "Check stores, providers and worlds"),
    _server("GET", "/api/openapi.json", server_handlers.show_description, "Get this description", reach="shared"),
    _server("GET", "/api/settings", settings.show_settings, "List the settings that players change"),
    _server("POST", "/api/settings", settings.change_settings,
        "Change settings in the settings file", if_match="/api/settings"),
    _server("POST", "/api/reload", server_handlers.reload_settings, "Reload the settings"),
    _server("POST", "/api/drain", server_handlers.drain, "Run the background work that is due"),
)  # fmt: skip
