"""A story for a real narrator, and what is true in it after each turn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from attrs import field, frozen
from cattrs import Converter

STORIES = Path(__file__).with_name("stories")


@frozen
class Line:
    """What the player says, and what is true from then on. Names are parts of names, any of which will do."""

    say: str
    at: tuple[str, ...] = ()
    """The place, if the turn moves the player."""
    gain: tuple[str, ...] = ()
    lose: tuple[str, ...] = ()
    money: tuple[Any, ...] = ()
    """(part of the coin's name, how many are left)"""
    hp: int | None = None
    """Hit points after the turn, if they changed."""
    dead: tuple[str, ...] = ()
    company: tuple[tuple[str, ...], ...] | None = None
    """Everybody who is with the player, if that is certain."""


@frozen
class Story:
    """A chat of a card, with a persona and a greeting."""

    name: str
    language: str
    player: str
    system: tuple[str, ...]
    greeting: str
    hp: int
    turns: tuple[Line, ...]
    ask: str
    """How the player asks a question outside of the story, with ``{question}``."""
    questions: tuple[tuple[str, str], ...] = field(factory=tuple)
    """(question, pattern of a right answer)"""


def stories() -> list[Story]:
    """All stories, by name."""
    read = Converter()
    found = []
    for path in sorted(STORIES.glob("*.yaml")):
        data = yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader)
        for turn in data["turns"]:
            if "with" in turn:
                turn["company"] = turn.pop("with")
        found.append(read.structure(data, Story))
    return found
