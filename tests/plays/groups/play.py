"""A group play: what the members say, what is reported, and who learns what, read from a YAML file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import yaml
from attrs import field, frozen
from cattrs import Converter

PLAYS = sorted(Path(__file__).parent.glob("*.yaml"))


@frozen
class Frontend:
    """How the chat is sent."""

    system: str
    nudge: str
    greeting: str = ""
    greeter: str = ""
    names: Literal["prefix", "field", "none"] = "prefix"
    history: int | None = None


@frozen
class Fact:
    """Something that one may know: the words that tell it, and a question about it."""

    words: tuple[str, ...]
    ask: str

    def told_in(self, text: str) -> bool:
        """Whether one of its words stands in a text."""
        folded = text.casefold()
        return any(word.casefold() in folded for word in self.words)


@frozen
class Told:
    """A correction by hand: somebody was told of a turn."""

    who: str
    turn: int
    by: str = ""


@frozen
class Entry:
    """One entry of a play: usually an exchange."""

    who: str = ""
    say: str = ""
    reply: str = ""
    block: str | None = None
    learn: Mapping[str, tuple[str, ...]] = field(factory=dict)
    swipe: bool = False
    delete: int = 0
    told: Told | None = None
    whisper: tuple[str, ...] | None = None
    number: int | None = None
    """The turn's number as the author counts."""
    meant: str = ""

    @property
    def sent(self) -> str:
        """All that the model sends."""
        return self.reply if self.block is None else f"{self.reply.rstrip()}\n\n```state\n{self.block.strip()}\n```"


@frozen
class Play:
    """A whole group play."""

    title: str
    language: str
    frontend: Frontend
    player: str
    members: tuple[str, ...]
    facts: Mapping[str, Fact]
    turns: tuple[Entry, ...]

    def mistakes(self) -> Iterator[str]:
        """What contradicts the form."""
        for id_, fact in self.facts.items():
            if fact.told_in(fact.ask) or fact.told_in(self.frontend.system):
                yield f"fact {id_}: a word of it stands in its question or in the system message"
        depth = 0
        for at, entry in enumerate(self.turns, 1):
            depth += -entry.delete if entry.delete else bool(entry.reply) and not entry.swipe
            if entry.number not in (None, depth):
                yield f"entry {at}: its number is {depth}, not {entry.number}"
            named = {entry.who, *(who for each in entry.learn.values() for who in each), *(entry.whisper or ())}
            named |= {entry.told.who, entry.told.by} if entry.told else set()
            yield from (f"entry {at}: {who} is no member" for who in sorted(named - {"", self.player, *self.members}))
            yield from (f"entry {at}: {id_} is no fact" for id_ in entry.learn if id_ not in self.facts)
            if not entry.delete and not (entry.who and entry.reply) and entry.told is None:
                yield f"entry {at}: neither an exchange nor a deletion nor a correction"


def load(path: Path) -> Play:
    """The play in a file. Raises with what is wrong in it."""
    play = _CONVERTER.structure(yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader), Play)
    wrong = list(play.mistakes())
    if wrong:
        raise ValueError(f"{path.name}: {'; '.join(wrong)}")
    return play


def _text(value: Any, _: type[str]) -> str:
    if value is not None and not isinstance(value, str | int):
        raise ValueError(f"{value!r} is no text")
    return "" if value is None else str(value)


_CONVERTER = Converter(forbid_extra_keys=True)
_CONVERTER.register_structure_hook(str, _text)
