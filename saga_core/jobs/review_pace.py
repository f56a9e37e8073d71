"""How often a curator reviews a path: every few turns, or sooner when the turns are long."""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen

from saga_core.sessions import LiveSession


@frozen
class Pace:
    """How often one curator reviews."""

    every: int
    tokens: int = 0
    """Tokens of turns after which it reviews even before ``every`` turns; 0 for never."""
    whole: bool = False
    """Whether a path, once begun, is reviewed without gaps, however far the curator is behind."""


async def long_enough(live: LiveSession, turn: str, since: int, tokens: int, count: Callable[[str], int]) -> bool:
    """Whether the turns below the depth ``since``, up to ``turn``, have ``tokens`` tokens. Raises ``StoreError``."""
    found = 0
    for node in live.tree.upwards(turn):
        if node.depth <= since:
            break
        (each,) = await live.journal.turns(live.session.id, [node.id])
        found += count(each.user) + count(each.reply)
        if found >= tokens:
            return True
    return False
