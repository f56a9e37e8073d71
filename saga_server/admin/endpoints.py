"""The table of all endpoints of the admin API.

A new endpoint is a row here, plus its handler and the classes that the row names. The order is that of the list in
docs/http.md.
"""

from __future__ import annotations

from typing import Any, Final

from aiohttp import web

from saga_server.admin import (
    answers,
    importing,
    maintenance,
    memory_answers,
    memory_handlers,
    parameters,
    server_handlers,
    session_handlers,
    timeline_answers,
)
from saga_server.admin import timeline_handlers as timelines
from saga_server.admin.endpoint import Endpoint, NoParams
from saga_server.admin.keys import answers as key_answers
from saga_server.admin.keys import handlers as key_handlers
from saga_server.admin.keys import parameters as key_parameters
from saga_server.admin.parameters import ANY_BYTES, JSON_LINES

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
        "GET", "/", server_handlers.welcome, NoParams, answers.Welcome,
        "Links to the pages and the API", tags=_HEALTH, reach="open", any_query=True,
    ),
    Endpoint(
        "GET", "/healthz", server_handlers.healthz, NoParams, answers.Alive,
        "Liveness check", tags=_HEALTH, reach="open", any_query=True,
    ),
    Endpoint(
        "GET", "/readyz", server_handlers.readyz, NoParams, answers.Readiness,
        "Readiness check", tags=_HEALTH, reach="open", any_query=True,
        status_of=server_handlers.readiness_status, other_status=(503, "Not now, and why"),
    ),
    Endpoint(
        "GET", "/metrics", server_handlers.metrics, NoParams, web.StreamResponse,
        "Metrics for Prometheus", tags=_HEALTH, reach="admin", any_query=True, media="text/plain",
    ),
    Endpoint(
        "GET", "/api/status", server_handlers.show_status, NoParams, answers.Status,
        "State of the server", tags=_SERVER, reach="admin",
    ),
    Endpoint(
        "GET", "/api/sessions", session_handlers.list_sessions, parameters.WhichSessions, answers.Sessions,
        "List sessions", tags=_SESSIONS, reach="own",
    ),
    Endpoint(
        "POST", "/api/sessions", session_handlers.create_session, parameters.NewSession, answers.SessionRecord,
        "Create a session", tags=_SESSIONS, reach="own", status=201,
    ),
    Endpoint(
        "GET", _ONE, session_handlers.show_session, parameters.OfSession, answers.SessionSummary,
        "Get a session", tags=_SESSIONS, reach="own",
    ),
    Endpoint(
        "POST", _ONE, session_handlers.rename_session, parameters.RenameSession, answers.SessionRecord,
        "Rename a session", tags=_SESSIONS, reach="own", if_match=_ONE,
    ),
    Endpoint(
        "GET", f"{_ONE}/state", memory_handlers.show_state, parameters.AtTurn, memory_answers.State,
        "Get the state at a turn", tags=_MEMORY, reach="own",
    ),
    Endpoint(
        "GET", f"{_ONE}/lines", memory_handlers.show_lines, parameters.AtTurn, memory_answers.Lines,
        "Get the state at a turn, line by line", tags=_MEMORY, reach="own",
    ),
    Endpoint(
        "GET", f"{_ONE}/cost", session_handlers.show_cost, parameters.Cost, answers.CostOfSession,
        "Get the cost of a session", tags=_SESSIONS, reach="own",
    ),
    Endpoint(
        "GET", f"{_ONE}/bills", session_handlers.list_bills, parameters.Bills, answers.Bills,
        "List bills, latest first", tags=_SESSIONS, reach="own",
    ),
    Endpoint(
        "GET", f"{_ONE}/graph", memory_handlers.show_graph, parameters.AtTurn, memory_answers.Graph,
        "Get the graph", tags=_MEMORY, reach="own",
    ),
    Endpoint(
        "GET", f"{_ONE}/turns", session_handlers.list_turns, parameters.Path, answers.Turns,
        "List the turns of a path", tags=_SESSIONS, reach="own",
    ),
    Endpoint(
        "GET", f"{_ONE}/tree", session_handlers.show_tree, parameters.OfSession, answers.Tree,
        "Get the tree of all turns", tags=_SESSIONS, reach="own",
    ),
    Endpoint(
        "GET", f"{_ONE}/runs", timelines.show_runs, parameters.OfSession, answers.Runs,
        "Get the tree as runs of turns without branches", tags=_TIMELINES, reach="own",
    ),
    Endpoint(
        "GET", f"{_ONE}/turns/{{turn}}", timelines.show_turn, parameters.OneTurn, answers.WholeTurn,
        "Get a turn: what was said, changed and paid", tags=_SESSIONS, reach="own",
    ),
    Endpoint(
        "GET", f"{_ONE}/timelines", timelines.list_timelines, parameters.OfSession, timeline_answers.Timelines,
        "List named timelines, and the ends of other paths", tags=_TIMELINES, reach="own",
    ),
    Endpoint(
        "POST", f"{_ONE}/fork", timelines.fork, parameters.Fork, timeline_answers.Timeline,
        "Name a timeline", tags=_TIMELINES, reach="own", status=201, if_match=_HEADS,
    ),
    Endpoint(
        "POST", f"{_ONE}/timelines/{{name}}", timelines.rename, parameters.Rename, timeline_answers.Timeline,
        "Rename a timeline", tags=_TIMELINES, reach="own", if_match=_HEADS,
    ),
    Endpoint(
        "DELETE", f"{_ONE}/timelines/{{name}}", timelines.forget, parameters.OfTimeline, timeline_answers.ForgottenName,
        "Forget a timeline's name", tags=_TIMELINES, reach="own", if_match=_HEADS,
    ),
    Endpoint(
        "GET", f"{_ONE}/compare", timelines.compare, parameters.Compare, timeline_answers.Comparison,
        "Compare two turns: where they diverged, and what differs", tags=_TIMELINES, reach="own",
    ),
    Endpoint(
        "GET", f"{_ONE}/curation", memory_handlers.show_curation, parameters.OfSession, memory_answers.Curation,
        "List what curators noticed", tags=_MEMORY, reach="own",
    ),
    Endpoint(
        "GET", f"{_ONE}/entities", memory_handlers.list_entities, parameters.Listed, memory_answers.Entities,
        "List the people, places, things and events of the story", tags=_MEMORY, reach="own",
    ),
    Endpoint(
        "GET", f"{_ONE}/entities/{{entity}}", memory_handlers.show_entity, parameters.OfEntity, memory_answers.Entity,
        "Get a person, place, thing or event", tags=_MEMORY, reach="own",
    ),
    Endpoint(
        "GET", f"{_ONE}/memories", memory_handlers.list_memories, parameters.Memories, memory_answers.Memories,
        "List what memory strategies learned", tags=_MEMORY, reach="own",
    ),
    Endpoint(
        "GET", f"{_ONE}/changes", memory_handlers.list_changes, parameters.Listed, memory_answers.Changes,
        "List corrections by curators and people", tags=_MEMORY, reach="own",
    ),
    Endpoint(
        "POST", f"{_ONE}/changes", memory_handlers.make_change, parameters.Correction, memory_answers.Changed,
        "Correct something", tags=_MEMORY, reach="own", status=201, if_match=_CHANGES,
    ),
    Endpoint(
        "DELETE", f"{_ONE}/changes/{{change}}", memory_handlers.undo_change, parameters.OfChange, memory_answers.Undone,
        "Undo a change", tags=_MEMORY, reach="own", if_match=_CHANGES,
    ),
    Endpoint(
        "POST", f"{_ONE}/changes/{{change}}", memory_handlers.decide_change, parameters.Decision,
        memory_answers.Decided, "Accept or reject a pending change", tags=_MEMORY, reach="own", if_match=_CHANGES,
    ),
    Endpoint(
        "GET", _RULES, memory_handlers.list_standing, parameters.OfSession, memory_answers.Standing,
        "List standing rules for proposals", tags=_MEMORY, reach="own",
    ),
    Endpoint(
        "POST", _RULES, memory_handlers.decide_always, parameters.Always, memory_answers.StandingRule,
        "Always accept or reject proposals like this one", tags=_MEMORY, reach="own", status=201, if_match=_RULES,
    ),
    Endpoint(
        "DELETE", f"{_RULES}/{{rule}}", memory_handlers.ask_again, parameters.OfRule, memory_answers.StandingRule,
        "Delete a standing rule", tags=_MEMORY, reach="own", if_match=_RULES,
    ),
    Endpoint(
        "GET", f"{_ONE}/context", memory_handlers.show_context, parameters.ToldAt, memory_answers.Context,
        "Explain the context of a turn", tags=_MEMORY, reach="own",
    ),
    Endpoint(
        "POST", f"{_ONE}/context", memory_handlers.try_words, parameters.TriedWords, memory_answers.Context,
        "Preview the context for given words", tags=_MEMORY, reach="own",
    ),
    Endpoint(
        "GET", f"{_ONE}/untold", memory_handlers.show_untold, parameters.Untold, memory_answers.Untold,
        "Explain why a text was told or not", tags=_MEMORY, reach="own",
    ),
    Endpoint(
        "POST", f"{_ONE}/untold", memory_handlers.look_up, parameters.AskedText, memory_answers.Untold,
        "Explain why a long text was told or not", tags=_MEMORY, reach="own",
    ),
    Endpoint(
        "GET", f"{_ONE}/lore", memory_handlers.show_lore, parameters.OfSession, memory_answers.Lore,
        "List lore, and when each entry was told", tags=_MEMORY, reach="own",
    ),
    Endpoint(
        "GET", f"{_ONE}/cache", memory_handlers.show_pages, parameters.OfSession, memory_answers.Pages,
        "Get the four pages", tags=_MEMORY, reach="own",
    ),
    Endpoint(
        "POST", f"{_ONE}/cache/regen", memory_handlers.regenerate_pages, parameters.OfSession, memory_answers.Pages,
        "Render the pages again", tags=_MEMORY, reach="own",
    ),
    Endpoint(
        "POST", f"{_ONE}/prune", timelines.prune, parameters.Prune, timeline_answers.Pruned,
        "Delete a turn and everything below it", tags=_TIMELINES, reach="own", if_match=_HEADS,
    ),
    Endpoint(
        "POST", f"{_ONE}/reextract", session_handlers.reextract, parameters.Reextract, answers.Asked,
        "Run the extraction model again", tags=_SESSIONS, reach="own", costs=True,
    ),
    Endpoint(
        "GET", f"{_ONE}/backfill", importing.show_backfill, parameters.OfPath, importing.Backfilled,
        "Estimate the cost of a backfill", tags=_SESSIONS, reach="own",
    ),
    Endpoint(
        "POST", f"{_ONE}/backfill", importing.backfill, parameters.Backfill, importing.Backfilled,
        "Backfill the next turns", tags=_SESSIONS, reach="own", costs=True,
    ),
    Endpoint(
        "POST", f"{_ONE}/reset", session_handlers.reset_session, parameters.OfSession, answers.SessionRecord,
        "Reset a session", tags=_SESSIONS, reach="own",
    ),
    Endpoint(
        "DELETE", _ONE, session_handlers.delete_session, parameters.OfSession, answers.Deleted,
        "Delete a session from every store", tags=_SESSIONS, reach="own",
    ),
    Endpoint(
        "GET", "/api/memory/search", memory_handlers.search, parameters.Search, memory_answers.Found,
        "Search the turns that best answer a question", tags=_MEMORY, reach="own",
    ),
    Endpoint(
        "GET", "/api/graph/query", memory_handlers.query_graph, parameters.GraphQuery, memory_answers.GraphRows,
        "Run a query in the graph engine's own language", tags=_MEMORY, reach="admin",
    ),
    Endpoint(
        "GET", "/api/library", memory_handlers.show_library, NoParams, memory_answers.Library,
        "List worlds", tags=_WORLDS, reach="admin",
    ),
    Endpoint(
        "GET", _WORLD, memory_handlers.show_world, parameters.OfWorld, memory_answers.WorldTexts,
        "List the files of a world", tags=_WORLDS, reach="admin",
    ),
    Endpoint(
        "POST", _WORLD, memory_handlers.edit_world, parameters.WorldEdit, memory_answers.WorldTexts,
        "Write a file of a world", tags=_WORLDS, reach="admin", if_match=_WORLD,
    ),
    Endpoint(
        "GET", "/api/verify", maintenance.verify_views, parameters.MaybeOfSession, answers.Verdict,
        "Compare every view with the journal", tags=_DATA, reach="admin",
    ),
    Endpoint(
        "POST", "/api/repair", maintenance.repair_views, parameters.MaybeOfSession, answers.Repaired,
        "Verify, and render again what differs", tags=_DATA, reach="admin",
    ),
    Endpoint(
        "POST", "/api/rebuild", maintenance.rebuild_views, parameters.OneSession, answers.Verdict,
        "Discard a session's views and render them again", tags=_DATA, reach="admin",
    ),
    Endpoint(
        "GET", "/api/jobs", maintenance.show_jobs, parameters.MaybeOfSession, answers.Jobs,
        "List unfinished background jobs", tags=_DATA, reach="own",
    ),
    Endpoint(
        "POST", "/api/jobs/retry", maintenance.retry_jobs, parameters.RetryJobs, answers.Retried,
        "Retry jobs now", tags=_DATA, reach="own",
    ),
    Endpoint(
        "GET", "/api/backups", maintenance.list_backups, NoParams, answers.Backups,
        "List backups", tags=_DATA, reach="admin",
    ),
    Endpoint(
        "POST", "/api/backups", maintenance.make_backup, NoParams, answers.Backup,
        "Copy the journal to a single file", tags=_DATA, reach="admin", status=201,
    ),
    Endpoint(
        "GET", f"{_ONE}/export", maintenance.export_one, parameters.Export, web.StreamResponse,
        "Export a session as a file", tags=_DATA, reach="own", media=JSON_LINES,
    ),
    Endpoint(
        "GET", f"{_WORLD}/export", maintenance.export_world, parameters.ExportWorld, web.StreamResponse,
        "Export a world as a card or a lorebook", tags=_DATA, reach="admin", media=ANY_BYTES,
    ),
    Endpoint(
        "POST", "/api/import", importing.import_files, parameters.Import, importing.Imported,
        "Import cards, lorebooks, chats, and exported sessions", tags=_DATA, reach="admin", status=201,
        status_of=importing.import_status, other_status=(200, "What would be taken in (dry_run=1)"),
    ),
    Endpoint(
        "DELETE", "/api/import", importing.stop_imports, NoParams, answers.StoppedImports,
        "Stop running imports", tags=_DATA, reach="admin",
    ),
    Endpoint(
        "POST", "/api/forget", maintenance.forget, parameters.Forget, answers.Forgotten,
        "Forget a session, a name in it, or everything of an API key", tags=_DATA, reach="admin",
    ),
    Endpoint(
        "GET", "/api/me", key_handlers.show_me, NoParams, key_answers.Me,
        "Get the caller, and what is left of its quotas", tags=_KEYS, reach="own",
    ),
    Endpoint(
        "GET", "/api/keys", key_handlers.list_keys, NoParams, key_answers.AccessKeys,
        "List keys, and their use today", tags=_KEYS, reach="admin",
    ),
    Endpoint(
        "POST", "/api/keys", key_handlers.create_key, key_parameters.NewKey, key_answers.MadeKey,
        "Create a key", tags=_KEYS, reach="admin", status=201,
    ),
    Endpoint(
        "GET", _KEY, key_handlers.show_key, key_parameters.OfKey, key_answers.AccessKey,
        "Get a key, and its use today", tags=_KEYS, reach="admin",
    ),
    Endpoint(
        "POST", _KEY, key_handlers.change_key, key_parameters.KeyChange, key_answers.AccessKey,
        "Change the name or the quotas of a key", tags=_KEYS, reach="admin",
    ),
    Endpoint(
        "POST", f"{_KEY}/rotate", key_handlers.rotate_key, key_parameters.Rotation, key_answers.MadeKey,
        "Rotate the secret of a key", tags=_KEYS, reach="admin",
    ),
    Endpoint(
        "DELETE", _KEY, key_handlers.revoke_key, key_parameters.OfKey, key_answers.AccessKey,
        "Revoke a key", tags=_KEYS, reach="admin",
    ),
    Endpoint(
        "GET", "/api/audit", key_handlers.show_audit, key_parameters.WhichEntries, key_answers.Audit,
        "Get the audit log", tags=_KEYS, reach="admin",
    ),
    Endpoint(
        "GET", "/api/events", server_handlers.show_events, parameters.MaybeOfSession, web.StreamResponse,
        "Stream events", tags=_SERVER, reach="own", media="text/event-stream",
    ),
    Endpoint(
        "GET", "/api/log", server_handlers.show_log, parameters.Log, answers.Log,
        "Get the end of the log", tags=_SERVER, reach="admin",
    ),
    Endpoint(
        "POST", "/api/doctor", server_handlers.examine, NoParams, answers.Examined,
        "Check stores, providers and worlds", tags=_SERVER, reach="admin",
    ),
    Endpoint(
        "GET", "/api/openapi.json", server_handlers.show_description, NoParams, answers.OpenApi,
        "Get this description", tags=_SERVER, reach="shared",
    ),
    Endpoint(
        "POST", "/api/reload", server_handlers.reload_settings, NoParams, answers.Reloaded,
        "Reload the settings", tags=_SERVER, reach="admin",
    ),
    Endpoint(
        "POST", "/api/drain", server_handlers.drain, parameters.Drain, answers.Drained,
        "Run the background work that is due", tags=_SERVER, reach="admin",
    ),
)  # fmt: skip
