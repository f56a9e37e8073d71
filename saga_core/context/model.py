"""What a read is asked, and what it answers.

Pieces of all sources compete on one scale, their ``score``:

==========  ===========================================================================================
100 to 130  must be told: who is dead (130), place, HP and inventory (120), company (110), ways (100)
6           what changed since the pinned pages; events that are due
0 to 12.5   lore, by the lorebook's rules; 5 is "the entry of the place where the player stands"
1 to 4.5    earlier turns, by how far they stand above the other candidates; 2.5 to 6 when the words look back
0.3 to 6.5  connections, by edge type, nearness, and whether the player's words name an end
1 to 5      events, by recency and mention
2 to 4      turns of another story that the player asks for
1 to 10     what memory strategies learned, by its kind, and by the words of the scene that touch on it
==========  ===========================================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from functools import lru_cache

from attrs import define, field, frozen

from saga_core.config import TokenBudget
from saga_core.language import Labels
from saga_core.looked_through import looked_through
from saga_core.model import MemoryRecord, WorldState
from saga_core.recall import Episodes, KeptMoment, LoreIndex, Neighbors
from saga_core.world import World


class Section(StrEnum):
    """The parts of the volatile block, in their order. One is added by one line here."""

    heading: str
    """In English, without brackets. Another language may have its own in ``Labels.sections``."""
    ceiling: Callable[[TokenBudget], int]
    """The tokens that it may have, its heading included."""

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
        """Its heading in a language, in brackets."""
        return words.sections.get(self) or f"[{self.heading}]"


class Slot:
    """Lines of the section ``NOW``, as ``Piece.order``. Pieces of one slot of the last two share a line."""

    ESSENTIALS = 0
    COMPANY = 1
    SURROUNDINGS = 2
    DEAD = 3
    CHANGED = 4


MUST_DEAD = 130.0
MUST_ESSENTIALS = 120.0
MUST_COMPANY = 110.0
MUST_SURROUNDINGS = 100.0
CHANGED = 6.0


@define
class Piece:
    """A bit of context that one source offers. It enters the prompt whole or not at all.

    Nobody changes one. It is not frozen, for a read makes eighty, and a frozen one takes three times as long to make.
    """

    source: str
    key: str
    """What it is about; of two pieces with one key the better one counts."""
    section: Section
    text: str
    """Its line, without the dash; in a shared line of ``NOW`` its part."""
    score: float
    tokens: int = 0
    """What it costs, once it was packed or skipped."""
    why: Mapping[str, float] = field(factory=dict)
    """The parts of the score, by name."""
    order: float = 0
    """Its place in the section, lowest first; equal ones by score. A ``Slot`` in ``NOW``."""
    shorter: tuple[str, ...] = ()
    """Texts to use instead when the one before does not fit, in turn."""
    under: str = ""
    """What its text begins with and other lines of the section may as well, such as a day or a place."""
    bare: str = ""
    """Its text right below a line with the same ``under``."""
    within: str = ""
    """What its beginning says that the beginnings of lines above may have said already, such as a year."""
    brief: str = ""
    """Its text below a line with the same ``within`` and another ``under``."""


_READ = 16_000
"""Characters of a message that are looked through: reading takes a second for 500,000."""


def _looked_through(text: str) -> str:
    return looked_through(text, _READ)


def _each_looked_through(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(map(_looked_through, texts))


@frozen
class OtherStory:
    """Another session of the same player, which may be told."""

    session: str
    name: str
    """What it is called: its label, or its world's name."""
    day: str
    """When it was played last, as it is told."""
    episodes: Episodes
    """Its remembered turns, seen from its head."""


@frozen
class ReadRequest:
    """One turn to read for. All of it is at hand: nothing here is fetched."""

    session: str
    state: WorldState
    """What is true at the turn that the request continues."""
    world: World
    lore: LoreIndex
    player_words: str = field(converter=_looked_through)
    recent: tuple[str, ...] = field(default=(), converter=_each_looked_through)
    """The texts of the last two messages, the player's words among them; they alone when empty."""
    pinned: WorldState | None = None
    """The state that the pages in the prefix show; None when there are no pages. The prefix is stale in what changed
    since: that is told."""
    pages: str = ""
    """Those pages."""
    missing: int | None = None
    """The depth up to which turns do not stand in the history that is sent; None: nobody knows."""
    in_front: frozenset[str] = frozenset()
    """The lines of those pages, without the dashes before them: what stands there word for word is not told again."""
    by_hand: tuple[str, ...] = ()
    """Remarks that a person added and that those pages do not show."""
    language: str = "en"
    episodes: Episodes | None = None
    """The remembered turns of the path."""
    shown: frozenset[str] = frozenset()
    """Turns that the sent history shows: never recalled."""
    graph: Neighbors | None = None
    """A graph that shows exactly ``state``: a store's scope whose watermark is its turn, or an image rendered from it.
    One that lags behind would tell what is not true."""
    graph_scope: str = ""
    now: float = 0.0
    """When it is asked, in seconds since the epoch; 0 when nobody knows."""
    due: tuple[str, ...] = ()
    """Events and foreshadowing whose time has come, a line each."""
    memories: tuple[MemoryRecord, ...] = ()
    """What memory strategies learned on this path, and in other sessions of the same player; none that expired."""
    moment: KeptMoment | None = None
    """What lore with rules of its own looks at; None where there is none."""
    elsewhere: tuple[OtherStory, ...] = ()
    """Other stories, where the player asks for one: the one played last first."""
    sent: str = ""
    """What the client's own system messages tell: lore that stands there word for word is not told again."""


@lru_cache(maxsize=64)
def lines_of(pages: str) -> frozenset[str]:
    """The lines of pages, without the dashes of lists. The same pages stand in front for many turns."""
    return frozenset(line.removeprefix("- ") for line in pages.splitlines())


@frozen
class TurnContext:
    """What a read found."""

    text: str
    """The volatile block; empty when there is nothing to tell."""
    tokens: int
    pieces: tuple[Piece, ...] = ()
    """What is in the text, best first."""
    skipped: tuple[Piece, ...] = ()
    """What did not fit, best first."""
    late: tuple[str, ...] = ()
    """Sources, and stores behind them, that were left out because they were late or failed, ordered by name."""
    timings: Mapping[str, float] = field(factory=dict)
    """Milliseconds of each source, of ``gather``, ``pack`` and ``total``."""
    told: tuple[str, ...] = ()
    """Entries of lore with times of their own that are in the text by themselves."""
    pages: str = ""
    """The pages that stood in the prompt's prefix."""
    missing: int | None = None
    """The depth up to which turns did not stand in the history that was sent; None: nobody knows."""
