"""A play: what is said, what is answered, and what is true after every turn, read from a YAML file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import yaml
from attrs import evolve, field, frozen
from cattrs import Converter

LIBRARY = Path(__file__).with_name("library")
Names = Literal["none", "field", "prefix", "one-message"]


@frozen
class Frontend:
    """How the chat is sent."""

    system: str = ""
    greeting: str = ""
    after: str = ""
    history: int | None = None
    names: Names = "none"
    persona: str = ""
    character: str = ""


@frozen
class Person:
    """Somebody of the cast, with all names that mean her."""

    names: tuple[str, ...]
    player: bool = False


@frozen
class Thing:
    """Something that can be had. ``single``: there is only one of it."""

    names: tuple[str, ...]
    single: bool = False


@frozen
class Truth:
    """What is so at a turn, as far as the play says."""

    place: str | None = None
    hp: int | None = None
    present: frozenset[str] = frozenset()
    unsure: frozenset[str] = frozenset()
    """People of whom nobody could say whether they are present."""
    holds: Mapping[tuple[str, str], int] = field(factory=dict)
    """(person, thing) -> how many; of what was ever said."""
    dead: frozenset[str] = frozenset()
    gone: frozenset[str] = frozenset()
    entered: frozenset[str] = frozenset()
    """People who were ever present, had something, or died."""


@frozen
class Changes:
    """What a turn changes of the truth."""

    place: str | None = None
    hp: int | None = None
    present: tuple[str, ...] | None = None
    absent: tuple[str, ...] = ()
    unsure: tuple[str, ...] = ()
    carries: Mapping[str, int] = field(factory=dict)
    has: Mapping[str, Mapping[str, int]] = field(factory=dict)
    dead: tuple[str, ...] = ()
    alive: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()

    def applied(self, truth: Truth, player: str) -> Truth:
        """``truth`` after them."""
        held = {(player, thing): count for thing, count in self.carries.items()}
        held |= {(who, thing): count for who, things in self.has.items() for thing, count in things.items()}
        present = truth.present if self.present is None else frozenset(self.present)
        present = present - set(self.absent) - set(self.dead)
        named = {*(self.present or ()), *self.absent}
        unsure = (truth.unsure - named) | set(self.unsure)
        met = {*(self.present or ()), *self.has, *self.dead, *self.absent}
        return evolve(
            truth,
            place=truth.place if self.place is None else self.place,
            hp=truth.hp if self.hp is None else self.hp,
            present=present,
            unsure=unsure,
            holds={**truth.holds, **held},
            dead=(truth.dead | set(self.dead)) - set(self.alive),
            gone=truth.gone | set(self.gone),
            entered=truth.entered | met,
        )


@frozen
class Prompt:
    """What the prompt of a turn must hold, and what SAGA must not add to it."""

    has: tuple[str, ...] = ()
    hasnot: tuple[str, ...] = ()


@frozen
class Beat:
    """One entry of a play: usually an exchange."""

    say: str = ""
    reply: str = ""
    block: str | None = None
    raw: str | None = None
    swipe: bool = False
    continue_: bool = False
    delete: int = 0
    edit: int = 0
    stop: int | None = None
    aside: bool = False
    speaker: str = ""
    by: str = ""
    truth: Changes = field(factory=Changes)
    prompt: Prompt = field(factory=Prompt)

    @property
    def sent(self) -> str:
        """All that the model sends."""
        if self.raw is not None:
            return self.raw
        return self.reply if self.block is None else f"{self.reply.rstrip()}\n\n```state\n{self.block.strip()}\n```"


@frozen
class Play:
    """A whole play."""

    title: str
    language: str
    frontend: Frontend
    cast: Mapping[str, Person]
    turns: tuple[Beat, ...]
    things: Mapping[str, Thing] = field(factory=dict)
    places: Mapping[str, tuple[str, ...]] = field(factory=dict)
    start: Changes = field(factory=Changes)
    about: str = ""

    @property
    def player(self) -> str:
        """The id of the player's character."""
        return next(id_ for id_, person in self.cast.items() if person.player)

    @property
    def humans(self) -> frozenset[str]:
        """The ids of all characters that humans play."""
        return frozenset({self.player, *(beat.by for beat in self.turns if beat.by)})

    def unknown_ids(self) -> Iterator[str]:
        """Ids that the truth uses and the play does not define."""
        for at, changes in enumerate([self.start, *(beat.truth for beat in self.turns)]):
            people = {*(changes.present or ()), *changes.absent, *changes.unsure, *changes.has, *changes.alive}
            things = {*changes.carries, *(thing for held in changes.has.values() for thing in held)}
            wrong = {*(people - self.cast.keys()), *(things - self.things.keys())}
            wrong |= {*changes.dead, *changes.gone} - self.cast.keys() - self.things.keys() - self.places.keys()
            wrong |= {changes.place} - {None} - self.places.keys()
            yield from (f"turn {at}: {each}" for each in sorted(wrong, key=str))


def load(path: Path) -> Play:
    """The play in a file. Raises with the field that is wrong."""
    data = yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader)
    for group in ("cast", "things"):
        data[group] = {
            id_: {"names": about} if isinstance(about, list) else about for id_, about in data.get(group, {}).items()
        }
    data["places"] = {
        id_: about["names"] if isinstance(about, dict) else about for id_, about in data.get("places", {}).items()
    }
    for beat in data["turns"]:
        if "continue" in beat:
            beat["continue_"] = beat.pop("continue")
    play = _CONVERTER.structure(data, Play)
    wrong = list(play.unknown_ids())
    if wrong:
        raise ValueError(f"{path.name}: not defined in cast, things or places: {'; '.join(wrong)}")
    return play


def library(names: Sequence[str] = ()) -> list[Path]:
    """The files of the library, or those that are named."""
    return [Path(name) for name in names] or sorted(LIBRARY.glob("*.yaml"))


def _text(value: Any, _: type[str]) -> str:
    if value is None:
        return ""
    if isinstance(value, bool | dict | list):
        raise ValueError(f"{value!r} is no text")
    return str(value)


_CONVERTER = Converter(forbid_extra_keys=True)
_CONVERTER.register_structure_hook(str, _text)
