"""The request and the result of a read.

Pieces of all sources compete by their ``score`` on one scale:

==========  ===========================================================================================
140         what a person added or corrected by hand, the latest first; it has a ceiling of its own
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

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from functools import cache, lru_cache

from attrs import define, field, frozen

from saga_core.config import TokenBudget
from saga_core.language import Labels, every, language_of, looked_through, without_empty_lines, without_signs
from saga_core.model import MemoryRecord, WorldState
from saga_core.recall import LoreIndex, LoreMoment, Neighbors, PathEpisodes
from saga_core.text_prompt import TOKENS
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


BY_HAND = 140.0
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
    """Notes that a user added and that the pages do not show, oldest first."""
    corrected: frozenset[tuple[str, str, str]] = frozenset()
    """The keys of the statements (``StateLine``) that a user corrected since the pages."""
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
    hears: Callable[[str, int], bool] | None = None
    """Whether somebody, given by id, knows what happened at a turn (depth)."""
    reported: bool = False
    """Whether the narrator ends its reply with a state block, and so can say who learned of it."""
    sent: str = ""
    """The text of the client's own system messages. Lore that it contains word for word is left out."""
    window: int = 0
    """The tokens that the narrator's context holds; 0 if unknown. The block takes at most a quarter of them."""


_SHARE = 4


