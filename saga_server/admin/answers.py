"""Answers of the admin API, a class for each kind of answer.

Plain data of the engine is passed on unchanged; its structure is defined by the engine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import field, frozen

from saga_server.admin.endpoint import LEFT_OUT_WHEN_NONE

Plain = Mapping[str, Any]
Rows = Sequence[Plain]


# -- the server ------------------------------------------------------------------------------------------------


@frozen(eq=False, repr=False)
class Welcome:
    """The addresses of the server's interfaces."""

    name: str
    chat: str
    admin: str
    health: str
    pages: str


@frozen(eq=False, repr=False)
class Alive:
    """Shows that the process responds."""

    status: str


@frozen(kw_only=True, eq=False, repr=False)
class Readiness:
    """Whether the server would accept a turn now, and the reason if it would not."""

    status: str
    reason: str | None = field(default=None, metadata=LEFT_OUT_WHEN_NONE)
    stores: Mapping[str, str]
    degraded: Sequence[str]


@frozen(kw_only=True, eq=False, repr=False)
class OpenApi:
    """The OpenAPI document of this API."""

    openapi: str
    info: Plain
    paths: Plain
    components: Plain
    security: Rows


@frozen(eq=False, repr=False)
class LoopBlocks:
    """Slow iterations of the event loop. All values are empty if the event loop is not watched.

    ``longest_ms`` is the longest iteration in milliseconds, ``blocks`` counts those of half a second or longer, and
    ``place`` says where the longest of these was.
    """

    longest_ms: float
    blocks: int
    place: str


@frozen(kw_only=True, eq=False, repr=False)
class Status:
    """The state of the server."""

    version: str
    uptime_seconds: float
    narrators: Sequence[str]
    doors: Mapping[str, str]
    """The installed doors, and for each that is missing the reason."""
    active_sessions: int | None
    open_requests: int
    loop: LoopBlocks
    stores: Plain
    embedder: str
    tokens: str
    counting: str
    vectors: Plain
    sessions: Plain
    work: Plain
    backfill: Plain
    curation: Plain
    extraction: Plain
    silent: Rows
    counters: Mapping[str, int]
    degraded: Mapping[str, str]
    worlds: Sequence[str]
    context: Plain
    servers: Plain | None
    """This server and the others, if several share the journal."""


@frozen(eq=False, repr=False)
class Log:
    """The end of the log, oldest line first. ``next`` is the value of ``after`` for the next request."""

    lines: Rows
    next: int


@frozen(eq=False, repr=False)
class Examination:
    """A part of the server that was checked, and the result."""

    good: bool
    about: str
    text: str


@frozen(eq=False, repr=False)
class Examined:
    """The results of all checks. ``good`` says whether all of them are good."""

    good: bool
    found: Sequence[Examination]


@frozen(eq=False, repr=False)
class Reloaded:
    """The names of changed settings: those that apply now, and those that apply after a restart."""

    applied: Sequence[str]
    restart: Sequence[str]


@frozen(eq=False, repr=False)
class WaitingWork:
    """Pending background work, and why it waits."""

    session: str
    turn: str
    kind: str
    reason: str


@frozen(eq=False, repr=False)
class Drained:
    """The result of running the background work that is due."""

    settled: bool
    done: int
    waiting: Sequence[WaitingWork]


# -- sessions --------------------------------------------------------------------------------------------------


@frozen(kw_only=True, eq=False, repr=False)
class SessionRecord:
    """A session."""

    id: str
    label: str
    world: str
    owner: str
    created: float
    root: str
    head: str


@frozen(kw_only=True, eq=False, repr=False)
class SessionSummary(SessionRecord):
    """A session with its size and its cost."""

    turns: int
    depth: int
    updated: float
    fleeting: bool
    dollars: float | None
    saved: float | None
    spent: Mapping[str, float | None]


@frozen(eq=False, repr=False)
class Sessions:
    """Sessions, and how many of all sessions are fleeting: without a name, and never continued."""

    sessions: Sequence[SessionSummary]
    fleeting: int
    next: str | None = None


@frozen(eq=False, repr=False)
class Deleted:
    """The id of the deleted session."""

    deleted: str


@frozen(eq=False, repr=False)
class Asked:
    """How many turns the extraction model is asked about."""

    asked: int


@frozen(kw_only=True, eq=False, repr=False)
class CostOfSession:
    """The cost of a session, in total and by purpose."""

    total: Plain
    narration: Plain
    extraction: Plain
    curation: Plain
    models: Mapping[str, Plain]
    comparison: Plain
    broken: Rows
    pinned: Rows
    turns: Rows | None = field(default=None, metadata=LEFT_OUT_WHEN_NONE)


@frozen(eq=False, repr=False)
class Bills:
    """Bills, the latest first. ``next`` is the cursor for older bills; null if there are none."""

    bills: Rows
    next: str | None


@frozen(eq=False, repr=False)
class Turns:
    """The turns of a path."""

    turns: Rows


@frozen(eq=False, repr=False)
class Tree:
    """All turns of a session, as a tree."""

    session: str
    root: str
    head: str
    nodes: Rows


@frozen(kw_only=True, eq=False, repr=False)
class Runs:
    """A session's tree, with each unbranched run of turns as one entry."""

    session: str
    root: str
    head: str
    turns: int
    runs: Rows


@frozen(kw_only=True, eq=False, repr=False)
class WholeTurn:
    """Everything about one turn."""

    session: str
    turn: int
    turn_id: str
    parent: str | None
    kind: str
    at: float
    user: str
    reply: str
    model: str
    finish: str
    by: str
    status: str
    problems: Sequence[str]
    effect: Rows
    bills: Rows
    active: bool
    head: bool
    names: Sequence[str]
    beside: Rows
    next: Sequence[str]
    below: Plain


# -- maintenance -----------------------------------------------------------------------------------------------


@frozen(eq=False, repr=False)
class Verdict:
    """How the views compare with the journal."""

    equal: bool
    sessions: int
    findings: Rows
    waiting: int


@frozen(kw_only=True, eq=False, repr=False)
class Repaired:
    """The differences that were found, and how the views compare with the journal after the repair."""

    found: Rows
    equal: bool
    sessions: int
    findings: Rows
    waiting: int


@frozen(eq=False, repr=False)
class StoppedImports:
    """How many running imports were stopped."""

    stopped: int


@frozen(eq=False, repr=False)
class Jobs:
    """Pending background work."""

    jobs: Rows
    stuck: int


@frozen(eq=False, repr=False)
class Retried:
    """How many jobs are being retried."""

    retried: int


@frozen(kw_only=True, eq=False, repr=False)
class Backup:
    """A backup, and whether its file is still there."""

    path: str
    made: float
    bytes: int
    sessions: int
    turns: int
    there: bool


@frozen(eq=False, repr=False)
class Backups:
    """The backups of a data directory, oldest first."""

    backups: Sequence[Backup]


@frozen(eq=False, repr=False)
class HeldBackup:
    """A backup that still holds forgotten data, or that cannot be read to check."""

    path: str
    made: float
    read: bool


@frozen(eq=False, repr=False)
class Forgotten:
    """The sessions that were forgotten, or that held a forgotten name in ``places`` records.

    ``backups`` are those that still hold the data.
    """

    sessions: Sequence[str]
    places: int
    backups: Sequence[HeldBackup]
