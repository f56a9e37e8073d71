"""The story for the page and for a prompt: summaries of the past, and the notes that still hold."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache, lru_cache

from saga_core.language import (
    SENTENCE_TITLE,
    Language,
    Says,
    fold_name,
    languages_in,
    match_name,
    match_text,
    mentions_folded,
    sentences_of,
    telling,
)
from saga_core.model import ALIVE, Kind, WorldState


def without_settled(texts: Sequence[str], state: WorldState) -> list[str]:
    """Return the story ``texts``, oldest first, without sentences about debts settled later and about false deaths.

    A death is false if the character is alive. The result has as many texts as the input; a text without remaining
    sentences is empty. A debt and its settlement must name the same person besides the player's character. If one of
    the two names no other person, they belong together only if a single debt is open. Paying a part of a debt settles
    nothing, unless the remaining amount is stated. That amount is then the debt.
    """
    sentences = [(at, each, says) for at, text in enumerate(texts) for each, says in telling(text)]
    if not sentences:
        return list(texts)
    settling = any(Says.SETTLES in says for _, _, says in sentences)
    living = frozenset(each.id for each in state.of_kind(Kind.CHARACTER) if each.get("status") == ALIVE)
    debts: list[tuple[int, str, frozenset[str]]] = []
    gone: set[tuple[int, str]] = set()
    people = _people(state)
    for at, sentence, says in sentences:
        if says is Says.DIES:
            about = named(sentence, people) if living else frozenset[str]()
            if about and about <= living:
                gone.add((at, sentence))
        elif settling:
            about = named(sentence, people)
            if Says.SETTLES in says:
                debts, paid = _paid(debts, about)
                gone.update((where, owed) for where, owed, _ in paid)
            if says is not Says.SETTLES:
                debts.append((at, sentence, about))
    if not gone:
        return list(texts)
    return [_without(text, {told for where, told in gone if where == at}) for at, text in enumerate(texts)]


def _paid(
    debts: list[tuple[int, str, frozenset[str]]], named: frozenset[str]
) -> tuple[list[tuple[int, str, frozenset[str]]], list[tuple[int, str, frozenset[str]]]]:
    """Return the debts still open after a settlement that names some people, and the debts it settles."""
    paid = [debt for debt in debts if debt[2] & named]
    if not paid:
        open_ones = [debt for debt in debts if not (named and debt[2])]
        people = {debt[2] for debt in open_ones}
        paid = open_ones if len(people) == 1 else []
    return [debt for debt in debts if debt not in paid], paid


def people_in(state: WorldState) -> tuple[tuple[str, str], ...]:
    """Return the names of each character, with the character's id."""
    return tuple((part, each.id) for each in state.of_kind(Kind.CHARACTER) for part in _called(each.names))


def _people(state: WorldState) -> tuple[tuple[str, str], ...]:
    return tuple(each for each in people_in(state) if each[1] != state.player)


def named(sentence: str, people: Iterable[tuple[str, str]]) -> frozenset[str]:
    """Return the ids of the ``people`` that a sentence names."""
    folded = match_text(sentence)
    return frozenset(id_ for part, id_ in people if part in folded and mentions_folded(folded, part))


@lru_cache(maxsize=4_096)
def _called(names: tuple[str, ...]) -> frozenset[str]:
    """Return names and their single words, folded for searching in texts."""
    return frozenset(match_name(part) for name in names for part in (name, *name.split()) if len(part) > 1)


def _without(text: str, sentences: set[str]) -> str:
    if not sentences:
        return text
    left = (part for part in sentences_of(text) if part not in sentences)
    between = "; " if ";" in text else " "
    return between.join(part.strip() if len(part.strip()) > 1 else "" for part in left).strip("; ")


DEATH, BOND, EVENT, MEETING, THING, REMARK = 6, 5, 4, 3, 2, 1
_LATEST = 3
"""The latest notes, which a prompt shows regardless of their weight."""
_REMARK = 16
"""The number of characters from which on a note that occurs in an earlier text counts as repeated."""
_CLAUSE = re.compile(rf"(?:{SENTENCE_TITLE}|[^;.!?。！？\n])+[.!?。！？]*")