def in_window(most: int, window: int) -> int:
    """Return how many of at most ``most`` tokens the block may take in a context of ``window`` tokens (0: unknown)."""
    return min(most, window // _SHARE) if window else most


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


# -- packing: the best pieces that fit the token budget, and the rendered block --------------------------------

# -- the block as text -----------------------------------------------------------------------------------------
#
# Renders the volatile block as text, in a fixed format that programs can parse.
#
# ```
# block     = opening NL section* closing
# opening   = "[SAGA: " title "]"                closing = "[/SAGA]"
# section   = heading NL line+                   heading = "[" name "]"
# name      = the heading of a ``Section`` (in the order of ``Section``)
# line      = now NL | "- " text NL
# now       = field (" | " field)*               field   = label ": " value
# value     = item (", " item)*                  item    = name [" ×" count]
# ```
#
# Fields: Place, HP (``85/100``), Inventory, Mood; Player, Present; Nearby, Ways; Dead (``name (since turn 12)``); and
# Changed, whose items are separated by "; ". All words are in the request's language (its ``Labels``). An empty
# inventory is "none"; other empty fields and empty sections are left out. A line of Lore is ``name: text``. A line of
# Earlier has ``(turn 12) `` or a day, then the place and the events unless the line above has the same, then what was
# said. A day without a year is in the last year stated above it. Text from the story cannot open or close a block or
# begin a line: its line breaks become spaces, and a "[" before "SAGA" or "/SAGA" becomes "(".


def labels(language: str) -> Labels:
    """Return the words of the block in a language, English if the language has none."""
    return language_of(language).labels


def one_line(text: str) -> str:
    """Return text of the story on one line, safe for the block."""
    # The space is the only printable white space. Most texts are one line already.
    line = text.strip(" ") if text.isprintable() and "  " not in text else " ".join(text.split())
    return without_signs(line, TOKENS)


@lru_cache(maxsize=4_096)
def one_field(name: str) -> str:
    """Return a name on one line without the bar that separates fields."""
    return one_line(name).replace("|", "/")


def render(pieces: Iterable[Piece], language: str) -> str:
    """Return the block with these pieces, or an empty string without pieces."""
    words = labels(language)
    sections: dict[Section, list[Piece]] = {}
    for piece in pieces:
        sections.setdefault(piece.section, []).append(piece)
    if not sections:
        return ""
    lines = [words.opening]
    for section in Section:
        found = sections.get(section)
        if not found:
            continue
        found.sort(key=lambda piece: (piece.order, -piece.score, piece.key))
        lines.append(section.headed(words))
        if section is Section.NOW:
            lines += _now(found, words)
        else:
            under = within = ""
            for piece in found:
                if piece.under and piece.under == under:
                    text = piece.bare
                elif piece.within and piece.within == within:
                    text = piece.brief
                else:
                    text = piece.text
                lines.append(f"- {text}")
                under, within = piece.under, piece.within or within
    lines.append(words.closing)
    return "\n".join(lines)


def _now(pieces: list[Piece], words: Labels) -> list[str]:
    lines = [piece.text for piece in pieces if piece.order < Slot.DEAD]
    for slot, label, between in ((Slot.DEAD, words.dead, ", "), (Slot.CHANGED, words.changed, "; ")):
        parts = [piece.text for piece in pieces if piece.order == slot]
        if parts:
            lines.append(f"{label}: {between.join(parts)}")
    return lines


_OPENS = "(\uff08"
_PARENTHESIS = re.compile("[()\uff08\uff09]")
_STOPS = (".", "!", "?", "…", "。", "！", "？")


def as_prose(text: str, language: str) -> str:
    """Return a block or pages as one paragraph, for narrators that imitate headings and lists instead of telling a
    story. Measured in docs/narrators.md."""
    return " ".join(_sentences(text, language))


def _sentences(text: str, language: str) -> Iterator[str]:
    words, stop = labels(language), language_of(language).texts.stop
    for line in text.split("\n"):
        if not line or line in (words.opening, words.closing, Section.NOW.headed(words)):
            continue
        if line.startswith(("[", "#")):
            yield f"{line.strip('[# ]')}:"
        else:
            said = line.removeprefix("- ").replace("**", "").replace(" | ", f"{stop} ")
            yield said if said.endswith(_STOPS) else said + stop


def as_note(text: str, language: str) -> str:
    """Return a block as a note in parentheses; empty for an empty block. Nothing in it ends the note or begins one."""
    lead, _, end = labels(language).note.partition("{facts}")
    return f"{lead}{' '.join(map(_enclosed, _sentences(text, language)))}{end}" if text else ""


def _enclosed(text: str) -> str:
    """Return text with balanced parentheses, the others being brackets, and without the first words of a note. Each
    line is balanced by itself: one ends no parenthesis that another begins. Where a bracket would make a sign of SAGA's
    again, whose own one became a parenthesis before, it is a closing one."""
    text = _leads().sub("", text)
    signs = list(text)
    opened: list[int] = []
    for at in (found.start() for found in _PARENTHESIS.finditer(text)):
        if text[at] in _OPENS:
            opened.append(at)
        elif opened:
            opened.pop()
        else:
            signs[at] = "]"
    for at in opened:
        signs[at] = "["
    text = "".join(signs)
    safe = without_signs(text, TOKENS) if opened else text
    return text if safe == text else "".join(a if a == b else "]" for a, b in zip(text, safe, strict=True))


@cache
def _leads() -> re.Pattern[str]:
    leads = (each.labels.note.partition("{facts}")[0].strip() for each in every())
    return re.compile("|".join(re.escape(lead[1:]) for lead in leads), re.IGNORECASE)


# -- the budget ------------------------------------------------------------------------------------------------

_WORTH_A_LINE = 24
"""Minimum tokens left over for a second pass over the skipped pieces."""


@frozen
class Packed:
    """The pieces in the block and the pieces that did not fit, both best first."""

    text: str
    tokens: int
    chosen: tuple[Piece, ...]
    skipped: tuple[Piece, ...]


def ceilings(budget: TokenBudget) -> dict[Section, int]:
    """Return the maximum tokens of each section, including its heading. Their sum may exceed the maximum of the block,
    because they are not reservations: other sections can use unspent tokens. What was said by hand does not count
    towards the ceiling of its section: it has another one of the same size."""
    return {section: section.ceiling(budget) for section in Section}


def pack(
    pieces: Iterable[Piece],
    *,
    most: int,
    ceilings: Mapping[Section, int],
    count: Callable[[str], int],
    words: Labels,
    language: str,
) -> Packed:
    """Choose pieces by score (ties by section, key, source), drop repeats of a key or a line, skip what does not fit.

    The block has at most ``most`` tokens. Finally the whole text is counted. It usually costs less than the sum of its
    lines, and skipped pieces then get the rest. If it costs more, the lowest pieces are removed. A required piece
    leaves room for the shortest texts of those after it.
    """
    packing = _Packing(most, ceilings, count, words)
    packing.take(sorted(pieces, key=_rank))
    text = render(packing.chosen, language)
    tokens = count(text) if text else 0
    if packing.skipped and packing.spent - tokens >= _WORTH_A_LINE:
        left = packing.skipped
        packing.spent = tokens
        packing.take(left)
        if len(packing.skipped) < len(left):
            packing.chosen.sort(key=_rank)
            text = render(packing.chosen, language)
            tokens = count(text)
    chosen, skipped = packing.chosen, packing.skipped
    if tokens > most:
        while tokens > most and chosen:
            skipped.append(chosen.pop())
            text = render(chosen, language)
            tokens = count(text) if text else 0
        skipped.sort(key=_rank)
    return Packed(text, tokens, tuple(chosen), tuple(skipped))


class _Packing:
    """The pieces chosen so far and the tokens spent."""

    def __init__(self, most: int, ceilings: Mapping[Section, int], count: Callable[[str], int], words: Labels) -> None:
        self.spent = count(words.opening) + count(words.closing) + 2
        self.chosen: list[Piece] = []
        self.skipped: list[Piece] = []
        self._most, self._ceilings, self._count, self._words = most, ceilings, count, words
        self._used = dict.fromkeys(Section, 0)
        self._by_hand = dict.fromkeys(Section, 0)
        self._keys: set[str] = set()
        self._texts: set[tuple[Section, str]] = set()
        self._headed: set[tuple[Section, str]] = set()
        self._within: set[tuple[Section, str]] = set()

    def take(self, pieces: Iterable[Piece]) -> None:
        """Choose the pieces that fit, in the given order (best first). The others become ``skipped``."""
        count, used, keys, texts = self._count, self._used, self._keys, self._texts
        self.skipped = []
        pieces = tuple(pieces)
        must = [piece for piece in pieces if piece.score >= MUST_COMPANY]
        required = {piece.key: count((piece.text, *piece.shorter)[-1]) + 2 for piece in must} if len(must) > 1 else {}
        for piece in pieces:
            required.pop(piece.key, None)
            kept_free = sum(required.values())
            section = piece.section
            if piece.key in keys or (section, piece.text) in texts:
                continue
            if piece.too_long:
                self.skipped.append(piece)
                continue
            own = self._by_hand if piece.score >= BY_HAND else used
            headed = used[section] or self._by_hand[section]
            heading = 0 if headed else count(section.headed(self._words)) + 1
            room = min(self._most - self.spent, self._ceilings[section] - own[section]) - heading
            head = (section, piece.under)
            part = (section, piece.within)
            if head in self._headed:
                fitted = _short(piece, piece.bare, count)
            elif part in self._within:
                fitted = _short(piece, piece.brief, count)
            else:
                fitted = _fit(piece, room - kept_free, count)
                if fitted.tokens > room - kept_free:
                    fitted = _fit(piece, room, count)
            if fitted.tokens > room:
                self.skipped.append(fitted)
                continue
            keys.add(piece.key)
            texts.add((section, piece.text))
            self.chosen.append(fitted)
            if piece.under:
                self._headed.add(head)
            if piece.within:
                self._within.add(part)
            self.spent += heading + fitted.tokens
            own[section] += heading + fitted.tokens


def _rank(piece: Piece) -> tuple[float, str, str, str]:
    return (-round(piece.score, 6), piece.section, piece.key, piece.source)


def _priced(piece: Piece, text: str, tokens: int) -> Piece:
    if piece.tokens == tokens and piece.text is text:
        return piece  # already priced
    # Built by hand because this runs for every piece, and ``evolve`` costs several times as much.
    return Piece(
        piece.source,
        piece.key,
        piece.section,
        text,
        piece.score,
        tokens,
        piece.why,
        piece.order,
        piece.shorter,
        piece.under,
        piece.bare,
        piece.within,
        piece.brief,
    )


def _short(piece: Piece, text: str, count: Callable[[str], int]) -> Piece:
    """Return the piece at the price of ``text``, its short form, because a chosen line has the same beginning."""
    return _priced(piece, piece.text, count(text) + 2)


def _fit(piece: Piece, room: int, count: Callable[[str], int]) -> Piece:
    """Return the piece with its first text that fits, or unchanged if none fits. A dash and a line end add 2 tokens."""
    for text in (piece.text, *piece.shorter):
        tokens = count(text) + 2
        if tokens <= room:
            return _priced(piece, text, tokens)
    return _priced(piece, piece.text, count(piece.text) + 2)
