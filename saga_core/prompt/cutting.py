"""Cuts a history that is too long, rarely and by a large piece, so that the prefix stays the same for many turns.

A cut stays until the prompt reaches its limit again, or until the client, which may trim on its own, drops the message
at which the cut history begins. Then the history is cut to a fraction of the limit. It begins with words of the player
and, if possible, no later than the end of the story in the pages.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate

from attrs import define, field, frozen

from saga_core.messages import Block, Origin
from saga_core.model import Tree
from saga_core.prompt.fingerprint import fingerprint

_LEFT = 0.6
"""The part of the history's room that is used after a cut."""
_LEFT_OF_WINDOW = 0.7
"""The part of the history that is kept by a cut if the client itself trims the history from request to request."""
_LEAST = 4
"""Minimum messages that are kept."""
_PART = 1_000
_DECISIONS = 4_096
_KNOWN = 512
"""Messages whose identity and size are cached between two requests."""


@frozen
class Cut:
    """The position at which a history begins."""

    start: int
    """The index of the first message of the history. The leading system messages stay."""
    fresh: bool = False
    """Whether the cut was made for this request."""


@frozen
class Begin:
    """The decision for one request."""

    first: int
    """Identity of the client's own first message."""
    start: int | None
    """Identity of the message at which the cut history begins; None if nothing is cut."""


@define
class Cuts:
    """The cuts of one session. A path continues with the cut of its nearest turn that has one."""

    _begins: dict[str, Begin] = field(factory=dict)
    _known: dict[int, tuple[int, int]] = field(factory=dict, init=False)
    """Identity and tokens by hash, of the messages of the last request. Nearly all of them are sent again."""

    def place(
        self,
        blocks: Sequence[Block],
        tree: Tree,
        parent: str,
        *,
        room: int,
        told: int,
        count: Callable[[str], int],
        ours: bool = False,
    ) -> Cut:
        """Decide where the history of a request that continues ``parent`` begins.

        ``room`` is the maximum number of tokens of the history. ``told`` is the depth up to which the pages cover the
        story. ``ours`` means that the history is the server's own, which moves in steps by itself.
        """
        lead = next((at for at, block in enumerate(blocks) if block.origin is not Origin.CLIENT), len(blocks))
        if lead >= len(blocks) - _LEAST:
            return Cut(lead)
        keys, sizes = self._measured(blocks[lead:], count)
        old = next((self._begins[n.id] for n in tree.upwards(parent) if n.id in self._begins), None)
        at = keys.index(old.start) if old is not None and old.start in keys else 0
        slid = not ours and old is not None and old.first not in keys and at == 0 and len(keys) > 2 * _LEAST
        left = sum(sizes[at:])
        fresh = left > room or slid
        if fresh:
            target = min(room * _LEFT, left * _LEFT_OF_WINDOW if slid else left)
            at = _start(blocks[lead:], sizes, at, target, room, tree.get(parent).depth, told)
        start = keys[at] if at else None
        self.decide(parent, Begin(keys[0], start))
        return Cut(lead + at, fresh and at > 0)

    def _measured(self, blocks: Sequence[Block], count: Callable[[str], int]) -> tuple[list[int], list[int]]:
        """Return the identities and the tokens of the messages."""
        keys: list[int] = []
        sizes: list[int] = []
        seen: dict[int, tuple[int, int]] = {}
        for block in blocks:
            if isinstance(block.content, str):
                mark = hash((block.role, block.content))
                found = self._known.get(mark) or (_identity(block), _size(block, count))
                seen[mark] = found
            else:
                found = (_identity(block), _size(block, count))
            keys.append(found[0])
            sizes.append(found[1])
        self._known = seen if len(seen) <= _KNOWN else dict(list(seen.items())[-_KNOWN:])
        return keys, sizes

    def decide(self, parent: str, begin: Begin) -> None:
        """From now on, start histories that continue ``parent`` or a turn below it at ``begin``."""
        self._begins.pop(parent, None)
        self._begins[parent] = begin
        if len(self._begins) > _DECISIONS:
            self._begins = dict(list(self._begins.items())[_DECISIONS // 2 :])

    def latest(self, count: int) -> list[tuple[str, Begin]]:
        """Return the last ``count`` decisions, oldest first."""
        return list(self._begins.items())[-count:]


def _start(
    blocks: Sequence[Block],
    sizes: Sequence[int],
    first: int,
    target: float,
    room: int,
    depth: int,
    told: int,
) -> int:
    """Return the position of the first player's words after which at most ``target`` tokens are left.

    Earlier words are preferred if the pages cover all turns before them and the history still fits.
    """
    users = [at for at, block in enumerate(blocks) if block.role == "user" and first < at < len(blocks) - _LEAST]
    sums = list(accumulate(reversed(sizes)))[::-1]
    left = {at: sums[at] for at in users}
    wanted = next((at for at in users if left[at] <= target), users[-1] if users else first)
    turns = sum(1 for block in blocks if block.role == "user")
    seen = 0
    best = 0
    for at, block in enumerate(blocks):
        if block.role != "user":
            continue
        before = depth - (turns - 1 - seen)  # the turn before these words
        seen += 1
        if at in left and at <= wanted and before <= told and left[at] <= (room + target) / 2:
            best = at
    return best or wanted


def _identity(block: Block) -> int:
    return fingerprint(block.role, block.text)


def _size(block: Block, count: Callable[[str], int]) -> int:
    content = block.content
    pictures = 0 if isinstance(content, str) else sum(part.get("type") != "text" for part in content)
    return count(block.text) + pictures * _PART + 4
