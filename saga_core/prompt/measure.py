"""Measures a plan: the tokens and a fingerprint of each prefix that ends with a block."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import frozen

from saga_core.messages import Block
from saga_core.prompt.fingerprint import fingerprint

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
