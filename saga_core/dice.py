"""Dice as they are written, such as 2d6+1, and what they show."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

from attrs import frozen

from saga_core.errors import BadInput

DICE = r"(?P<count>\d{1,2})?d(?P<sides>\d{1,3})\s*(?P<plus>[+-]\s*\d{1,3})?"
"""Up to 99 dice of up to 999 sides, and a number that is added."""

_WRITTEN = re.compile(DICE, re.IGNORECASE)
_RANDOM = random.SystemRandom()


@frozen
class Rolled:
    """Dice that were rolled."""

    dice: str
    rolls: tuple[int, ...]
    total: int


def roll(written: re.Match[str], draw: Callable[[int, int], int]) -> Rolled:
    """Roll the dice of a match of ``DICE``. ``draw`` returns a whole number between two others, which it may be."""
    count, sides = max(1, int(written["count"] or 1)), max(2, int(written["sides"]))
    plus = int((written["plus"] or "0").replace(" ", ""))
    rolls = tuple(draw(1, sides) for _ in range(count))
    return Rolled(f"{count}d{sides}{plus:+d}" if plus else f"{count}d{sides}", rolls, sum(rolls) + plus)


def roll_dice(dice: str) -> Rolled:
    """Roll dice at random. Raises ``BadInput`` if they are not written as dice are."""
    written = _WRITTEN.fullmatch(dice.strip())
    if written is None:
        raise BadInput(f"dice: {dice[:40]!r} are no dice; give such as d20 or 2d6+1")
    return roll(written, _RANDOM.randint)
