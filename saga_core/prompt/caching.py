"""Sets the cache breakpoints of a plan, based on the prompts that were sent before.

There is one ``SessionPrompts`` per session. Its data can be stored and loaded again. If the data is lost, the first
request is still marked at its end, from where the provider looks back.
"""

from __future__ import annotations

import base64
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import blake2b
from itertools import islice

from attrs import define, evolve, field, frozen

from saga_core.messages import FIXED, Block, CacheLifetime, Origin, PromptPlan, Stability
from saga_core.upstream import SECONDS, ModelFacts

# -- fingerprints ----------------------------------------------------------------------------------------------

_SIZE = 8
_MASK = (1 << 64) - 1
_FACTOR = 0x9E3779B97F4A7C15
"""Odd, so that multiplication is a bijection on 64 bits. It mixes values that differ in few bits."""
_PRINTS: dict[int, int] = {}
"""Fingerprints by the text's hash in this process. Cached because every request sends the history again."""
_MOST_PRINTS = 65_536


def fingerprint(*parts: str, after: int = 0) -> int:
    """Return a 64-bit fingerprint of the sequence ``parts``, appended to the sequence with fingerprint ``after``."""
    link = after
    for part in parts:
        key = hash(part)
        found = _PRINTS.get(key)
        link = ((link ^ (_learn(key, part) if found is None else found)) * _FACTOR + 1) & _MASK
    return link


def _learn(key: int, text: str) -> int:
    if len(_PRINTS) >= _MOST_PRINTS:
        for old in list(islice(_PRINTS, _MOST_PRINTS // 2)):
            del _PRINTS[old]
    found = int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_SIZE).digest())
    _PRINTS[key] = found
    return found


def pack(prints: Iterable[int]) -> str:
    """Encode fingerprints as a short text."""
    return base64.b64encode(b"".join(each.to_bytes(_SIZE) for each in prints)).decode("ascii")


def unpack(text: str) -> Sequence[int]:
    """Decode the output of ``pack``. Raises ``ValueError`` for any other text."""
    raw = base64.b64decode(text, validate=True)
    if len(raw) % _SIZE:
        raise ValueError(f"{len(raw)} bytes are no row of fingerprints")
    return tuple(int.from_bytes(raw[at : at + _SIZE]) for at in range(0, len(raw), _SIZE))


# -- measuring a plan ------------------------------------------------------------------------------------------

_PER_MESSAGE = 4
"""Overhead of a message in tokens."""
_PER_PART = 1_000
"""Assumed tokens of a part that is not text: about the cost of a one-megapixel picture."""


@frozen
class Measured:
    """The measures of a prompt. Position ``i`` stands for the prefix that ends with block ``i``."""

    chain: tuple[int, ...]
    """Prefix fingerprints. They are equal at a position if two prompts are equal up to there."""
    tokens: tuple[int, ...]
    """Tokens up to and including the block, as counted here. The provider's own count differs by some percent."""
    parts: tuple[int, ...]
    """Content parts up to and including the block, the unit of a provider's lookback."""

    @property
    def total(self) -> int:
        """Tokens of the whole prompt."""
        return self.tokens[-1] if self.tokens else 0


def measure(blocks: Sequence[Block], count: Callable[[str], int]) -> Measured:
    """Measure blocks in order."""
    chain: list[int] = []
    tokens: list[int] = []
    parts: list[int] = []
    link, spent, seen = 0, 0, 0
    for block in blocks:
        content = block.content
        spent += _PER_MESSAGE
        if isinstance(content, str):
            key = content
            spent += count(content)
            seen += 1 if content else 0
        else:
            key = repr(content)
            spent += sum(count(str(p["text"])) if p.get("type") == "text" else _PER_PART for p in content)
            seen += len(content)
        if block.lead:
            spent += count(block.lead)
        extra = repr(sorted(block.extra.items())) if block.extra else ""
        link = fingerprint(block.role, key, block.lead, extra, after=link)
        chain.append(link)
        tokens.append(spent)
        parts.append(seen)
    return Measured(tuple(chain), tuple(tokens), tuple(parts))


def common_prefix(one: Sequence[int], other: Sequence[int]) -> int:
    """Return the length of the common prefix of two chains."""
    low, high = 0, min(len(one), len(other))
    while low < high:  # chains that differ at one position differ at all later ones
        middle = (low + high + 1) // 2
        if one[middle - 1] == other[middle - 1]:
            low = middle
        else:
            high = middle - 1
    return low


# -- the player's pace -----------------------------------------------------------------------------------------

