"""Answers of the admin API, a class for each kind of answer.

Plain data of the engine is passed on unchanged; its structure is defined by the engine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import field, frozen

from saga_core.background import Waiting
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
class Drained:
    """The result of running the background work that is due."""

    settled: bool
    done: int
    waiting: Sequence[Waiting]


@frozen(eq=False, repr=False)
class Settings:
    """The settings that players change.

    ``file`` is the settings file; null if a program passed the settings.
    """

    file: str | None
    writable: bool
    settings: Rows


@frozen(eq=False, repr=False)
class SettingsChanged:
    """The lines of the settings file that changed, or in a dry run would change, and what applies and when."""

    file: str
    diff: Sequence[str]
    applied: Sequence[str]
    restart: Sequence[str]


# -- sessions --------------------------------------------------------------------------------------------------


@frozen(kw_only=True, eq=False, repr=False)
class SessionRecord:
    """A session."""

    id: str
    label: str
    title: str
    world: str
    owner: str
    created: float
    root: str
    head: str
    kind: str
    share: str


@frozen(kw_only=True, eq=False, repr=False)
class SessionSummary(SessionRecord):
    """A session with its size and its cost."""

    turns: int
    depth: int
    updated: float
    fleeting: bool
    portrait: bool
    dollars: float | None
    saved: float | None
    spent: Mapping[str, float | None]


@frozen(eq=False, repr=False)
class PlayedChat:
    """The session and the turn of a chat's latest request, and the notices of that request."""

    chat: str
    session_id: str
    turn_id: str
    notices: Sequence[str]


@frozen(eq=False, repr=False)
class Sessions:
    """Sessions, and how many are fleeting of those that this page was chosen from: without a name, never continued."""

    sessions: Sequence[SessionSummary]
    fleeting: int
    next: str | None = None


@frozen(eq=False, repr=False)
class Deleted:
    """The id of the deleted session.

    ``until`` is the time until which it can be restored, in seconds since the epoch; null if it is gone for good.
    """

    deleted: str
    until: float | None = None


@frozen(eq=False, repr=False)
class Trash:
    """The deleted sessions that can be restored, the latest deletion first."""

    sessions: Rows


@frozen(eq=False, repr=False)
class RequestedReadings:
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
    free: Sequence[str]
    """The models without a known price that run on this machine or in its network, or answer without a provider."""
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

    ``backups`` are those that still hold the data. ``remains`` are files that may hold it as well, each with the reason
    and the remedy.
    """

    sessions: Sequence[str]
    places: int
    backups: Sequence[HeldBackup]
    remains: Sequence[str]


# -- Answers of the admin API about the memory of a session ----------------------------------------------------


@frozen(kw_only=True, eq=False, repr=False)
class State:
    """The state of the story at a turn."""

    session: Plain
    turn: int
    turn_id: str
    player: str
    location: str | None
    hp: int | None
    max_hp: int | None
    mood: str | None
    inventory: Rows
    npcs_present: Sequence[str]
    npcs_met: Sequence[str]
    dead: Sequence[str]
    relationships: Rows
    events: Rows
    notes: Rows
    profile: str
    """What sort of story it is."""
    trackers: Rows
    """The known values of the story's trackers."""
    threads: Rows
    """The open quests, promises and plans."""
    modules: Rows
    """The lines of each module that is enabled."""
    observed: Rows
    """Keys that narrators reported and nothing declares."""
    habits: Sequence[str]
    """How the narrator reports otherwise than asked: ``gains_listed``, ``gains_totalled``, ``player_listed``,
    ``losses_repeated``."""
    world_state: Plain
    problems: Rows


@frozen(eq=False, repr=False)
class Chapter:
    """Some turns as a model tells them. Nothing of it is recorded."""

    first: int
    last: int
    style: str
    text: str


@frozen(kw_only=True, eq=False, repr=False)
class Lines:
    """The state at a turn as lines of text, each with the turn that it comes from."""

    session: str
    turn: int
    turn_id: str
    player: str
    unread: int
    """The number of turns up to this one whose changes were neither reported nor extracted by a model."""
    lines: Rows
    next: str | None = None


