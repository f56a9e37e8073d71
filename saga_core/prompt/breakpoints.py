"""Chooses the cache breakpoints of a prompt and the lifetimes of their entries.

An entry at the end of the text that the next request repeats makes that request cheap. The other breakpoints are
insurance:

- the deepest live entry, if the provider would not find it by looking back from the end
- the last entry with the long lifetime, so that a pause loses only the turns since then and not the whole history
- the fixed text at the beginning, which outlives new pages and a cut history
- one more long entry farther back, for a player who returns to an earlier turn and continues from there
- if breakpoints are left over, the client's own system prompt and its largest piece: side requests share nothing else
  with the story, and in a new chat a moving note may change the rest

A long lifetime costs more to write. It is chosen if the expected cost of a pause is higher: the tokens that the pause
would lose times its likelihood. With ``lost`` tokens since the last long entry and ``new`` tokens to write, the
cheapest interval between long entries satisfies
``chance * (short - read) * lost * (lost + new) >= 2 * (long - short) * new ** 2``, the discrete form of the economic
order quantity (Harris, 1913). In a prompt without a cache everything is new, so the entry gets the long lifetime only
if the player is known to pause. One turn later there is no long entry and little is new, so it gets the long lifetime.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from saga_core.messages import CacheLifetime
from saga_core.prompt.cache_book import CacheBook
from saga_core.prompt.measure import Measured
from saga_core.prompt.pace import chance_between
from saga_core.upstream import SECONDS, ModelFacts

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
