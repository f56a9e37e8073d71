"""Generated talks between two friends: months of small talk, and matters that are asked about later in other words."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from datetime import date, timedelta

from attrs import frozen

from tests.bench.recall.dialogue_set import Dialogue, Question, Said
from tests.bench.recall.fillings import DOINGS, FILLINGS
from tests.bench.recall.wording import CHAT_EN, CHAT_KO, TALK_EN, TALK_KO, Matter
from tests.bench.story.cast import Word

_SESSIONS = 24
_SMALL_TALK = (10, 16)
"""The fewest and the most turns of small talk in one session, in addition to the matters."""
_KINDS = {"en": (CHAT_EN, TALK_EN), "ko": (CHAT_KO, TALK_KO)}


@frozen
class Chatter:
    """The small talk that is added to an utterance."""

    counts: tuple[tuple[int, ...], tuple[int, ...]] = ((0, 1, 2), (4, 4, 2))
    """The possible numbers of sentences, and the weight of each."""
    particular: float = 0.0
    """The share of these sentences that tell about particular events instead of general matters."""


def make_chat(language: str, seed: int, chatter: Chatter = Chatter()) -> Dialogue:
    """A talk of about four hundred turns in 24 sessions, with a question for each matter of each speaker.

    ``chatter`` is the small talk that is added to each turn.
    """
    dice = random.Random(f"chat {language} {seed}")
    matters, talk = _KINDS[language]
    speakers = dice.sample(FILLINGS[language]["name"], 2)
    plan: list[list[tuple[Matter, str, str]]] = [[] for _ in range(_SESSIONS)]
    for a, b in (speakers, speakers[::-1]):
        for matter in matters:
            dice.choice(plan).append((matter, a, b))
    turns: list[Said] = []
    questions: list[Question] = []
    day = date(2023, 1, 3) + timedelta(days=dice.randint(0, 300))
    for session in plan:
        day += timedelta(days=dice.randint(4, 24))
        order: list[tuple[Matter, str, str] | None] = [*session, *[None] * dice.randint(*_SMALL_TALK)]
        dice.shuffle(order)
        for entry in order:
            if entry is None:
                a, b = dice.sample(speakers, 2)
                lines: tuple[str, ...] = (dice.choice(talk),)
                asked, answer, told = "", -1, ""
                slots = slots_for(language, dice, a, b)
            else:
                matter, a, b = entry
                slots = slots_for(language, dice, a, b)
                lines, asked = tuple(line.lstrip("*") for line in matter.lines), dice.choice(matter.questions)
                answer = next(at for at, line in enumerate(matter.lines) if line.startswith("*"))
                told = filled(matter.answer_to(asked, language), slots)
            for at, line in enumerate(lines):
                number = f"t{len(turns) + 1}"
                said = filled(line, slots)
                for _ in range(dice.choices(*chatter.counts)[0]):
                    if chatter.particular and dice.random() < chatter.particular:
                        others = slots_for(language, dice, a, b)
                        said = f"{said} {filled(dice.choice(DOINGS[language]), others)}"
                    else:
                        said = f"{said} {filled(dice.choice(talk), slots)}"
                turns.append(Said(number, (a, b)[at % 2], said, day))
                if entry is not None and at == answer:
                    questions.append(Question(filled(asked, slots), (number,), entry[0].group, told))
    return Dialogue(f"chat-{language}-{seed}", language, tuple(turns), tuple(questions))


def slots_for(language: str, dice: random.Random, a: str, b: str) -> dict[str, str]:
    """A random word for each slot. ``a`` and ``b`` are the speakers."""
    return {**{name: dice.choice(words) for name, words in FILLINGS[language].items()}, "a": a, "b": b}


def filled(template: str, slots: Mapping[str, str]) -> str:
    """The template with its slots filled."""
    return template.format_map({name: Word(word) for name, word in slots.items()})


def make_chats(language: str, seeds: Sequence[int]) -> list[Dialogue]:
    """A talk for each seed."""
    return [make_chat(language, seed) for seed in seeds]
