"""The request and the result of a read.

Pieces of all sources compete by their ``score`` on one scale:

==========  ===========================================================================================
100 to 130  required: dead characters (130), the member of a group who speaks (125), place, HP and inventory (120),
            company (110), ways (100), what somebody here does not know (100 and less)
6           changes since the pinned pages; due events
0 to 12.5   lore, by the lorebook's rules; the entry of the player's place has 5
1 to 4.5    earlier turns, by how far they are above the other candidates; 2.5 to 6 if the player's words look back
0.3 to 6.5  connections, by edge type, distance, and whether the player's words name an end
1 to 5      events, by recency and mention
2 to 4      turns of another story that the player asks for
1 to 10     memories of strategies, by kind and by how many of their words are in the scene
==========  ===========================================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from functools import lru_cache

from attrs import define, field, frozen

from saga_core.config import TokenBudget
from saga_core.language import Labels
from saga_core.looked_through import looked_through, without_empty_lines
from saga_core.model import MemoryRecord, WorldState
from saga_core.recall import LoreIndex, LoreMoment, Neighbors, PathEpisodes
from saga_core.world import World


class Section(StrEnum):
    """The parts of the volatile block, in order. To add a section, add one line here, and a source to
    ``own_sources``."""

    heading: str
    """The English heading, without brackets. Other languages have theirs in ``Labels.sections``."""
    ceiling: Callable[[TokenBudget], int]
    """Returns the maximum tokens of the section, including its heading."""

    NOW = "now", "Now", lambda budget: budget.state_briefing_max
    RELATED = "related", "Related", lambda budget: budget.graph_context_max
    LORE = "lore", "Lore", lambda budget: budget.lorebook_max
    REMEMBERED = "remembered", "Remembered", lambda budget: budget.memories_max
    EARLIER = "earlier", "Earlier", lambda budget: budget.recall_max
    ELSEWHERE = "elsewhere", "Another story, not this one", lambda budget: budget.recall_max
    EVENTS = "events", "Events", lambda budget: budget.state_briefing_max

    def __new__(cls, name: str, heading: str = "", ceiling: Callable[[TokenBudget], int] = lambda budget: 0) -> Section:
        member = str.__new__(cls, name)
        member._value_ = name
        member.heading = heading
        member.ceiling = ceiling
        return member

    def headed(self, words: Labels) -> str:
        """Return the heading in a language, in brackets."""
        return words.sections.get(self) or f"[{self.heading}]"


class Slot:
    """The lines of the section ``NOW``, as ``Piece.order``. In each of the last two slots, all pieces share a line."""

    MEMBER = -1
    ESSENTIALS = 0
    COMPANY = 1
    SURROUNDINGS = 2
    UNKNOWN = 2.5
    DEAD = 3
    CHANGED = 4


MUST_DEAD = 130.0
MUST_MEMBER = 125.0
MUST_ESSENTIALS = 120.0
MUST_COMPANY = 110.0
MUST_SURROUNDINGS = 100.0
MUST_UNKNOWN = 90.0
CHANGED = 6.0


@define
class Piece:
    """A unit of context from one source. It enters the prompt as a whole or not at all.

    Treat it as immutable. It is not frozen, because a read creates about eighty, and frozen ones take three times as
    long to create.
    """

    source: str
    key: str
    """The subject. Of two pieces with the same key, only the better one is used."""
    section: Section
    text: str
    """The line without its dash, or the part of a shared line of ``NOW``."""
    score: float
    tokens: int = 0
    """The cost in tokens, set when the piece is packed or skipped."""
    why: Mapping[str, float] = field(factory=dict)
    """The parts of the score, by name."""
    order: float = 0
    """The sort key in the section, lowest first, ties by score. A ``Slot`` in ``NOW``."""
    shorter: tuple[str, ...] = ()
    """Alternative texts to try in order if ``text`` does not fit."""
    under: str = ""
    """The beginning that the text may share with other lines of the section, such as a day or a place."""
    bare: str = ""
    """The text to use directly below a line with the same ``under``."""
    within: str = ""
    """A part of the beginning that lines above may have stated, such as a year."""
    brief: str = ""
    """The text to use below a line with the same ``within`` and a different ``under``."""
    too_long: bool = False
    """Whether ``text`` is only the beginning of a text that no block has room for. The piece is always skipped."""


_READ = 16_000
"""Characters of a message that are searched. Searching 500,000 characters takes a second."""


def _looked_through(text: str) -> str:
    return without_empty_lines(looked_through(text, _READ))


def _each_looked_through(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(map(_looked_through, texts))


@frozen
class OtherStory:
    """Another session of the same player whose turns may be recalled."""

    session: str
    name: str
    """The session's label or its world's name."""
    day: str
    """The day on which the session was last played, as text for the prompt."""
    episodes: PathEpisodes
    """The remembered turns on the path to the session's head."""


