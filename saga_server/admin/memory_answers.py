"""Answers of the admin API about the memory of a session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen

from saga_server.admin.answers import Plain, Rows


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
    world_state: Plain
    problems: Rows


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
class Untold:
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
class Found:
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