_FADE = 0.9
"""Weight of a gap relative to the gap after it."""
_PRIOR_WEIGHT, _PRIOR_LATE = 0.5, 0.1
"""The prior for an unknown player: the weight of half a gap, with a 10% chance of being late."""
_LEAST = 0.005
"""Minimum chance. Even a steady player pauses at times."""
_INSTANT = 1.0
"""Seconds. Closer moments are one event, such as several replies or turns that were adopted together."""
_MARGIN = 0.95
"""A gap of nearly the whole lifetime counts as late."""
_REMEMBERED = 48


def chance_between(moments: Sequence[float], short: float, long: float) -> float:
    """Return the chance that the next request comes more than ``short`` and at most ``long`` seconds after this one.

    ``moments`` are the times of earlier requests and this one, in order, in seconds since the epoch. Gaps longer than
    ``long`` are ignored, because no lifetime covers them.
    """
    late, weight, counted = _PRIOR_WEIGHT * _PRIOR_LATE, _PRIOR_WEIGHT, 1.0
    recent = moments[-_REMEMBERED:]
    for at in range(len(recent) - 1, 0, -1):
        gap = recent[at] - recent[at - 1]
        if gap < _INSTANT or gap > long * _MARGIN:
            continue
        late += counted if gap > short * _MARGIN else 0.0
        weight += counted
        counted *= _FADE
    return max(_LEAST, late / weight)


# -- what the provider has in its cache ------------------------------------------------------------------------
#
# The cache book: predicts which prefixes a provider has in its cache.
#
# The provider does not report its entries, but it documents its rules, and the book applies the same rules: an entry is
# written at each breakpoint after the longest cached prefix, and is found by looking back from a breakpoint. So the
# book knows how much of the next prompt can be read from the cache, and notices if the provider reads less.

_ENTRIES = 4_096
_EARLY = 5.0
"""Seconds before its expiry at which an entry counts as expired, to allow for the request's latency."""


@define
class CacheEntry:
    """A prefix in the provider's cache."""

    ttl: CacheLifetime
    expires: float


@frozen
class Outlook:
    """The expected cache reads and writes of a request, in tokens as counted here."""

    read: int = 0
    written: int = 0