@cache
def _weighty(languages: tuple[Language, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return patterns of clauses about deaths and about bonds between people. Compiled at the first use."""
    stories = [each.story for each in languages]
    return (
        re.compile("|".join(words.died for words in stories), re.I),
        re.compile("|".join(words.bonds for words in stories), re.I),
    )


@lru_cache(maxsize=8_192)
def weight(clause: str, happened: frozenset[str] = frozenset()) -> int:
    """Return the importance of a clause, judging by its words. ``happened`` are the names of the story's events."""
    died, bonds = _weighty(languages_in(clause))
    if died.search(clause):
        return DEATH
    if bonds.search(clause):
        return BOND
    plain = clause.strip().rstrip(".。")
    if plain.startswith("[") or plain in happened or f"{plain[:1].lower()}{plain[1:]}" in happened:
        return EVENT
    return REMARK


def clauses(text: str) -> list[str]:
    """Return the clauses of a text."""
    return [clause for found in _CLAUSE.findall(text) if (clause := found.strip(" ;\t"))]


def story_lines(state: WorldState, recent: int) -> list[str]:
    """Return the story for the page, one line each: the summaries, then the ``recent`` latest notes and events.

    Repeated notes and debts that were settled later are left out.
    """
    past, lately = _past_and_lately(state, recent)
    return [*past, *lately]


def _past_and_lately(state: WorldState, recent: int) -> tuple[list[str], list[str]]:
    """Return the summaries that begin before the latest notes or are by hand, and the notes and events beside them.

    Of each turn that a summary tells of, either that summary is among them or all that is known of the turn.
    """
    happened = [(event.depth, f"[{event.name}]") for event in state.happenings]
    known = sorted([*state.notes, *happened])
    told = max((part.last for part in state.story), default=known[-1][0] if known else 0)
    cut = sum(depth <= told for depth, _ in known[: max(0, len(known) - recent)])
    latest = known[cut:]
    begins = max(
        state.notes[0][0] if state.notes else state.story[-1].last + 1 if state.story else 0,
        known[cut - 1][0] + 1 if cut else 0,
    )
    past = [part for part in state.story if part.first < begins or part.by_hand]
    spans = [(part.first, part.last) for part in past]
    end = max((last for _, last in spans), default=-1)
    lately = [t for at, t in latest if at > end or not any(first <= at <= last for first, last in spans)]
    texts = _told_once(without_settled([*(part.text for part in past), *lately], state))
    return [text for text in texts[: len(past)] if text], [text for text in texts[len(past) :] if text]


def _told_once(texts: Sequence[str]) -> list[str]:
    """Return ``texts`` with each text that occurs in an earlier one replaced by an empty text."""
    told: list[str] = []
    before = ""
    for text in texts:
        folded = fold_name(text)
        if len(folded) >= _REMARK and folded in before:
            told.append("")
            continue
        told.append(text)
        before += "\n" + folded  # a folded text has no white space, so none is found across two texts
    return told


def story_within(state: WorldState, recent: int, limit: int, count: Callable[[str], int]) -> list[str]:
    """Return the story in at most ``limit`` tokens: the latest notes, and the most important clauses of the rest."""
    past, lately = _past_and_lately(state, recent)
    if sum(count(line) + 1 for line in (*past, *lately)) <= limit:
        return [*past, *lately]
    pieces = [*(clause for text in past for clause in clauses(text)), *lately]
    latest = len(pieces) - _LATEST
    events = state.event_names
    worth = [weight(text, events) for text in pieces]
    ranked = sorted(enumerate(pieces), key=lambda each: (each[0] < latest, -worth[each[0]], -each[0]))
    chosen: dict[int, str] = {}
    spent = 0
    seen: set[str] = set()
    for at, text in ranked:
        cost = count(text) + 1
        if text not in seen and spent + cost <= limit:
            seen.add(text)
            chosen[at] = text
            spent += cost
    return [chosen[at] for at in sorted(chosen)]