@frozen(kw_only=True, eq=False, repr=False)
class Knowledge:
    """Who knows what happened at a turn (``about``), or which remarks and events a character knows."""

    session: str
    turn: int
    turn_id: str
    about: int | None = None
    audience: str | None = None
    """``present``: those who were there. ``only``: those who are listed as knowing it. ``everybody``."""
    recorded: bool | None = None
    """False if it is not known who was there. Nobody is then taken for ignorant."""
    people: Rows = ()
    id: str | None = None
    name: str | None = None
    facts: Sequence[Any] = ()
    next: str | None = None


@frozen(kw_only=True, eq=False, repr=False)
class Graph:
    """The graph at a turn."""

    session: str
    watermark: str | None
    nodes: Rows
    edges: Rows
    words: Sequence[str]


@frozen(eq=False, repr=False)
class Pages:
    """The four pages of a session: summaries in Markdown."""

    written: bool
    turn_id: str | None
    folder: str | None
    files: Mapping[str, str]


@frozen(kw_only=True, eq=False, repr=False)
class Context:
    """The content of a turn's context, and why each piece is in it."""

    turn: str
    depth: int
    """The turn's number."""
    anew: bool
    text: str
    tokens: int
    pages: str
    """The summary that stood in front of the history."""
    shown_from: int | None
    """The number of the first turn that the chat itself showed, or is assumed to show; None if that is not known."""
    said: str
    """The player's words for which the context was built."""
    time: Mapping[str, int] | None
    """The ``first`` and the ``last`` turn of the time that the words name, if they name one."""
    pieces: Rows
    skipped: Rows
    late: Sequence[str]
    timings_ms: Mapping[str, float]


@frozen(kw_only=True, eq=False, repr=False)
class ContextLookup:
    """Where a text was found in the memory, and why a turn's context did or did not include it."""

    turn: str
    depth: int
    """The turn's number."""
    anew: bool
    shown_from: int | None
    """The same as in ``Context``."""
    pages: str
    """The same as in ``Context``."""
    text: str
    found: Rows


@frozen(eq=False, repr=False)
class SearchResults:
    """The turns that match a search, the best first."""

    query: str
    session: str
    results: Rows


@frozen(eq=False, repr=False)
class GraphRows:
    """The rows that the graph engine returned."""

    rows: Sequence[Any]


@frozen(kw_only=True, eq=False, repr=False)
class Curation:
    """The findings and the reviews of the curators."""

    session: str
    turn: int
    findings: Rows
    story: Rows
    schedule: Rows
    lore: Plain
    blocks: Plain
    reviews: Rows


@frozen(eq=False, repr=False)
class Entities:
    """All entities of a story. ``former`` gives, by id, the last name of each entity that was merged or forgotten."""

    session: str
    entities: Rows
    former: Mapping[str, str]
    next: str | None = None


@frozen(kw_only=True, eq=False, repr=False)
class Entity:
    """Everything about one person, place, thing or event."""

    session: str
    turn: int
    turn_id: str
    id: str
    kind: str
    name: str
    aliases: Sequence[str]
    player: bool
    present: bool
    facts: Plain
    place: Plain | None
    things: Rows
    owners: Rows
    here: Rows
    relations: Rows
    knowledge: Rows
    history: Rows


@frozen(eq=False, repr=False)
class Memories:
    """Records that memory strategies learned."""

    session: str
    turn: int
    turn_id: str
    memories: Rows
    next: str | None = None


@frozen(eq=False, repr=False)
class Changes:
    """Changes made by curators and by people."""

    session: str
    changes: Rows
    next: str | None = None


@frozen(kw_only=True, eq=False, repr=False)
class Changed:
    """A change that was made, or would be made: the turn from which it applies, and the lines that differ with it."""

    session: str
    change: str | None
    turn: int
    turn_id: str
    later: int
    effect: Rows


@frozen(eq=False, repr=False)
class Decided:
    """The change that was waiting, and the decision about it."""

    session: str
    change: str
    verdict: str
    turn_id: str


@frozen(eq=False, repr=False)
class Standing:
    """The standing rules of a session, which decide proposals without asking a person."""

    session: str
    rules: Rows


@frozen(kw_only=True, eq=False, repr=False)
class StandingRule:
    """A standing rule: the decision for all proposals of one kind by one proposer in a session."""

    session: str
    id: str
    by: str
    kind: str
    verdict: str
    at: float


@frozen(eq=False, repr=False)
class Undone:
    """The change that was undone (``undone``), and the new change that undid it (``change``)."""

    session: str
    undone: str
    change: str
    turn_id: str


