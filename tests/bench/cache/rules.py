"""The providers' caching rules, applied strictly, with a simulated clock.

The rules are written independently of SAGA's own model of its caches, so that the two can disagree. A request that a
provider would refuse raises ``Refused``.

Anthropic (https://platform.claude.com/docs, prompt caching): an entry is a prefix that ends at a breakpoint. A
breakpoint finds entries at its own content block and the 19 before it, and refreshes an entry that it finds. The tokens
after the longest found prefix are written: at the one-hour price up to the last one-hour breakpoint, and at the
five-minute price from there to the last breakpoint.

OpenAI (https://developers.openai.com/api/docs/guides/prompt-caching): before GPT-5.6, a request reads any prefix that
was sent recently, from 1,024 tokens on in steps of 128. From GPT-5.6 on, entries are found at breakpoints only, however
many blocks are between, and live for 30 minutes. A reply of the model cannot carry a breakpoint.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from attrs import define, field, frozen

SECONDS = {"5m": 300.0, "30m": 1_800.0, "1h": 3_600.0}
MOST_MARKS = 4


class Refused(ValueError):
    """The provider would answer the request with an error."""


@frozen
class Piece:
    """A content block on its way to the provider."""

    text: str
    tokens: int
    mark: Literal["5m", "30m", "1h"] | None = None
    said: bool = False
    """Whether it is a reply of the model."""


@frozen
class Charge:
    """The tokens that one request is billed for."""

    read: int = 0
    written: int = 0
    written_1h: int = 0
    """The part of ``written`` that is written for an hour."""
    plain: int = 0
    shared: int = 0
    """The longest prefix of the request in the cache, which is the most that could have been read."""

    @property
    def total(self) -> int:
        """All tokens of the request."""
        return self.read + self.written + self.plain


@frozen
class Rates:
    """Prices as multiples of the input price."""

    read: float
    short: float = 1.0
    long: float = 1.0

    def cost(self, charge: Charge) -> float:
        """The cost of one request, in tokens at the input price."""
        short = charge.written - charge.written_1h
        return charge.read * self.read + short * self.short + charge.written_1h * self.long + charge.plain


@define
class _Entry:
    chain: tuple[int, ...]
    life: float
    until: float


@define
class MarkedCache:
    """A cache with breakpoints. ``lookback`` is 20 for Anthropic, and 1 for GPT-5.6."""

    minimum: int
    lookback: int = 20
    replies: bool = True
    """Whether a reply of the model can carry a breakpoint."""
    ignored: int = 0
    """The number of breakpoints below the minimum, which had no effect."""
    _entries: dict[int, _Entry] = field(factory=dict)

    def send(self, pieces: Sequence[Piece], now: float) -> Charge:
        """Bill a request. Raises ``Refused``."""
        chain, tokens = _chained(pieces)
        marks = [at for at, piece in enumerate(pieces) if piece.mark]
        self._check(pieces, marks)
        alive = {link: entry for link, entry in self._entries.items() if entry.until > now}
        found = -1
        for at in marks:
            if tokens[at] < self.minimum:
                self.ignored += 1
                continue
            for back in range(at, max(-1, at - self.lookback), -1):
                entry = alive.get(chain[back])
                if entry is not None:
                    entry.until = now + entry.life
                    found = max(found, back)
                    break
        shared = max((_shared(chain, tokens, entry.chain) for entry in alive.values()), default=0)
        read = tokens[found] if found >= 0 else 0
        reached, hour = read, read
        for at in marks:
            if at > found and tokens[at] >= self.minimum:
                life = SECONDS[str(pieces[at].mark)]
                self._entries[chain[at]] = _Entry(tuple(chain[: at + 1]), life, now + life)
                reached = tokens[at]
                hour = tokens[at] if pieces[at].mark == "1h" else hour
        if len(self._entries) > 2_000:
            self._entries = {link: entry for link, entry in self._entries.items() if entry.until > now}
        return Charge(read, reached - read, hour - read, tokens[-1] - reached, shared)

    def _check(self, pieces: Sequence[Piece], marks: Sequence[int]) -> None:
        if len(marks) > MOST_MARKS:
            raise Refused(f"{len(marks)} breakpoints; a request has at most {MOST_MARKS}")
        lives = [SECONDS[str(pieces[at].mark)] for at in marks]
        if lives != sorted(lives, reverse=True):
            raise Refused("an entry of an hour stands behind one of five minutes")
        if any(not pieces[at].text for at in marks):
            raise Refused("a breakpoint on an empty block")
        if not self.replies and any(pieces[at].said for at in marks):
            raise Refused("a breakpoint on what the model said")


@define
class AutomaticCache:
    """A cache without breakpoints, which finds the longest prefix of anything sent in the last ``seconds``."""

    minimum: int
    step: int = 128
    seconds: float = 300.0
    _sent: list[tuple[float, tuple[int, ...]]] = field(factory=list)

    def send(self, pieces: Sequence[Piece], now: float) -> Charge:
        """Bill a request."""
        chain, tokens = _chained(pieces)
        self._sent = [(at, old) for at, old in self._sent if now - at < self.seconds]
        shared = max((_shared(chain, tokens, old) for _, old in self._sent), default=0)
        steps = (shared - self.minimum) // self.step
        read = self.minimum + steps * self.step if shared >= self.minimum else 0
        self._sent.append((now, tuple(chain)))
        return Charge(read, 0, 0, tokens[-1] - read, read)


def _chained(pieces: Sequence[Piece]) -> tuple[list[int], list[int]]:
    chain: list[int] = []
    tokens: list[int] = []
    link, spent = 0, 0
    for piece in pieces:
        link, spent = hash((link, piece.text)), spent + piece.tokens
        chain.append(link)
        tokens.append(spent)
    return chain, tokens


def _shared(chain: Sequence[int], tokens: Sequence[int], old: Sequence[int]) -> int:
    low, high = 0, min(len(chain), len(old))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if chain[middle - 1] == old[middle - 1] else (low, middle - 1)
    return tokens[low - 1] if low else 0
