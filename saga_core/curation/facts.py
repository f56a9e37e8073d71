"""Facts of a story: what turns brought, a clause each, and how much would be lost with it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from attrs import frozen

from saga_core.curation.replay import Step
from saga_core.model import deltas
from saga_core.model.entities import DEAD, StoryPart
from saga_core.text.korean import josa

DEATH, BOND, EVENT, MEETING, THING, REMARK = 6, 5, 4, 3, 2, 1
_NOTE = 200
_BONDS = re.compile(
    r"약속|맹세|서약|계약|빚|갚|은혜|원한|복수|배신|상처|부상|다쳤|다리를|팔을|눈을 잃|독에|저주|비밀|정체|결혼"
    r"|약혼|의형제|예언|단서|열쇠"
    r"|\b(?:promis\w*|swear|sw?ore|oath|vow\w*|pact|owe[sd]?|debt|repay|revenge|betray\w*|wound\w*|injur\w*"
    r"|scar\w*|poison\w*|curs\w*|secret|"
    r"identity|marr\w*|betroth\w*|prophec\w*|clue|key)\b",
    re.I,
)
_DIED = re.compile(r"죽[었음다는]|숨[졌을]|사망|전사|\b(?:dead|died|dies|killed|slain|death)\b", re.I)
_CLAUSE = re.compile(r"[^;.!?。！？\n]+[.!?。！？]*")


@frozen
class Fact:
    """Something that a turn brought."""

    depth: int
    text: str
    weight: int
    turn: str = ""
    names: tuple[str, ...] = ()
    """Names of which at least one has to stand where the fact is told."""


def facts_of(steps: Sequence[Step], language: str) -> list[Fact]:
    """What the turns brought, in their order: deaths, events, meetings, things, remarks."""
    return [fact for step in steps for fact in _of_step(step, language == "ko")]


def _of_step(step: Step, korean: bool) -> Iterator[Fact]:
    before, after, depth, turn = step.before, step.after, step.turn.depth, step.turn.id

    def fact(text: str, weight: int, *names: str) -> Fact:
        return Fact(depth, text, weight, turn, names)

    for event in step.turn.delta.events:
        if isinstance(event, deltas.StatusChanged):
            name = after.name(event.who)
            if event.status == DEAD:
                yield fact(f"{josa(name, '이/가')} 죽었다" if korean else f"{name} died", DEATH, name)
            else:
                yield fact(f"{name}: {event.status}", BOND, name)
        elif isinstance(event, deltas.EventTriggered):
            yield fact(f"[{event.name}]", EVENT, event.name)
        elif isinstance(event, deltas.Met) and event.who not in before.met and event.who != after.player:
            name = after.name(event.who)
            yield fact(f"{josa(name, '을/를')} 만났다" if korean else f"met {name}", MEETING, name)
        elif isinstance(event, deltas.ItemGained) and event.owner == after.player:
            name = after.name(event.item)
            yield fact(f"{josa(name, '을/를')} 얻었다" if korean else f"gained {name}", THING, name)
        elif isinstance(event, deltas.ItemTransferred):
            item, giver, receiver = (after.name(id_) for id_ in (event.item, event.giver, event.receiver))
            text = f"{giver} → {receiver}: {item}"
            yield fact(text, THING, item)
        elif isinstance(event, deltas.Noted):
            text = " ".join(event.text.split())[:_NOTE].rstrip(" ;.")
            if text:
                yield fact(text.replace(";", ","), weight(text))


def weight(clause: str) -> int:
    """How much would be lost with a clause, told by its words."""
    if _DIED.search(clause):
        return DEATH
    if _BONDS.search(clause):
        return BOND
    if clause.strip().startswith("["):
        return EVENT
    return REMARK


def clauses(text: str) -> list[str]:
    """The clauses of a told part."""
    return [clause for found in _CLAUSE.findall(text) if (clause := found.strip(" ;\t"))]


def facts_in(parts: Sequence[StoryPart]) -> list[Fact]:
    """What told parts of a story tell, a clause each."""
    return [Fact(part.first, clause, weight(clause)) for part in parts for clause in clauses(part.text)]


def lost(text: str, facts: Sequence[Fact], least: int = EVENT) -> list[Fact]:
    """The facts of some weight that ``text`` does not tell: none of whose names it has, or none of whose words."""
    folded = text.casefold()
    return [fact for fact in facts if fact.weight >= least and not _told(folded, fact)]


def _told(folded: str, fact: Fact) -> bool:
    if fact.names:
        return any(name.casefold() in folded for name in fact.names)
    words: list[str] = re.findall(r"\w{2,}", fact.text.casefold())
    stems = [word[: max(2, len(word) - 1)] for word in words]
    return bool(stems) and sum(stem in folded for stem in stems) * 2 >= len(stems)


def condensed(facts: Sequence[Fact], limit: int) -> str:
    """The facts that weigh most, in their order, in at most ``limit`` characters; clauses behind semicolons."""
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
