"""The module ``rpg``: attributes, conditions that last some turns, and dice that SAGA rolls."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from attrs import frozen

from saga_core.dice import DICE, roll
from saga_core.model import Event, WorldState, deltas
from saga_core.modules.module import ModuleTurn
from saga_core.trackers import Tracker, tracker_of

ATTRIBUTES = ("strength", "agility", "wits", "spirit")
"""Each from 1 to 6. A check is 2d6 and the attribute against 9."""
EVERY_LEVEL = 10
"""Experience for a level."""
_ROLL = re.compile(rf"\broll:?\s*{DICE}", re.IGNORECASE)
_LASTS = re.compile(r"(?P<name>.*\S)\s+(?P<turns>\d{1,3})")
_DECLARED: tuple[Mapping[str, str], ...] = (
    *({"name": name, "range": "1..6", "start": "2", "told": "changed"} for name in ATTRIBUTES),
    {"name": "experience", "kind": "counter", "start": "0", "description": "for what was hard, 1 to 3"},
    {"name": "conditions", "kind": "list", "description": "such as poisoned 3, for three turns"},
    {
        "name": "roll",
        "kind": "text",
        "told": "never",
        "description": "dice to be rolled for the next turn, such as 2d6+1",
    },
)


@frozen
class Rpg:
    """The rules of ``rpg``. Their numbers are the constants above."""

    name: str = "rpg"
    version: int = 1

    def trackers(self, language: str) -> Iterable[Tracker]:
        """Attributes, experience, conditions and the dice to roll."""
        return map(tracker_of, _DECLARED)

    def rules(self, turn: ModuleTurn) -> Iterable[Event]:
        """Roll the dice that the player's words or the report ask for, and let conditions run out."""
        after, player = turn.after, turn.after.player
        asked = _ROLL.search(turn.words) or _ROLL.search(f"roll {_text(after, 'roll')}")
        if asked is not None:
            rolled = roll(asked, turn.random.randint)
            shown = f"{rolled.dice} = {rolled.total} ({', '.join(map(str, rolled.rolls))})"
            yield deltas.ValueSet("rpg.roll", shown)
            yield deltas.TrackerSet("roll", "–", player)
        elif "rpg.roll" in after.values:
            yield deltas.ValueSet("rpg.roll", None)
        before = _items(turn.before, "conditions")
        for each in _items(after, "conditions"):
            lasting = _LASTS.fullmatch(each) if each in before else None
            if lasting is not None:
                left = int(lasting["turns"]) - 1
                added = (f"{lasting['name']} {left}",) if left > 0 else ()
                yield deltas.TrackerChanged("conditions", 0, player, added=added, removed=(each,))

    def context(self, state: WorldState, language: str) -> Iterable[str]:
        """What was rolled, for the narrator to tell."""
        if "rpg.roll" in state.values:
            yield f"[roll] {state.values['rpg.roll']}"

    def section(self, state: WorldState, language: str) -> Iterable[str]:
        """The level and the last roll."""
        experience = _number(state, "experience")
        yield f"level {1 + experience // EVERY_LEVEL} ({experience % EVERY_LEVEL}/{EVERY_LEVEL})"
        yield from self.context(state, language)

    def picture(self, state: WorldState, language: str) -> str:
        """None."""
        return ""


def _text(state: WorldState, name: str) -> str:
    value = state.counted(name)
    return value if isinstance(value, str) else ""


def _number(state: WorldState, name: str) -> int:
    value = state.counted(name)
    return value if isinstance(value, int) else 0


def _items(state: WorldState, name: str) -> tuple[str, ...]:
    value = state.counted(name)
    return tuple(map(str, value)) if isinstance(value, tuple) else ()


MODULE = Rpg()
