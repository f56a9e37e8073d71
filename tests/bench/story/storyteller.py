"""The storyteller generates each turn of a play: the player's words, the narrator's reply and its state block.

A turn depends on the seed, its number and a little state of the story (place, company, belongings), so the same seed
always tells the same play.
"""

from __future__ import annotations

import random

from attrs import define, field, frozen

from saga_core.state_block import BlockFields, ItemAmount, ItemTransfer, RelationChange
from tests.bench.story.cast import Cast, fill
from tests.bench.story.vocabulary import VOCABULARIES
from tests.bench.story.words import Vocabulary
from tests.blocks import render_block

FOREIGN = 0.25
_COMPANY = 4
_CARRIED = 12
REPLY_WORDS = (80, 150)
_CHARACTERS = 2
"""The approximate number of characters of a word, in languages without spaces."""


@frozen
class Told:
    """One turn of a play."""

    words: str
    """What the player says, 8 to 25 words."""
    reply: str
    """What the narrator says, 80 to 150 words by default."""
    fields: BlockFields

    @property
    def raw(self) -> str:
        """The reply as a model writes it, with its state block."""
        return f"{self.reply}\n\n{render_block(self.fields)}"


@define
class Storyteller:
    """Tells a play of ``turns`` turns, during which the whole cast enters."""

    cast: Cast
    lang: str
    turns: int
    seed: int
    reply_words: tuple[int, int] = REPLY_WORDS
    """The approximate fewest and most words of a reply."""
    foreign: float = FOREIGN
    """The share of turns that are told in the other language."""
    _characters: int = field(init=False)
    _places: int = field(init=False)
    _items: int = field(init=False)
    _events: int = field(default=0, init=False)
    _queue: list[str] = field(init=False)
    _place: str = field(init=False)
    _company: list[str] = field(factory=list, init=False)
    _carried: list[str] = field(factory=list, init=False)
    _told: int = field(default=0, init=False)

    def __attrs_post_init__(self) -> None:
        self._characters, self._places, self._items = self.cast.known
        waiting = {
            "character": len(self.cast.characters) - self._characters,
            "place": len(self.cast.places) - self._places,
            "item": len(self.cast.items) - self._items,
            "event": len(self.cast.events),
        }
        self._queue = [kind for kind, count in waiting.items() for _ in range(count)]
        random.Random(f"queue {self.seed}").shuffle(self._queue)
        self._place = self.cast.places[0]

    def next(self) -> Told:
        """The next turn."""
        self._told += 1
        dice = self._dice("turn")
        words = self.vocabulary(dice)
        fields = self._happen(words, dice)
        return Told(self._wish(words, dice), self._reply(words, dice), fields)

    def again(self) -> Told:
        """Another reply to the words of the last turn, as for a swipe. Its state block reports a wound."""
        dice = self._dice("swipe")
        words = self.vocabulary(dice)
        return Told("", self._reply(words, dice), BlockFields(location=self._place, hp_change=-dice.randint(1, 3)))

    def wish(self, number: int) -> str:
        """The player's words after the last turn. Each ``number`` gives other words."""
        dice = random.Random(f"wish {self.seed} {self._told} {number}")
        return self._wish(self.vocabulary(dice), dice)

    def system_prompt(self, words: int) -> str:
        """A frontend's system prompt of about ``words`` words."""
        dice, vocabulary = random.Random(f"system {self.seed}"), VOCABULARIES[self.lang]
        lines: list[str] = []
        while sum(line.count(" ") + 1 for line in lines) < words:
            lines.append(fill(dice.choice(vocabulary.rules), vocabulary, dice, {}))
        return "\n".join(lines)

    def vocabulary(self, dice: random.Random) -> Vocabulary:
        """The vocabulary of the play's own language most often, sometimes of the other one."""
        other = "en" if self.lang == "ko" else "ko"
        return VOCABULARIES[other if dice.random() < self.foreign else self.lang]

    def _dice(self, what: str) -> random.Random:
        return random.Random(f"{what} {self.seed} {self._told}")

    def _names(self, dice: random.Random) -> dict[str, str]:
        """Names for a sentence, most often from the scene, sometimes from far back."""
        near = [name for name in self._company if dice.random() < 0.7]
        return {
            "who": self.cast.player,
            "other": dice.choice(near or self.cast.characters[1 : self._characters] or self.cast.characters),
            "place": self._place if dice.random() < 0.6 else dice.choice(self.cast.places[: self._places]),
            "item": dice.choice(self._carried or self.cast.items[: self._items]),
        }

    def _wish(self, words: Vocabulary, dice: random.Random) -> str:
        count = dice.randint(1, 2)
        said = (fill(dice.choice(words.wishes), words, dice, self._names(dice)) for _ in range(count))
        return (" " * words.spaced).join(said)

    def _reply(self, words: Vocabulary, dice: random.Random) -> str:
        target = dice.randint(*self.reply_words)
        sentences: list[str] = []
        count = 0
        while count < target:
            templates = words.speech if len(sentences) % 4 == 2 else words.narration
            sentence = fill(dice.choice(templates), words, dice, self._names(dice))
            sentences.append(sentence)
            count += sentence.count(" ") + 1 if words.spaced else len(sentence) // _CHARACTERS
        paragraphs = [(" " * words.spaced).join(sentences[start : start + 5]) for start in range(0, len(sentences), 5)]
        return "\n\n".join(paragraphs)

    def _happen(self, words: Vocabulary, dice: random.Random) -> BlockFields:
        """The changes of the turn: entities that are due enter, and everyday things happen."""
        entering = self._entering()
        met = [self.cast.characters[self._enter("character")] for kind in entering if kind == "character"]
        gained = [self.cast.items[self._enter("item")] for kind in entering if kind == "item"]
        moved = "place" in entering or dice.random() < 0.15
        for kind in entering:
            if kind == "place":
                self._place = self.cast.places[self._enter("place")]
            elif kind == "event":
                self._enter("event")
        if moved and "place" not in entering:
            self._place = dice.choice(self.cast.places[: self._places])
        if not met and len(self._company) < 2 and self._characters > 1 and dice.random() < 0.3:
            met = [dice.choice(self.cast.characters[1 : self._characters])]
        met = [name for name in dict.fromkeys(met) if name not in self._company]
        self._company += met
        parted, self._company = self._company[:-_COMPANY], self._company[-_COMPANY:]
        self._carried += [item for item in gained if item not in self._carried]
        lost, self._carried = self._carried[:-_CARRIED], self._carried[-_CARRIED:]
        giving = dice.random() < 0.5 and bool(self._company)
        return BlockFields(
            location=self._place,
            location_moved=moved,
            hp_change=dice.choice((-5, -1, 3, 4)) if dice.random() < 0.3 else 0,
            items_gained=tuple(ItemAmount(item) for item in gained),
            items_lost=() if giving else tuple(ItemAmount(item) for item in lost),
            items_transferred=tuple(ItemTransfer(item, self.cast.player, self._company[-1]) for item in lost)
            if giving
            else (),
            npc_met=tuple(met),
            npc_separated=tuple(name for name in parted if name not in met),
            relationship_changes=self._feelings(words, dice),
            mood=dice.choice(words.moods) if dice.random() < 0.3 else None,
            event_trigger=self._event(entering, dice),
            notes=fill(dice.choice(words.narration), words, dice, self._names(dice)) if dice.random() < 0.3 else None,
        )

    def _entering(self) -> list[str]:
        """The kinds of the entities that enter in this turn. All have entered after four fifths of the play."""
        reach = max(1, self.turns * 4 // 5)
        due = len(self._queue) * min(self._told, reach) // reach
        before = len(self._queue) * min(self._told - 1, reach) // reach
        return self._queue[before:due]

    def _enter(self, kind: str) -> int:
        """The number of the next entity of a kind, which counts as known from now on."""
        name = {"character": "_characters", "place": "_places", "item": "_items", "event": "_events"}[kind]
        number: int = getattr(self, name)
        setattr(self, name, number + 1)
        return number

    def _event(self, entering: list[str], dice: random.Random) -> str | None:
        if "event" in entering:
            return self.cast.events[self._events - 1]
        if self._events and dice.random() < 0.08:
            return dice.choice(self.cast.events[: self._events])
        return None

    def _feelings(self, words: Vocabulary, dice: random.Random) -> tuple[RelationChange, ...]:
        """A relation change of a companion, most often towards the player, sometimes towards another character."""
        if not self._company or dice.random() > 0.4:
            return ()
        source = dice.choice(self._company)
        target = self.cast.player
        if dice.random() < 0.2 and self._characters > 2:
            number = self.cast.characters.index(source)
            target = self.cast.characters[max(1, number - 1)]
        if target == source:
            target = self.cast.player
        return (RelationChange(source, target, dice.choice(words.relations), dice.choice((-2, -1, 1, 2))),)
