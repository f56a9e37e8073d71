"""Cuts a history that is too long: rarely, and then by a large piece, so that the prefix survives many turns.

The cut stays until the prompt reaches its limit again, or until the client, which may trim on its own, has dropped the
message at which the cut history begins. Then the history is cut to a fraction of the limit. It begins with words of the
player and, if possible, no later than the end of the story that the pages tell.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate

from attrs import define, field, frozen

from saga_core.messages import Block, Origin
from saga_core.model import Tree
from saga_core.prompt.fingerprint import fingerprint

_LEFT = 0.6
"""The part of the room for history that a cut leaves filled."""
_LEFT_OF_WINDOW = 0.7
"""The part that is left of a history that the client itself trims from request to request."""
_LEAST = 4
"""Messages that are always kept."""
_PART = 1_000
_DECISIONS = 4_096
_KNOWN = 512
"""Messages whose identity and size are remembered between two requests."""


@frozen
class Cut:
    """The position where a history begins."""

    start: int
    """The message with which it begins; the leading system messages stay."""
    fresh: bool = False
    """Whether it was decided for this very request."""


@frozen
class Begin:
    """The decision for one request."""

    first: int
    """Identity of the client's own first message."""
    start: int | None
    """Identity of the message with which the cut history begins; None: nothing is cut."""


@define
class Cuts:
    """The cuts of one session. A path continues with the cut of its nearest turn that has one."""

    _begins: dict[str, Begin] = field(factory=dict)
    _known: dict[int, tuple[int, int]] = field(factory=dict, init=False)
    """Hash to identity and tokens, of the last messages of the last request: nearly all of them come again."""

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
        """Where the history of a request that continues ``parent`` begins.

        ``room``: tokens that the history may have. ``told``: the depth up to which the story is told elsewhere.
        ``ours``: the history is the server's own, and moves in steps by itself.
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
        """The identity of each message, and its tokens."""
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
        """Histories that continue ``parent``, or a turn below it, start at ``begin`` from now on."""
        self._begins.pop(parent, None)
        self._begins[parent] = begin
        if len(self._begins) > _DECISIONS:
            self._begins = dict(list(self._begins.items())[_DECISIONS // 2 :])

    def latest(self, count: int) -> list[tuple[str, Begin]]:
        """The last decisions, oldest first."""
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
    """The player's words from which on at most ``target`` tokens are left, or earlier ones up to which all is told."""
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