@frozen
class Ignorance:
    """A remark or an event, and the ids of those present who do not know it."""

    depth: int
    text: str
    who: tuple[str, ...]


@frozen
class ReadRequest:
    """The input of a read for one turn. All of it is in memory; nothing is fetched."""

    session: str
    state: WorldState
    """The state at the turn that the request continues."""
    world: World
    lore: LoreIndex
    player_words: str = field(converter=_looked_through)
    recent: tuple[str, ...] = field(default=(), converter=_each_looked_through)
    """The texts of the last two messages, including the player's words. If empty, only the player's words are used."""
    pinned: WorldState | None = None
    """The state that the pages in the prefix show; None without pages. Changes since then are added to the block."""
    pages: str = ""
    """The pages in the prefix."""
    missing: int | None = None
    """The depth up to which turns are missing in the sent history; None if unknown."""
    in_front: frozenset[str] = frozenset()
    """The lines of the pages, without their dashes. A piece with exactly such a text is left out."""
    by_hand: tuple[str, ...] = ()
    """Notes that a user added and that the pages do not show."""
    language: str = "en"
    episodes: PathEpisodes | None = None
    """The remembered turns of the path."""
    shown: frozenset[str] = frozenset()
    """Turns in the sent history. They are never recalled."""
    graph: Neighbors | None = None
    """A graph of exactly ``state``: a store's scope whose watermark is its turn, or an image rendered from it. A graph
    that lags behind would give false facts."""
    graph_scope: str = ""
    now: float = 0.0
    """The time of the request in seconds since the epoch; 0 if unknown."""
    due: tuple[str, ...] = ()
    """Due events and foreshadowing, one line each."""
    memories: tuple[MemoryRecord, ...] = ()
    """Unexpired memories of strategies, from this path and from other sessions of the same player."""
    moment: LoreMoment | None = None
    """The input of lore entries that follow their own rules; None if there are none."""
    elsewhere: tuple[OtherStory, ...] = ()
    """Other stories, if the player asks for one, the most recently played first."""
    member: str | None = None
    """The id of the member of a group whose knowledge ``state`` is; empty for one whom the story has not met. None if
    ``state`` is the story's own."""
    ignorance: tuple[Ignorance, ...] = ()
    """What the story noted and somebody here does not know, oldest first."""
    sent: str = ""
    """The text of the client's own system messages. Lore that it contains word for word is left out."""


@lru_cache(maxsize=64)
def lines_of(pages: str) -> frozenset[str]:
    """Return the lines of pages without list dashes. Cached: the same pages are sent for many turns."""
    return frozenset(line.removeprefix("- ") for line in pages.splitlines())


@frozen
class TurnContext:
    """The result of a read."""

    text: str
    """The volatile block; empty if there is nothing to include."""
    tokens: int
    pieces: tuple[Piece, ...] = ()
    """The pieces in the text, best first."""
    skipped: tuple[Piece, ...] = ()
    """The pieces that did not fit, best first."""
    late: tuple[str, ...] = ()
    """Sources and stores that were left out because they were late or failed, ordered by name."""
    timings: Mapping[str, float] = field(factory=dict)
    """Milliseconds of each source, of ``gather``, ``pack`` and ``total``."""
    timed_lore: tuple[str, ...] = ()
    """Timed lore entries in the text, without those that are there because they were active before."""
    pages: str = ""
    """The pages in the prompt's prefix."""
    missing: int | None = None
    """The depth up to which turns are missing in the sent history; None if unknown."""
