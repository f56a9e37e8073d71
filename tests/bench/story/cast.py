"""The cast of a generated play: its world with lore entries, and the names that enter during the story."""

from __future__ import annotations

import random
from collections.abc import Callable

from attrs import frozen

from saga_core.language import josa
from saga_core.world import CharacterSheet, ItemStack, LoreEntry, SheetRelation, World
from tests.bench.story.vocabulary import VOCABULARIES
from tests.bench.story.words import Vocabulary

NAME = "bench"

_SHEETS = 5
_RARE, _UNHEARD = 0.12, 0.05
"""The shares of nouns that are rare compounds and invented words. Real stories keep adding new words, too."""
_LAYERS = ("A2", "A3", "A3", "A4", "A2", "A3", "A4", "A1")


class Word(str):
    """A word that takes its Korean particle as a format: ``f"{Word('검'):을/를}"`` is 검을."""

    __slots__ = ()

    def __format__(self, pair: str) -> str:
        """The word with the right one of two particle forms, or the word alone without a format."""
        return josa(self, pair) if pair else str(self)


@frozen(kw_only=True)
class Cast:
    """The names of a story. Those that the world knows from the start come first."""

    characters: tuple[str, ...]
    """The player's character comes first."""
    places: tuple[str, ...]
    items: tuple[str, ...]
    events: tuple[str, ...]
    known: tuple[int, int, int]
    """The numbers of characters, places and items that are known from the start."""

    @property
    def player(self) -> str:
        """The player's character."""
        return self.characters[0]


def pick_noun(words: Vocabulary, dice: random.Random) -> Word:
    """A random noun, most often a common one, sometimes a rare or an invented one."""
    chance = dice.random()
    if chance < _RARE:
        return Word(dice.choice(words.heads) + dice.choice(words.tails))
    if chance < _RARE + _UNHEARD:
        return Word("".join(dice.choices(words.sounds, k=3)))
    # Words near the start of the list are likelier, because some words are common in real texts.
    return Word(words.nouns[int(len(words.nouns) * dice.random() ** 2)])


def fill(template: str, words: Vocabulary, dice: random.Random, names: dict[str, str]) -> str:
    """The sentence of a template, with a word for each slot."""
    parts: list[str] = []
    rest = template
    while "{" in rest:
        before, _, rest = rest.partition("{")
        slot, _, rest = rest.partition("}")
        name, _, pair = slot.partition(":")
        if name == "noun":
            word = pick_noun(words, dice)
        elif name in ("adj", "adv"):
            word = Word(dice.choice(words.adjectives if name == "adj" else words.adverbs))
        else:
            word = Word(names[name])
        parts += [before, format(word, pair)]
    return "".join([*parts, rest])


def make_cast(lang: str, entities: int, lore: int, seed: int) -> Cast:
    """Names for ``entities`` entities.

    The world knows up to a quarter of them from the start, as places and items of its lore, and up to five characters.
    """
    dice = random.Random(f"cast {seed} {lang}")
    words = VOCABULARIES[lang]
    places = max(1, min(lore // 4, round(entities * 0.15)))
    items = max(1, min(lore // 4, round(entities * 0.10)))
    sheets = max(1, min(_SHEETS, entities - places - items))
    rest = max(0, entities - places - items - sheets)
    shares = (rest * 4 // 10, rest * 2 // 10, rest * 2 // 10)
    taken: set[str] = set()

    def made(count: int, make: Callable[[], str]) -> tuple[str, ...]:
        found: list[str] = []
        while len(found) < count:
            name = make()
            if name not in taken:
                taken.add(name)
                found.append(name)
        return tuple(found)

    return Cast(
        characters=made(sheets + shares[0], lambda: _person(words, dice, lang)),
        places=made(places + shares[1], lambda: _thing(words, dice, words.sites)),
        items=made(items + shares[2], lambda: _thing(words, dice, words.things)),
        events=made(rest - sum(shares), lambda: _thing(words, dice, words.deeds)),
        known=(sheets, places, items),
    )


def _person(words: Vocabulary, dice: random.Random, lang: str) -> str:
    name = "".join(dice.choice(words.syllables) for _ in range(3))
    name = name.capitalize() if lang == "en" else name
    if dice.random() >= 0.3:
        return name
    title = dice.choice(words.titles)
    return f"{title} {name}" if words.spaced else f"{name}{title}"


def _thing(words: Vocabulary, dice: random.Random, kinds: tuple[str, ...]) -> str:
    return f"{dice.choice(words.heads).capitalize()}{' ' * words.spaced}{dice.choice(kinds)}"


def make_world(cast: Cast, lang: str, lore: int, seed: int) -> World:
    """The world that a play begins in: a sheet for each known character, and ``lore`` lore entries."""
    dice = random.Random(f"world {seed} {lang}")
    words = VOCABULARIES[lang]
    sheets, places, items = cast.known
    subjects = [("location", name) for name in cast.places[:places]]
    subjects += [("item", name) for name in cast.items[:items]]
    subjects += [("character", name) for name in cast.characters[: max(0, lore // 8)]]
    taken = {name for _, name in subjects}
    while len(subjects) < lore:
        name = f"{dice.choice(words.heads).capitalize()}{dice.choice(words.tails)} {dice.choice(words.groups)}"
        if name not in taken:
            taken.add(name)
            subjects.append((("faction", "concept", "event")[len(subjects) % 3], name))
    names = [name for _, name in subjects[:lore]]
    entries = tuple(
        _entry(number, kind, name, names, cast, words, dice) for number, (kind, name) in enumerate(subjects[:lore])
    )
    return World(
        NAME,
        NAME,
        lang,
        characters=tuple(_sheet(number, cast, words, dice) for number in range(sheets)),
        lore=entries,
    )


def _entry(
    number: int, kind: str, name: str, names: list[str], cast: Cast, words: Vocabulary, dice: random.Random
) -> LoreEntry:
    sheets, places, _ = cast.known
    slots = {"name": name, "place": dice.choice(cast.places[:places])}
    text = " ".join(fill(dice.choice(words.lore), words, dice, slots) for _ in range(4))
    secret = number % 17 == 5
    near = (cast.places[(number + 1) % places], cast.places[(number + 7) % places])
    return LoreEntry(
        name,
        kind,
        _LAYERS[number % len(_LAYERS)],
        tags=tuple(dict.fromkeys(str(pick_noun(words, dice)) for _ in range(3))),
        aliases=(dice.choice(words.heads) + dice.choice(words.tails) + str(number),) if number % 5 == 0 else (),
        text=text,
        constant=number == 0,
        neighbours=tuple(dict.fromkeys(place for place in near if place != name)) if kind == "location" else (),
        related=tuple(other for other in dice.sample(names, min(2, len(names))) if other != name),
        places=(dice.choice(cast.places[:places]),) if kind not in ("location", "item") and number % 4 == 0 else (),
        known_by=(dice.choice(cast.characters[:sheets]),) if secret else (),
        secret=secret,
    )


def _sheet(number: int, cast: Cast, words: Vocabulary, dice: random.Random) -> CharacterSheet:
    sheets, places, items = cast.known
    return CharacterSheet(
        cast.characters[number],
        player=number == 0,
        hp=100,
        max_hp=100,
        location=cast.places[number % places],
        traits=(str(pick_noun(words, dice)), str(pick_noun(words, dice))),
        mood=dice.choice(words.moods),
        occupation=dice.choice(words.titles),
        items=(ItemStack(cast.items[number % items]),),
        relations=(SheetRelation(cast.player, dice.choice(words.relations), 1),) if number and sheets > 1 else (),
    )
