"""What memory does for a player: scenarios of 40 turns with SAGA, with the whole history, with the last six messages.

The last words of each need what was said at the beginning. A judge sees the beginning, the last words and the reply.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle, islice
from typing import Any

from attrs import frozen

from tests.judge.judge import Answers, LongScenario, Material, grade, interval
from tests.judge.run import Narrator, Played, Tokens

TURNS = 40
SHOWN = 6
"""Messages of the chat that a frontend with a short window sends."""


@frozen
class Prices:
    """Dollars for a million tokens."""

    read: float
    cached: float
    written: float

    def of(self, tokens: Tokens) -> float:
        """What the tokens cost."""
        fresh = tokens.read - tokens.cached
        return (fresh * self.read + tokens.cached * self.cached + tokens.written * self.written) / 1_000_000


def words(scenario: LongScenario, material: Material) -> list[str]:
    """All that the player says."""
    between = islice(cycle(material.between), TURNS - len(scenario.first) - 1)
    return [*scenario.first, *between, scenario.last]


async def with_and_without(
    saga: Narrator,
    direct: Narrator,
    judges: Sequence[Answers],
    material: Material,
    *,
    prices: Prices | None = None,
    repeats: int = 1,
    run: str = "long",
) -> dict[str, Any]:
    """The points and the cost of each way. ``direct`` is the narrator's own server, without SAGA."""
    ways: dict[str, tuple[Narrator, int | None]] = {
        "SAGA, last six messages": (saga, SHOWN),
        "whole history": (direct, None),
        "last six messages": (direct, SHOWN),
    }
    found: dict[str, Any] = {}
    for name, (narrator, shown) in ways.items():
        plays: list[tuple[str, Played]] = []
        for id_, scenario in material.long.items():
            for at in range(repeats):
                session = f"{run}-{material.language}-{id_}-{at}"
                told = words(scenario, material)
                plays.append((id_, await narrator.play(material.card, told, session, shown)))
        found[name] = await _judged(plays, judges, material, prices)
    return found


async def _judged(
    plays: Sequence[tuple[str, Played]], judges: Sequence[Answers], material: Material, prices: Prices | None
) -> dict[str, Any]:
    rows: list[Mapping[str, Any]] = []
    for id_, played in plays:
        scenario = material.long[id_]
        talk = (*played.talk[: 2 * len(scenario.first)], scenario.last)
        points = [(await grade(judge, material, talk, played.reply)).mean for judge in judges]
        rows.append({"scenario": id_, "points": points, "reply": played.reply})
    tokens = Tokens(
        sum(played.tokens.read for _, played in plays),
        sum(played.tokens.cached for _, played in plays),
        sum(played.tokens.written for _, played in plays),
    )
    mean, half = interval([sum(row["points"]) / len(row["points"]) for row in rows])
    return {
        "mean": round(mean, 2),
        "interval": None if half is None else round(half, 2),
        "read": round(tokens.read / (TURNS * len(plays))),
        "cached": round(tokens.cached / (TURNS * len(plays))),
        "written": round(tokens.written / (TURNS * len(plays))),
        "dollars": None if prices is None else round(prices.of(tokens) / len(plays), 4),
        "replies": rows,
    }
