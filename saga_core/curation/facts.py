"""Facts of a story: the changes of each turn as clauses, weighted by importance."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from attrs import frozen

from saga_core.curation.replay import Step
from saga_core.language import Texts, language_of
from saga_core.model import DEAD, StoryPart, deltas
from saga_core.projection import BOND, DEATH, EVENT, MEETING, THING, clauses, weight

_NOTE = 200


@frozen
class Fact:
    """A fact from a turn."""

    depth: int
    text: str
    weight: int
    turn: str = ""
    names: tuple[str, ...] = ()
    """Names of which a text must have at least one to contain the fact."""


def facts_of(steps: Sequence[Step], language: str) -> list[Fact]:
    """Return the facts of the turns, in order: deaths, events, meetings, items, notes."""
    words = language_of(language).texts
    return [fact for step in steps for fact in _of_step(step, words)]


def _of_step(step: Step, words: Texts) -> Iterator[Fact]:
    before, after, depth, turn = step.before, step.after, step.turn.depth, step.turn.id

    def fact(text: str, weight: int, *names: str) -> Fact:
        return Fact(depth, text, weight, turn, names)

    for event in step.turn.delta.events:
        if isinstance(event, deltas.StatusChanged):
            name = after.name(event.who)
            if event.status == DEAD:
                yield fact(words.died(name=name), DEATH, name)
            else:
                yield fact(f"{name}: {event.status}", BOND, name)
        elif isinstance(event, deltas.EventTriggered):
            yield fact(f"[{event.name}]", EVENT, event.name)
        elif isinstance(event, deltas.Met) and event.who not in before.met and event.who != after.player:
            name = after.name(event.who)
            yield fact(words.met(name=name), MEETING, name)
        elif isinstance(event, deltas.ItemGained) and event.owner == after.player:
            name = after.name(event.item)
            yield fact(words.gained(name=name), THING, name)
        elif isinstance(event, deltas.ItemTransferred):
            item, giver, receiver = (after.name(id_) for id_ in (event.item, event.giver, event.receiver))
            text = f"{giver} → {receiver}: {item}"
            yield fact(text, THING, item)
        elif isinstance(event, deltas.Noted):
            text = " ".join(event.text.split())[:_NOTE].rstrip(" ;.")
            if text:
                yield fact(text.replace(";", ","), weight(text))


def facts_in(parts: Sequence[StoryPart]) -> list[Fact]:
    """Return the facts in parts of a story, one for each clause."""
    return [Fact(part.first, clause, weight(clause)) for part in parts for clause in clauses(part.text)]


def lost(text: str, facts: Sequence[Fact], least: int = EVENT) -> list[Fact]:
    """Return the facts of at least the weight ``least`` that ``text`` lacks: those of whose names it has none, and
    those without names of whose words it has less than half."""
    folded = text.casefold()
    return [fact for fact in facts if fact.weight >= least and not _told(folded, fact)]


def _told(folded: str, fact: Fact) -> bool:
    if fact.names:
        return any(name.casefold() in folded for name in fact.names)
    words: list[str] = re.findall(r"\w{2,}", fact.text.casefold())
    stems = [word[: max(2, len(word) - 1)] for word in words]
    return bool(stems) and sum(stem in folded for stem in stems) * 2 >= len(stems)


def condensed(facts: Sequence[Fact], limit: int) -> str:
    """Return the facts with the highest weight, in order and separated by semicolons, in ``limit`` characters."""
    chosen: list[tuple[int, Fact]] = []
    spent = 0
    seen: set[str] = set()
    for at, fact in sorted(enumerate(facts), key=lambda each: (-each[1].weight, each[0])):
        cost = len(fact.text) + 2
        if fact.text not in seen and spent + cost <= limit:
            seen.add(fact.text)
            chosen.append((at, fact))
            spent += cost
    return "; ".join(fact.text for _, fact in sorted(chosen, key=lambda each: each[0]))
