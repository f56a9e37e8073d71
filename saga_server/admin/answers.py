"""What the admin API answers, a class for each kind of answer.

What the engine gives as plain data stands in an answer as it is: its inner form is the engine's.
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
    """Where things are."""

    name: str
    chat: str
    admin: str
    health: str
    pages: str


@frozen(eq=False, repr=False)
class Alive:
    """The process answers."""

    status: str


@frozen(kw_only=True, eq=False, repr=False)
class Readiness:
    """Whether a turn would be taken now, and why not."""

    status: str
    reason: str | None = field(default=None, metadata=LEFT_OUT_WHEN_NONE)
    stores: Mapping[str, str]
    degraded: Sequence[str]


@frozen(kw_only=True, eq=False, repr=False)
class OpenApi:
    """This API as an OpenAPI document."""

    openapi: str
    info: Plain
    paths: Plain
    components: Plain
    security: Rows


@frozen(eq=False, repr=False)
class LoopBlocks:
    """Rounds of the event loop: the longest in milliseconds, how many took half a second or longer, and where the
    longest of these was. Zeros where the platform has no watch."""

    longest_ms: float
    blocks: int
    place: str


@frozen(kw_only=True, eq=False, repr=False)
class Status:
    """How the server is."""

    version: str
    uptime_seconds: float
    narrators: Sequence[str]
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
    """This server and the others, where several share the journal."""


@frozen(eq=False, repr=False)
class Log:
    """The end of the log, oldest first, and the number to go on from."""

    lines: Rows
    next: int


@frozen(eq=False, repr=False)
class Examination:
    """Something that was looked at, and how it is."""

    good: bool
    about: str
    text: str


@frozen(eq=False, repr=False)
class Examined:
    """Whether all is well, and what was looked at."""

    good: bool
    found: Sequence[Examination]


@frozen(eq=False, repr=False)
class Reloaded:
    """Settings by name: those that hold from now on, and those that hold after the next start."""

    applied: Sequence[str]
    restart: Sequence[str]


@frozen(eq=False, repr=False)
class WaitingWork:
    """Background work that is not done, and why."""

    session: str
    turn: str
    kind: str
    reason: str


@frozen(eq=False, repr=False)
class Drained:
    """What came of running the background work that is due."""

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
    """A session as lists show it."""

    turns: int
    depth: int
    updated: float
    fleeting: bool
    dollars: float | None
    saved: float | None
    spent: Mapping[str, float | None]


@frozen(eq=False, repr=False)
class Sessions:
    """Sessions, and how many of all are fleeting."""

    sessions: Sequence[SessionSummary]
    fleeting: int
    next: str | None = None


@frozen(eq=False, repr=False)
class Deleted:
    """The session that went."""

    deleted: str


@frozen(eq=False, repr=False)
class Asked:
    """How many turns the extraction model is asked for."""

    asked: int


@frozen(kw_only=True, eq=False, repr=False)
class CostOfSession:
    """What a session cost, in all and by purpose."""

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
    """Bills, the latest first, and the cursor of the next ones; None when there are none."""

    bills: Rows
    next: str | None


@frozen(eq=False, repr=False)
class Turns:
    """The turns of a path."""

    turns: Rows


@frozen(eq=False, repr=False)
class Tree:
    """All turns of a session."""

    session: str
    root: str
    head: str
    nodes: Rows


@frozen(kw_only=True, eq=False, repr=False)
class Runs:
    """A session's tree, rows of turns without a branch as one."""

    session: str
    root: str
    head: str
    turns: int
    runs: Rows


@frozen(kw_only=True, eq=False, repr=False)
class WholeTurn:
    """One turn, with all about it."""

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


# -- looking after ---------------------------------------------------------------------------------------------


@frozen(eq=False, repr=False)
class Verdict:
    """How the views compare with the journal."""

    equal: bool
    sessions: int
    findings: Rows
    waiting: int


@frozen(kw_only=True, eq=False, repr=False)
class Repaired:
    """What was found to differ, and how the views compare now."""

    found: Rows
    equal: bool
    sessions: int
    findings: Rows
    waiting: int


@frozen(eq=False, repr=False)
class StoppedImports:
    """How many imports were under way."""

    stopped: int


@frozen(eq=False, repr=False)
class Jobs:
    """Background work that is not done."""

    jobs: Rows
    stuck: int


@frozen(eq=False, repr=False)
class Retried:
    """How many jobs are tried again."""

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
    """A backup that still holds what was forgotten, or that cannot be read."""

    path: str
    made: float
    read: bool


@frozen(eq=False, repr=False)
class Forgotten:
    """What was forgotten, and where it is still held."""

    sessions: Sequence[str]
    places: int
    backups: Sequence[HeldBackup]
