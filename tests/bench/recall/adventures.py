"""Generated adventures for the recall benchmark, like those that people really play.

An adventure has 300 turns. Its replies have 150 to 400 words and mention matters in passing, which the player asks
about later in character.
"""

from __future__ import annotations

import random
import re

from attrs import define, field

from tests.bench.recall.adventure_wording import ADVENTURES, IDLE, MORE_FILLINGS, THINGS, TWO_STEPS
from tests.bench.recall.chats import filled, slots_for
from tests.bench.recall.planted import Planted
from tests.bench.recall.served import Asked, Chat
from tests.bench.story.cast import make_cast
from tests.bench.story.storyteller import Storyteller
from tests.bench.story.vocabulary import VOCABULARIES

TURNS = 300
_ENTITIES = 70
_WORDS = (150, 400)
"""Words of a reply."""
_PEOPLE = 9
_OFTEN = 0.35
"""The share of all matters that each of these characters has."""
_APART = 3
"""The fewest turns between the two parts of a matter."""
_FROM, _TO = 3, 280
"""The first and the last turn in which matters come up."""
_BETWEEN = re.compile(r"(?<=[.!?]) |(?<=[。！？])(?![」”])")


@define
class _Plan:
    """The texts that are planned for one turn, of the narrator and of the player."""

    replies: list[str] = field(factory=list)
    words: list[str] = field(factory=list)


def make_adventure(language: str, seed: int) -> Chat:
    """An adventure with its questions and idle words."""
    dice = random.Random(f"adventure {language} {seed}")
    cast = make_cast(language, _ENTITIES, 0, seed)
    plan: dict[int, _Plan] = {}
    asked: list[Asked] = []
    things = dice.sample(THINGS[language], len(THINGS[language]))
    for who in cast.characters[1 : 1 + _PEOPLE]:
        for matter in ADVENTURES[language]:
            if dice.random() < _OFTEN:
                asked.append(_plant(matter, who, cast.places, things, language, dice, plan))
    teller = Storyteller(cast, language, TURNS, seed, reply_words=_WORDS, foreign=0.0)
    gap = " " if VOCABULARIES[language].spaced else ""
    pairs: list[tuple[str, str]] = []
    for number in range(TURNS):
        told = teller.next()
        said = plan.get(number, _Plan())
        words, reply = told.words, told.reply
        for text in said.words:
            words = f"{words}{gap}{text}" if dice.random() < 0.5 else f"{text}{gap}{words}"
        for text in said.replies:
            reply = _amid(reply, text, gap, dice)
        pairs.append((words, reply))
    return Chat(f"adventure-{language}-{seed}", language, tuple(pairs), tuple(asked), IDLE[language])


def make_two_steps(language: str, seed: int) -> Chat:
    """An adventure with matters told in two turns each. A question names the first, and the second has the answer."""
    base = make_adventure(language, seed)
    dice = random.Random(f"hop{language}{seed}")
    pairs = list(base.pairs)
    told = " ".join(reply for _, reply in pairs)
    free = [thing for thing in THINGS[language] if thing not in told]
    dice.shuffle(free)
    first, second, question, answer = TWO_STEPS[language]
    asked: list[Asked] = []
    for who, thing in zip(make_cast(language, _ENTITIES, 0, seed).characters[1 : 1 + _PEOPLE], free, strict=False):
        slots = slots_for(language, dice, who, "")
        slots |= {name: dice.choice(words) for name, words in MORE_FILLINGS[language].items()}
        slots["thing"] = thing
        places = dice.sample(range(_FROM, _TO), 2)
        if abs(places[0] - places[1]) < _APART:
            continue
        for number, text in zip(places, (first, second), strict=True):
            words, reply = pairs[number]
            pairs[number] = words, _amid(reply, filled(text, slots), " ", dice)
        asked.append(Asked(filled(question, slots), tuple(places), filled(answer, slots), "two"))
    return Chat(f"two-step-{language}-{seed}", language, tuple(pairs), tuple(asked))


def _plant(
    matter: Planted,
    who: str,
    places: tuple[str, ...],
    things: list[str],
    language: str,
    dice: random.Random,
    plan: dict[int, _Plan],
) -> Asked:
    slots = slots_for(language, dice, who, "")
    slots |= {name: dice.choice(words) for name, words in MORE_FILLINGS[language].items()}
    slots["place"] = dice.choice(places)
    if "{thing" in matter.told:
        slots["thing"] = things.pop()
    at = dice.randrange(len(matter.questions))
    number = dice.randint(_FROM, _TO)
    text = filled(matter.told.removeprefix(">"), slots)
    turn = plan.setdefault(number, _Plan())
    (turn.words if matter.by_player else turn.replies).append(text)
    answer = matter.answers[min(at, len(matter.answers) - 1)]
    return Asked(filled(matter.questions[at], slots), (number,), filled(answer, slots), matter.group)


def _amid(reply: str, text: str, gap: str, dice: random.Random) -> str:
    """``reply`` with ``text`` inserted before, between or after the sentences of one of its paragraphs."""
    paragraphs = reply.split("\n\n")
    at = dice.randrange(len(paragraphs))
    sentences = _BETWEEN.split(paragraphs[at])
    sentences.insert(dice.randint(0, len(sentences)), text)
    paragraphs[at] = gap.join(sentences)
    return "\n\n".join(paragraphs)
