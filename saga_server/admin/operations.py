"""Every request of the admin API in a short form: what it takes and what it answers.

Tests compare the table with the routes, with what the handlers take, and with what they answer.
"""

from __future__ import annotations

from typing import Final

from attrs import frozen

from saga_core.curation import FIELDS

JSON: Final = "application/json"


@frozen
class Operation:
    """One request.

    ``query``: ``name:kind`` pairs, with ``!`` behind the kind of what is needed; the kinds are ``text``, ``flag``,
    ``whole(least,most)``, ``seconds(most)`` and ``one(of,these)``. ``body``: the fields of a JSON object, all texts.
    ``answer``: ``name:kind`` pairs; the kinds are ``s`` text, ``i`` whole number, ``n`` number, ``b`` truth value,
    ``o`` object, ``[…]`` list, with ``?`` what may be null and with ``~`` what may be missing. Another ``media`` than
    JSON has no fields.
    """

    request: str
    summary: str
    answer: str = ""
    query: str = ""
    body: str = ""
    status: int = 200
    media: str = JSON
    upload: str = ""
    """The media type of a body that is no JSON object."""


_RECORD = "id:s label:s world:s owner:s created:n root:s head:s"
_BACKUP = "path:s made:n bytes:i sessions:i turns:i there:b"
_PAGES = "written:b turn_id:s? folder:s? files:o"
_TIMELINE = "name:s fork:s head:s created:n enter:s"
_VERDICT = "equal:b sessions:i findings:[o] waiting:i"
_ONE = "/api/sessions/{id}"

