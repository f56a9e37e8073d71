"""What the admin API answers about what is known in a session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen

from saga_server.admin.answers import Plain, Rows


@frozen(kw_only=True, eq=False, repr=False)
class State:
    """What is true at a turn."""

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
    """What is believed at a turn, each line with the turn that it comes from."""

    session: str
    turn: int
    turn_id: str
    player: str
    unread: int
    """Turns up to this one whose changes nobody reported and no model has read."""
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
    """The four pages."""

    written: bool
    turn_id: str | None
    folder: str | None
    files: Mapping[str, str]


@frozen(kw_only=True, eq=False, repr=False)
class Context:
    """What stood in a turn's context, and why."""

    turn: str
    depth: int
    """Its number."""
    anew: bool
    text: str
    tokens: int
    pages: str
    """Those that stood at the beginning of the prompt; empty when it is read anew."""
    shown_from: int | None
    """The number of the first turn that the chat itself showed, or is taken to show; None where that is not known."""
    said: str
    """The player's words that it was read for."""
    time: Mapping[str, int] | None
    """The ``first`` and the ``last`` turn that are meant, where the words name a time."""
    pieces: Rows
    skipped: Rows
    late: Sequence[str]
    timings_ms: Mapping[str, float]


@frozen(kw_only=True, eq=False, repr=False)
class Untold:
    """What is known of a text, and why a turn's context had it or not."""

    turn: str
    depth: int
    """Its number."""
    anew: bool
    shown_from: int | None
    """As of ``Context``."""
    pages: str
    """As of ``Context``."""
    text: str
    found: Rows


@frozen(eq=False, repr=False)
class Found:
    """Turns that answer a question, the best first."""

    query: str
    session: str
    results: Rows


@frozen(eq=False, repr=False)
class GraphRows:
    """What a graph engine answered."""

    rows: Sequence[Any]


@frozen(kw_only=True, eq=False, repr=False)
class Curation:
    """What curators noticed."""

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
    """Everybody and everything that a story knows. ``former`` has the names of what was joined or forgotten, by id."""

    session: str
    entities: Rows
    former: Mapping[str, str]
    next: str | None = None


@frozen(kw_only=True, eq=False, repr=False)
class Entity:
    """All about one person, place, thing or event."""

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
    """What memory strategies learned."""

    session: str
    turn: int
    turn_id: str
    memories: Rows
    next: str | None = None


@frozen(eq=False, repr=False)
class Changes:
    """What curators and people changed."""

    session: str
    changes: Rows
    next: str | None = None


@frozen(kw_only=True, eq=False, repr=False)
class Changed:
    """The change that was made, or that would be: from which turn on, and which lines differ with it."""

    session: str
    change: str | None
    turn: int
    turn_id: str
    later: int
    effect: Rows


@frozen(eq=False, repr=False)
class Decided:
    """The change that waited, and what was decided."""

    session: str
    change: str
    verdict: str
    turn_id: str


@frozen(eq=False, repr=False)
class Standing:
    """What becomes of proposals that nobody needs to be asked about."""

    session: str
    rules: Rows


@frozen(kw_only=True, eq=False, repr=False)
class StandingRule:
    """What becomes of proposals of one kind by one proposer, in a session."""

    session: str
    id: str
    by: str
    kind: str
    verdict: str
    at: float


@frozen(eq=False, repr=False)
class Undone:
    """The change that was undone, and the one that did it."""

    session: str
    undone: str
    change: str
    turn_id: str


@frozen(kw_only=True, eq=False, repr=False)
class Lore:
    """The lore of a session, and when each entry was told."""

    session: str
    world: str
    turn: int
    contexts: int
    entries: Rows


@frozen(eq=False, repr=False)
class Library:
    """The worlds of the library."""

    worlds: Rows


@frozen(kw_only=True, eq=False, repr=False)
class WorldTexts:
    """The files of a world, and what is wrong with them, line by line."""

    name: str
    files: Mapping[str, str]
    writable: bool
    problems: Rows
    warnings: Sequence[str]
