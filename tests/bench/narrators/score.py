"""What a narrator's replies and SAGA's state are worth: stories told, imitations shown, changes read, inventions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from attrs import define, field

from tests.bench.narrators.story import Line, Story

_OURS = re.compile(
    r"\[/?SAGA|^\W*(?:location|location_moved|present|hp_change|items_(?:gained|lost|transferred)|npc_(?:met|separated)|"
    r"relationship_changes|status_changes|mood|event_trigger|notes)\W*[:：|]|^#+ |```|상태 변화|状态变化|状態変化"
    r"|nothing yet|아직 없음|暂无|まだなし|^\W*(?:HP|Inventory|Present|인벤토리|在场|物品)\s*[:：]",
    re.MULTILINE | re.IGNORECASE,
)
_LETTERS = re.compile(r"[^\W\d_]")
_LEAST = {"en": 60}
"""Letters of the shortest reply that tells a story; 25 in the other languages."""


def tells(story: Story, reply: str) -> bool:
    """Whether a reply tells a story: enough prose, and nothing that looks like SAGA's own text."""
    return len(_LETTERS.findall(reply)) >= _LEAST.get(story.language, 25) and not imitates(reply)


def imitates(reply: str) -> bool:
    """Whether a reply shows something of SAGA's blocks, pages or context."""
    return _OURS.search(reply) is not None


def _has(names: Iterable[str], parts: Iterable[str]) -> bool:
    known = [name.casefold() for name in names]
    return any(part.casefold() in name for name in known for part in parts)


@define
class Tally:
    """Counts of one run."""

    right: Counter[str] = field(factory=Counter)
    all: Counter[str] = field(factory=Counter)
    wrong: list[str] = field(factory=list)

    def check(self, kind: str, held: bool, about: str = "") -> None:
        """Count one comparison."""
        self.all[kind] += 1
        self.right[kind] += held
        if not held:
            self.wrong.append(f"{kind}: {about}")

    @staticmethod
    def answers(pattern: str, text: str) -> bool:
        """Whether a reply to a question has the right words."""
        return re.search(pattern, text, re.IGNORECASE) is not None

    def reply(self, story: Story, number: int, text: str) -> None:
        """Count a reply as the player sees it."""
        self.check("tells a story", tells(story, text), f"{number}: {text[:80]!r}")
        self.check("shows nothing of SAGA", not imitates(text), f"{number}: {text[:200]!r}")
        self.check("not empty", bool(text.strip()), str(number))

    def state(self, story: Story, number: int, line: Line, now: Mapping[str, Any], before: Mapping[str, Any]) -> None:
        """Compare the state after a turn with the truth."""
        things = {each["name"]: each["quantity"] for each in now["inventory"]}
        had = {each["name"]: each["quantity"] for each in before.get("inventory", ())}
        dead = set(now["dead"])
        if line.at:
            self.check("change", _has([now["location"] or ""], line.at), f"{number}: at {now['location']!r}")
        for thing in line.gain:
            self.check("change", _has(things, [thing]), f"{number}: gain {thing}: {list(things)}")
        for thing in line.lose:
            self.check("change", not _has(things, [thing]), f"{number}: lose {thing}: {list(things)}")
        for name in line.dead:
            self.check("change", _has(dead, [name]), f"{number}: dead {name}: {sorted(dead)}")
        if line.hp is not None:
            self.check("change", now["hp"] == line.hp, f"{number}: hp {now['hp']} for {line.hp}")
        elif before:
            self.check("not invented", now["hp"] == before["hp"], f"{number}: hp {before['hp']} to {now['hp']}")
        known = (*line.gain, *line.lose, *map(str, line.money[:1]))
        persona = " ".join(story.system).casefold()  # it is read once, beside the first turn
        for thing in things:
            if thing not in had:
                self.check(
                    "not invented",
                    _has([thing], known)
                    or _has([thing], ["coin", "credit", "은화", "银"])
                    or thing.casefold() in persona,
                    f"{number}: gained {thing}",
                )
        if line.company is not None:
            here = list(now["npcs_present"])
            exact = len(here) == len(line.company) and all(_has(here, parts) for parts in line.company)
            self.check("present", exact, f"{number}: {here} for {line.company}")