OPERATIONS: Final = (
    Operation("GET /", "Where things are", "name:s chat:s admin:s health:s"),
    Operation("GET /healthz", "Whether the process answers", "status:s"),
    Operation("GET /readyz", "Whether a turn would be taken now", "status:s reason:s~ stores:o degraded:[s]"),
    Operation("GET /metrics", "Counts and times, for Prometheus", media="text/plain"),
    Operation("GET /api/openapi.json", "This description", "openapi:s info:o paths:o components:o security:[o]"),
    Operation(
        "GET /api/status", "How the server is",
        "version:s uptime_seconds:n narrators:[s] active_sessions:i? open_requests:i stores:o embedder:s "
        "tokens:s counting:s vectors:o sessions:o work:o backfill:o curation:o counters:o degraded:o "
        "worlds:[s] context:o",
    ),
    Operation("GET /api/sessions", "All sessions", "sessions:[o] fleeting:i", "fleeting:one(0,1,all)"),
    Operation("POST /api/sessions", "Begin a session ahead of play", _RECORD, body="world label", status=201),
    Operation(
        f"GET {_ONE}", "One session",
        f"{_RECORD} turns:i depth:i updated:n fleeting:b dollars:n? saved:n? spent:o",
    ),
    Operation(f"DELETE {_ONE}", "Remove a session from every store", "deleted:s"),
    Operation(
        f"GET {_ONE}/state", "The state at a turn",
        "session:o turn:i turn_id:s player:s location:s? hp:i? max_hp:i? mood:s? inventory:[o] npcs_present:[] "
        "npcs_met:[] dead:[] relationships:[o] events:[] notes:[] world_state:o problems:[]",
        "turn:text",
    ),
    Operation(
        f"GET {_ONE}/cost", "What a session cost",
        "total:o narration:o extraction:o curation:o comparison:o? broken:[o] pinned:[o] turns:[o]~", "turns:flag",
    ),
    Operation(f"GET {_ONE}/graph", "The graph", "session:s watermark:s? nodes:[o] edges:[o] words:[s]"),
    Operation(
        f"GET {_ONE}/turns", "The turns of a path", "turns:[o]",
        "from_turn:whole(0,2147483648) to_turn:whole(0,2147483648) head:text",
    ),
    Operation(f"GET {_ONE}/tree", "All turns", "session:s root:s head:s nodes:[o]"),
    Operation(f"GET {_ONE}/timelines", "Named timelines, and the ends of other paths", "timelines:[o]"),
    Operation(f"POST {_ONE}/fork", "Name a timeline", _TIMELINE, body="name! turn", status=201),
    Operation(f"POST {_ONE}/timelines/{{name}}", "Rename a timeline", _TIMELINE, body="name!"),
    Operation(f"DELETE {_ONE}/timelines/{{name}}", "Forget a timeline's name", "forgotten:s"),
    Operation(
        f"GET {_ONE}/compare", "Where two turns parted, and what differs",
        "session:s ancestor:o one:o other:o differences:[o] language:s words:[s]",
        "one:text! other:text! language:text",
    ),
    Operation(
        f"GET {_ONE}/curation", "What curators noticed",
        "session:s turn:i findings:[o] story:[o] schedule:[o] lore:o blocks:o reviews:[o]",
    ),
    Operation(f"GET {_ONE}/entities", "Everybody and everything that the story knows", "session:s entities:[o]"),
    Operation(
        f"GET {_ONE}/memories", "What memory strategies learned", "session:s turn:i turn_id:s memories:[o]",
        "namespace:text query:text turn:text",
    ),
    Operation(f"GET {_ONE}/changes", "What curators and people changed", "session:s changes:[o]"),
    Operation(
        f"POST {_ONE}/changes", "Correct something", "session:s change:s",
        body=" ".join(("kind!", "turn", *sorted(FIELDS))), status=201,
    ),
    Operation(f"DELETE {_ONE}/changes/{{change}}", "Undo a change", "session:s undone:s change:s turn_id:s"),
    Operation(
        f"GET {_ONE}/context", "What stood in a turn's context, and why",
        "turn:s anew:b text:s tokens:i pieces:[o] skipped:[o] late:[s] timings_ms:o", "turn:text",
    ),
    Operation(f"GET {_ONE}/cache", "The four pages", _PAGES),
    Operation(f"POST {_ONE}/cache/regen", "Render the pages anew", _PAGES),
    Operation(
        f"POST {_ONE}/prune", "Remove a turn with everything below it", "pruned:i forgotten:[s] shortened:[s]",
        body="turn!",
    ),
    Operation(f"POST {_ONE}/reextract", "Ask the extraction model anew", "asked:i", "only:flag", "turn"),
    Operation(f"POST {_ONE}/reset", "Begin a session anew", _RECORD),
    Operation(f"GET {_ONE}/export", "A session as one file", media="application/jsonl"),
    Operation(
        "GET /api/memory/search", "The turns that answer a question best", "query:s session:s results:[o]",
        "q:text! session:text! k:whole(1,1000)",
    ),
    Operation(
        "GET /api/graph/query", "A query in the graph engine's own language", "rows:[]",
        "cypher:text! limit:whole(1,10000) timeout:seconds(60)",
    ),
    Operation("GET /api/verify", "Compare every view with the journal", _VERDICT, "session:text"),
    Operation("POST /api/repair", "Verify, and make anew what differs", f"found:[o] {_VERDICT}", "session:text"),
    Operation("GET /api/jobs", "The background work that is not done", "jobs:[o] stuck:i", "session:text"),
    Operation("POST /api/jobs/retry", "Try jobs again, now", "retried:i", "session:text turn:text"),
    Operation("GET /api/backups", "The backups that were made", "backups:[o]"),
    Operation("POST /api/backups", "Copy the journal into one file", _BACKUP, status=201),
    Operation(
        "POST /api/import", "Take in a session's file", "id:s label:s owner:s turns:i", "edited:flag",
        status=201, upload="application/jsonl",
    ),
    Operation(
        "POST /api/forget", "Remove a session, a name in it, or all of an API key, every byte of it",
        "sessions:[s] places:i backups:[o]", "session:text name:text owner:text",
    ),
    Operation("GET /api/events", "What happens, while it happens", query="session:text", media="text/event-stream"),
    Operation("POST /api/reload", "Read the settings again", "applied:[s] restart:[s]"),
    Operation(
        "POST /api/drain", "Run the background work that is due", "settled:b done:i waiting:[o]",
        "timeout:seconds(3600)",
    ),
)  # fmt: skip
