"""FIREBALL's combat as a chat: what players write and roll, and the hit points of everybody after each update.

The players' messages are the words, those of their dice bot the reply, and the bot's own record of the combat what the
narrator reports. With swipes, a reply first reports hit points that the dice did not give.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.public.chat import Chat, Question, Turn

FILE = "raw.jsonl"
SYSTEM = "You are the game master of a fight, and keep count of everybody's hit points."
TRACKER = "hit_points"
TRACKERS: Mapping[str, Any] = {TRACKER: {"kind": "number", "for": "character", "description": "the hit points left"}}
_ROW = re.compile(r"^#? *-?\d+: (?P<name>.+?) <(?P<hp>-?\d+)/\d+ HP>", re.M)


def chat(folder: Path, swipes: float = 0.0, seed: int = 1) -> Chat:
    """The combat. ``swipes`` is the share of replies that stood there with other hit points before."""
    dice = random.Random(seed)
    turns: list[Turn] = []
    questions: list[Question] = []
    words: list[str] = []
    reply: list[str] = []
    with (folder / FILE).open(encoding="utf-8") as lines:
        for line in lines:
            event = json.loads(line)
            if event["event_type"] == "message":
                (reply if event["author_bot"] else words).append(_text(event))
            elif event["event_type"] == "combat_state_update":
                points = {row["name"]: row["hp"] for row in _ROW.finditer(event["human_readable"])}
                swiped = ()
                if points and dice.random() < swipes:
                    false = {name: str(int(hp) - dice.randint(1, 9)) for name, hp in points.items()}
                    swiped = ((f"The dice fall. ({len(turns)})", _report(false)),)
                text = "\n\n".join(filter(None, reply)) or f"The fight goes on. ({len(turns)})"
                turns.append(Turn("\n\n".join(filter(None, words)) or "…", text, _report(points), swiped))
                wanted = tuple(f"{name} {hp}" for name, hp in points.items())
                if wanted:
                    questions.append(Question(len(turns), "How many hit points has everybody left?", wanted))
                words, reply = [], []
    return Chat(f"fireball-{swipes:g}", SYSTEM, tuple(turns), tuple(questions))


def _report(points: Mapping[str, str]) -> tuple[str, ...]:
    """A number below zero is written with ``=``, because one with a sign is a change."""
    rows = ", ".join(f"{name}: {'=' if hp.startswith('-') else ''}{hp}" for name, hp in points.items())
    return (f"present: [{', '.join(points)}]", f"{TRACKER}: {{{rows}}}") if points else ()


def _text(message: Mapping[str, Any]) -> str:
    embeds = (
        "\n".join(filter(None, (each.get("title"), each.get("description"), *map(_field, each.get("fields", ())))))
        for each in message["embeds"]
    )
    return "\n".join(filter(None, (message["content"], *embeds)))


def _field(plain: Mapping[str, str]) -> str:
    return f"{plain['name']}: {plain['value']}"


def points_of(state: Mapping[str, Any]) -> dict[str, str]:
    """The hit points of everybody in SAGA's state."""
    rows = (row for row in state["trackers"] if row["name"] == TRACKER)
    return {row["who"]: str(row["value"]) for row in rows}


def scores(question: Question, context: str) -> dict[str, float]:
    """``right``: the share of the combatants whose hit points are the last that the context tells of them."""
    found = []
    for each in question.wanted:
        name, _, hp = each.rpartition(" ")
        told = re.findall(rf"{re.escape(name)}[^\n]*?(?:<|{TRACKER}: )(-?\d+)", context)
        found.append(bool(told) and told[-1] == hp)
    return {"right": sum(found) / len(found)}
