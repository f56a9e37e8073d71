"""The chats of the cache benchmark: their length, pace and model, and the floating text in their prompts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from attrs import frozen


@frozen
class Case:
    """One chat of the benchmark."""

    name: str
    model: str
    provider: str
    system: int
    """Tokens of the client's system prompt."""
    turns: int
    pace: str = "20s"
    floats: Literal["", "all", "tavern"] = ""
    """``all``: world info that comes and goes, a changing note two messages from the end, and the time of day in the
    system prompt. ``tavern``: world info and a note four messages from the end, as SillyTavern sends them, with an
    instruction after the player's words.
    """
    swipe: int = 0
    """The number of turns from one swipe to the next; 0 for no swipes."""
    branch: int = 0
    """The number of turns after which the player goes back some turns and continues from there; 0 for never."""
    window: int = 0
    """``token_budget.total_context_max``; 0 keeps the default."""
    unreported: int = 0
    """The number of turns from one reply without a state block to the next; 0 for none. A small model extracts the
    changes of these replies, and also curates."""
    saved: float = 0.0
    """The goal for the saved share of the whole bill, extraction and curation included."""
    reuse: float = 0.99
    bill: float = 1.03
    """The goals for ``reuse``, at least, and for ``bill``, at most."""


def _steady(seconds: float) -> Callable[[int], float]:
    return lambda _: seconds


def _mixed(number: int) -> float:
    # An irregular pace: two in five turns are slow.
    return 360.0 if (number * 7919 + number * number * 31) % 5 < 2 else 20.0


def _nights(number: int) -> float:
    return 30_000.0 if number % 50 == 0 else 20.0


PACES: dict[str, Callable[[int], float]] = {
    "20s": _steady(20.0),
    "6min": _steady(360.0),
    "30min": _steady(1_800.0),
    "mixed": _mixed,
    "nights": _nights,
}
"""By name, a function from the number of a turn to the seconds before it."""

_HAIKU, _SONNET = "claude-haiku-4-5", "claude-sonnet-5-5"

CASES = (
    Case("haiku 4.1k, 50 turns", _HAIKU, "anthropic", 4_100, 50),
    Case("haiku 4.1k, 200 turns", _HAIKU, "anthropic", 4_100, 200),
    Case("haiku 4.1k, 300 turns", _HAIKU, "anthropic", 4_100, 300, unreported=10, saved=0.70),
    Case("haiku 0.3k, 50 turns", _HAIKU, "anthropic", 300, 50),
    Case("sonnet 14k, 50 turns", _SONNET, "anthropic", 14_000, 50),
    Case("sonnet 14k, 200 turns", _SONNET, "anthropic", 14_000, 200),
    Case("6 min between turns", _SONNET, "anthropic", 14_000, 200, "6min", reuse=0.98, bill=1.05),
    Case("30 min between turns", _SONNET, "anthropic", 14_000, 200, "30min", reuse=0.98, bill=1.05),
    Case("20 s and 6 min mixed", _SONNET, "anthropic", 14_000, 200, "mixed", reuse=0.98, bill=1.05),
    Case("a night each 50 turns", _SONNET, "anthropic", 14_000, 200, "nights", reuse=0.98, bill=1.05),
    Case("haiku, 6 min", _HAIKU, "anthropic", 4_100, 50, "6min", reuse=0.98, bill=1.05),
    Case("haiku, mixed", _HAIKU, "anthropic", 4_100, 200, "mixed", reuse=0.98, bill=1.05),
    Case("what floats", _SONNET, "anthropic", 14_000, 200, floats="all", reuse=0.95, bill=1.10),
    Case("a tavern's floats", _HAIKU, "anthropic", 4_100, 200, floats="tavern", reuse=0.95, bill=1.10),
    Case("what floats, haiku 4.1k", _HAIKU, "anthropic", 4_100, 200, floats="all", reuse=0.95, bill=1.10),
    Case("400 turns, window of 24k", _HAIKU, "anthropic", 4_100, 400, window=24_000, reuse=0.95, bill=1.10),
    Case("swipes and branches", _SONNET, "anthropic", 14_000, 200, swipe=3, branch=20, reuse=0.98, bill=1.05),
    Case("swipes, haiku 4.1k", _HAIKU, "anthropic", 4_100, 200, swipe=3, branch=20, reuse=0.98, bill=1.05),
    Case("gpt-5.1, automatic", "gpt-5.1", "openai", 4_100, 200),
    Case("gpt-5.6, breakpoints", "gpt-5.6-terra", "openai", 4_100, 200),
)