@define
class CacheBook:
    """The cache entries of one model in one account that one session's requests created."""

    _entries: dict[int, CacheEntry] = field(factory=dict)

    def entries(self, now: float, most: int) -> list[tuple[int, CacheEntry]]:
        """Return at most ``most`` live entries, those that expire last."""
        living = [(link, entry) for link, entry in self._entries.items() if entry.expires > now]
        return sorted(living, key=lambda pair: (pair[1].expires, pair[0]))[-most:]

    def restore(self, link: int, entry: CacheEntry) -> None:
        """Add a stored entry."""
        self._entries[link] = entry

    def alive(self, link: int, now: float) -> CacheEntry | None:
        """Return the entry of a prefix, or None if there is none or it has expired."""
        found = self._entries.get(link)
        return found if found is not None and found.expires - _EARLY > now else None

    def living(self, chain: Sequence[int], now: float) -> list[int]:
        """Return the positions of a prompt at which a live entry ends, in order."""
        return [at for at, link in enumerate(chain) if self.alive(link, now) is not None]

    def send(self, measured: Measured, marks: Mapping[int, CacheLifetime], facts: ModelFacts, now: float) -> Outlook:
        """Record a request that is sent now with breakpoints at ``marks``, and return its expected reads and writes."""
        found = -1
        for at in marks:
            hit = self._look_back(measured, at, facts.lookback, now)
            if hit >= 0:
                self._refresh(measured.chain[hit], now)
            if self.alive(measured.chain[at], now) is not None:
                self._refresh(measured.chain[at], now)
            found = max(found, hit)
        last = max(marks, default=-1)
        for at, ttl in marks.items():
            if at > found:
                self._entries[measured.chain[at]] = CacheEntry(ttl, now + SECONDS[ttl])
        self._forget(now)
        read = measured.tokens[found] if found >= 0 else 0
        return Outlook(read, measured.tokens[last] - read if last > found else 0)

    def _look_back(self, measured: Measured, at: int, lookback: int, now: float) -> int:
        first = measured.parts[at] - lookback
        while at >= 0 and measured.parts[at] > first:
            if self.alive(measured.chain[at], now) is not None:
                return at
            at -= 1
        return -1

    def _refresh(self, link: int, now: float) -> None:
        entry = self._entries[link]
        entry.expires = now + SECONDS[entry.ttl]

    def _forget(self, now: float) -> None:
        if len(self._entries) > _ENTRIES:
            kept = sorted(self._entries.items(), key=lambda pair: pair[1].expires)[_ENTRIES // 2 :]
            self._entries = {link: entry for link, entry in kept if entry.expires > now}


# -- where the breakpoints are ---------------------------------------------------------------------------------
#
# Chooses the cache breakpoints of a prompt and the lifetimes of their entries.
#
# An entry at the end of the text that the next request repeats makes that request cheap. The other breakpoints are
# insurance:
#
# - the deepest live entry, if the provider would not find it by looking back from the end
# - the last entry with the long lifetime, so that a pause loses only the turns since then and not the whole history
# - the fixed text at the beginning, which outlives new pages and a cut history
# - one more long entry farther back, for a player who returns to an earlier turn and continues from there
# - if breakpoints are left over, the client's own system prompt and its largest piece: side requests share nothing else
#   with the story, and in a new chat a moving note may change the rest
#
# A long lifetime costs more to write. It is chosen if the expected cost of a pause is higher: the tokens that the pause
# would lose times its likelihood. With ``lost`` tokens since the last long entry and ``new`` tokens to write, the
# cheapest interval between long entries satisfies ``chance * (short - read) * lost * (lost + new) >= 2 * (long - short)
# * new ** 2``, the discrete form of the economic order quantity (Harris, 1913). In a prompt without a cache everything
# is new, so the entry gets the long lifetime only if the player is known to pause. One turn later there is no long
# entry and little is new, so it gets the long lifetime.

_FAR = 40
"""Minimum distance from the end, in content parts, of the additional long entry."""


def place_breakpoints(
    measured: Measured,
    facts: ModelFacts,
    book: CacheBook,
    moments: Sequence[float],
    *,
    end: int,
    fixed: int,
    scale: float = 1.0,
    landmarks: Sequence[int] = (),
    carries: Callable[[int], bool] = lambda at: True,
) -> dict[int, CacheLifetime]:
    """Return the lifetime of each breakpoint by position, in order; empty if nothing can or need be marked.

    ``end`` is the last position that the next request will repeat. ``fixed`` is the last position of text that never
    changes, -1 for none. ``moments`` are the times of the earlier requests and this one, the last is now. ``scale`` is
    the number of model tokens per token as counted here. ``carries`` tells whether a breakpoint may follow a position;
    if not, the position before it is used. ``landmarks`` are further positions, marked if breakpoints are left over.
    """
    if facts.cache != "explicit" or not facts.writes or facts.breakpoints < 1:
        return {}
    now = moments[-1]
    end, fixed = _carrying(end, carries), _carrying(fixed, carries)

    def enough(at: int) -> bool:
        return at >= 0 and measured.tokens[at] * scale >= facts.cache_minimum

    if not enough(end):
        return {}
    living = [at for at in book.living(measured.chain[: end + 1], now) if enough(at)]
    long = max(facts.writes, key=lambda ttl: SECONDS[ttl])
    longs = [at for at in living if (entry := book.alive(measured.chain[at], now)) and entry.ttl == long]
    hit = living[-1] if living else -1
    marks = {end: _lifetime(measured, facts, moments, end=end, hit=hit, anchor=longs[-1] if longs else -1)}
    wanted = []
    if hit >= 0 and measured.parts[end] - measured.parts[hit] >= max(1, facts.lookback // 2):
        wanted.append(hit)
    wanted += longs[-1:]
    if enough(fixed):
        wanted.append(fixed)
    wanted += [at for at in longs if measured.parts[end] - measured.parts[at] >= _FAR][-1:]
    wanted += [hit] if hit >= 0 else []
    wanted += [at for at in (_carrying(each, carries) for each in landmarks) if enough(at)]
    for at in wanted:
        if len(marks) < facts.breakpoints and at <= end:
            marks.setdefault(at, long if at in longs else min(facts.writes, key=lambda ttl: SECONDS[ttl]))
    return _ordered(marks)


def _carrying(at: int, carries: Callable[[int], bool]) -> int:
    while at >= 0 and not carries(at):
        at -= 1
    return at


def _lifetime(
    measured: Measured, facts: ModelFacts, moments: Sequence[float], *, end: int, hit: int, anchor: int
) -> CacheLifetime:
    """Return the lifetime for the entry at the end."""
    by_length = sorted(facts.writes, key=lambda ttl: SECONDS[ttl])
    short, long = by_length[0], by_length[-1]
    if short == long:
        return short
    whole = measured.tokens[end]
    new = whole - (measured.tokens[hit] if hit >= 0 else 0)
    lost = whole - (measured.tokens[anchor] if anchor >= 0 else 0)
    chance = chance_between(moments, SECONDS[short], SECONDS[long])
    gain = chance * (facts.writes[short] - facts.read) * lost * (lost + new)
    return long if gain >= 2 * (facts.writes[long] - facts.writes[short]) * new**2 else short


def _ordered(marks: Mapping[int, CacheLifetime]) -> dict[int, CacheLifetime]:
    """Return the marks in order, with lifetimes extended so that none is followed by a longer one, which providers
    reject."""
    found: dict[int, CacheLifetime] = {}
    least: CacheLifetime | None = None
    for at in sorted(marks, reverse=True):
        ttl = marks[at]
        if least is None or SECONDS[ttl] > SECONDS[least]:
            least = ttl
        found[at] = least
    return dict(sorted(found.items()))


# -- the prompts of a session ----------------------------------------------------------------------------------
#
# The planner: sets the cache breakpoints of a plan, based on the prompts that were sent before.
#
# There is one ``SessionPrompts`` per session. Its data can be stored and loaded again. If the data is lost, the first
# request is still marked at its end, from where the provider looks back.

_BOOKS = 4
"""Models per session whose cache books are kept."""
_REQUESTS = 8
_MOMENTS = 48
_LABEL = 60
_TEXTS = 16
"""System blocks whose texts are kept until the next request."""


@frozen
class SentPrompt:
    """A prompt that was sent, kept for comparison with the next one."""

    at: float
    chain: tuple[int, ...]
    """As in ``Measured``."""
    total: int
    """Tokens of the whole prompt, as counted here."""
    labels: Mapping[int, str]
    """Short descriptions of the system blocks, by position."""
    end: int
    """The last position that the next request was expected to repeat."""
    turn: str = ""
    outlook: Outlook = field(factory=Outlook)


@frozen
class Planned:
    """A plan with its breakpoints and its expected cache use."""

    plan: PromptPlan
    request: SentPrompt
    before: SentPrompt | None = None
    """The earlier request with the longest common prefix."""
    reason: str = ""
    """Why new pages were pinned for this prompt; empty if none were."""
    pin: str = ""
    """The turn whose pages are in the prefix."""
    language: str = ""
    """The language of these pages."""
    added: int = 0
    """Tokens of the prompt that SAGA added."""
    texts: Mapping[int, str] = field(factory=dict, repr=False)
    """The texts of the system blocks of ``before``, if available."""

    @property
    def shared(self) -> int:
        """The number of leading blocks that are equal to those of the request before."""
        return common_prefix(self.request.chain, self.before.chain) if self.before else 0

    @property
    def diverged(self) -> str:
        """A description of the first block that differs from the request before although it should be repeated; empty
        if there is none."""
        if self.before is None:
            return ""
        shared = self.shared
        if shared > self.before.end or shared >= len(self.plan.blocks):
            return ""
        block, old = self.plan.blocks[shared], self.texts.get(shared)
        if old is not None and isinstance(block.content, str) and block.is_system:
            at = next((at for at, pair in enumerate(zip(old, block.content, strict=False)) if pair[0] != pair[1]), -1)
            at = at if at >= 0 else min(len(old), len(block.content))
            return f"block {shared} was {_label(block, old, at)}, is {_label(block, block.content, at)}"
        was = self.before.labels.get(shared, "another message")
        return f"block {shared} was {was}, is {_label(block)}"


@define
class SessionPrompts:
    """The planner's data about one session's prompts."""

    moments: list[float] = field(factory=list)
    """The times of the session's requests, in order."""
    books: OrderedDict[tuple[str, str], CacheBook] = field(factory=OrderedDict)
    """Cache books by (provider, model), the most recently used last."""
    requests: list[SentPrompt] = field(factory=list)
    """The last requests, oldest first."""
    texts: dict[int, str] = field(factory=dict)
    """The system blocks of the last request, for describing changes. Never stored."""

    def book(self, facts: ModelFacts, model: str) -> CacheBook:
        """Return the cache book of a model."""
        key = (facts.provider, model)
        found = self.books.setdefault(key, CacheBook())
        self.books.move_to_end(key)
        while len(self.books) > _BOOKS:
            self.books.popitem(last=False)
        return found

    def record_request(self, now: float) -> None:
        """Record that a request came at ``now``."""
        self.moments.append(now)
        del self.moments[:-_MOMENTS]

    def warm(self, plan: PromptPlan, facts: ModelFacts, model: str, count: Callable[[str], int]) -> bool:
        """Whether some of the plan's history could be read from the cache now."""
        measured = measure(plan.blocks, count)
        living = self.book(facts, model).living(measured.chain, self.moments[-1])
        return any(plan.blocks[at].stability is Stability.HISTORY for at in living)

    def mark(
        self,
        plan: PromptPlan,
        facts: ModelFacts,
        model: str,
        count: Callable[[str], int],
        *,
        scale: float = 1.0,
        turn: str = "",
        reading: bool = False,
    ) -> Planned:
        """Return ``plan`` with breakpoints for a request that is sent now. Call ``record_request`` first.

        With ``reading``, only a prefix that can be read is marked, for side requests that nothing follows.
        """
        now = self.moments[-1]
        measured = measure(plan.blocks, count)
        book = self.book(facts, model)
        end = self._end(plan.blocks, measured)
        marks: dict[int, CacheLifetime] = {}
        if reading:
            living = book.living(measured.chain[: end + 1], now) if facts.cache == "explicit" else []
            entry = book.alive(measured.chain[living[-1]], now) if living else None
            if entry is not None:
                marks[living[-1]] = entry.ttl
        else:
            marks = place_breakpoints(
                measured,
                facts,
                book,
                self.moments,
                end=end,
                fixed=max((at for at, block in enumerate(plan.blocks) if block.origin in FIXED), default=-1),
                scale=scale,
                landmarks=_landmarks(measured, plan.blocks),
                carries=lambda at: bool(plan.blocks[at].content) and facts.can_mark(plan.blocks[at].role),
            )
        last = self.requests[-1] if self.requests else None
        before = max(self.requests, key=lambda each: common_prefix(each.chain, measured.chain), default=None)
        outlook = book.send(measured, marks, facts, now)
        labels = {at: _label(block) for at, block in enumerate(plan.blocks) if block.is_system}
        texts, self.texts = self.texts, self.texts if reading else _texts(plan.blocks, labels)
        request = SentPrompt(now, measured.chain, measured.total, labels, end, turn, outlook)
        if not reading:
            self.requests.append(request)
            del self.requests[:-_REQUESTS]
        if reading:
            return Planned(_marked(plan, marks), request)
        older = texts if before is not None and before is last else {}
        return Planned(_marked(plan, marks), request, before, texts=older)

    def _end(self, blocks: Sequence[Block], measured: Measured) -> int:
        """Return the last position that the next request should repeat: the one before volatile blocks and before any
        new system message within the history.
        """
        talking = False
        for at, block in enumerate(blocks):
            if block.stability is Stability.VOLATILE:
                return at - 1
            if not block.is_system:
                talking = True
            elif talking and not self._stood(at, measured.chain[at]):
                return at - 1
        return len(blocks) - 1

    def _stood(self, at: int, link: int) -> bool:
        return any(len(each.chain) > at and each.chain[at] == link for each in self.requests)


def _marked(plan: PromptPlan, marks: Mapping[int, CacheLifetime]) -> PromptPlan:
    if not marks:
        return plan
    blocks = list(plan.blocks)
    for at, ttl in marks.items():
        blocks[at] = evolve(blocks[at], breakpoint=ttl)
    return PromptPlan(tuple(blocks))


def _label(block: Block, content: str | None = None, at: int = 0) -> str:
    """Return a short description of a block. With ``content``, it shows the line with the character ``at``."""
    if content is None:
        content = block.content if isinstance(block.content, str) else f"{len(block.content)} parts"
    start = content.rfind("\n", 0, at) + 1
    text = " ".join(content[start : start + _LABEL * 2].split())
    text = text if len(text) <= _LABEL else f"{text[: _LABEL - 1]}…"
    if not text:
        return f"{block.role} without more than {start} characters"
    where = f" from line {content.count(chr(10), 0, start) + 1} on" if start else ""
    return f"{block.role}{where} {text!r}"


def _texts(blocks: Sequence[Block], places: Iterable[int]) -> dict[int, str]:
    found = ((at, blocks[at].content) for at in islice(places, _TEXTS))
    return {at: content for at, content in found if isinstance(content, str)}


def _landmarks(measured: Measured, blocks: Sequence[Block]) -> list[int]:
    """Return the positions of the end of the client's own system prompt and of its largest block."""
    own = [at for at, block in enumerate(blocks) if block.origin is Origin.CLIENT]
    if not own:
        return []
    sizes = {at: measured.tokens[at] - (measured.tokens[at - 1] if at else 0) for at in own}
    return [own[-1], max(own, key=lambda at: sizes[at])]