@frozen(kw_only=True, eq=False, repr=False)
class Lore:
    """The lore of a session, and when each entry was told to the narrator."""

    session: str
    world: str
    turn: int
    contexts: int
    entries: Rows
    next: str | None = None


@frozen(eq=False, repr=False)
class Library:
    """The worlds in the library."""

    worlds: Rows


@frozen(kw_only=True, eq=False, repr=False)
class WorldTexts:
    """The files of a world as texts, and the problems in them, with file and line."""

    name: str
    files: Mapping[str, str]
    writable: bool
    problems: Rows
    warnings: Sequence[str]


# -- Answers of the admin API about timelines ------------------------------------------------------------------


@frozen(eq=False, repr=False)
class Timelines:
    """The named timelines and the ends of all other paths."""

    timelines: Rows


@frozen(eq=False, repr=False)
class Timeline:
    """A named timeline. ``enter`` is the session name with which a chat request continues there."""

    name: str
    fork: str
    head: str
    created: float
    enter: str


@frozen(eq=False, repr=False)
class ForgottenName:
    """The name of the timeline that was removed."""

    forgotten: str


@frozen(eq=False, repr=False)
class Ancestor:
    """The last turn that two paths have in common."""

    turn: int
    turn_id: str


@frozen(eq=False, repr=False)
class ComparedSide:
    """One of the two turns in a comparison."""

    name: str
    turn: int
    turn_id: str
    since: Sequence[str]


@frozen(kw_only=True, eq=False, repr=False)
class Comparison:
    """A comparison of two turns: where their paths parted, and what differs."""

    session: str
    ancestor: Ancestor
    one: ComparedSide
    other: ComparedSide
    differences: Rows
    language: str
    words: Sequence[str]


@frozen(eq=False, repr=False)
class Pruned:
    """How many turns were removed, which timelines lost their name, and which now end earlier."""

    pruned: int
    forgotten: Sequence[str]
    shortened: Sequence[str]


# -- Answers of the admin API about keys, their use, and the audit log -----------------------------------------


@frozen(kw_only=True, eq=False, repr=False)
class KeyQuotas:
    """The quotas of a key; 0 means no limit."""

    turns_a_minute: int
    tokens_a_day: int
    dollars_a_day: float
    sessions: int
    bytes: int


@frozen(kw_only=True, eq=False, repr=False)
class KeyUse:
    """What a key used: turns in the current minute, and turns, tokens and dollars today (in UTC).

    ``unpriced`` counts the calls without a known price, which add no dollars. ``sessions`` and ``bytes`` are what the
    key's owner holds; the count may be up to a minute old. ``bytes`` is null until it has been counted once.
    """

    turns_in_minute: int
    turns: int
    tokens: int
    dollars: float
    unpriced: int
    sessions: int
    bytes: int | None


@frozen(kw_only=True, eq=False, repr=False)
class AccessKey:
    """A key, without its secret. ``use`` is null if the request does not report it."""

    id: str
    name: str
    role: str
    owner: str
    prefix: str
    created: float
    revoked: float | None
    former_until: float | None
    quotas: KeyQuotas
    use: KeyUse | None


@frozen(kw_only=True, eq=False, repr=False)
class MadeKey(AccessKey):
    """A key with a new secret. ``secret`` is the key itself and is shown only in this answer."""

    secret: str


@frozen(eq=False, repr=False)
class AccessKeys:
    """All keys that were made while the server ran."""

    keys: Sequence[AccessKey]


@frozen(kw_only=True, eq=False, repr=False)
class Me:
    """The caller: its role, its owner id, to which its sessions belong, and its key.

    ``key`` is null if the key was not made while the server ran. ``locked`` says whether the server requires a key.
    """

    locked: bool
    role: str
    owner: str
    key: AccessKey | None


@frozen(kw_only=True, eq=False, repr=False)
class AuditRow:
    """An entry of the audit log: the same request, made ``times`` times between ``at`` and ``last``."""

    at: float
    last: float
    times: int
    key: str
    owner: str
    role: str
    source: str
    forwarded: str
    what: str
    session: str
    turn: str
    status: int


@frozen(eq=False, repr=False)
class Audit:
    """Entries of the audit log, the latest first. ``next`` is the cursor for older entries; null if there are none."""

    entries: Sequence[AuditRow]
    next: str | None
