"""Which statements of the story are no longer so: a debt that was paid, a death that turned out to be none."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache

from saga_core.language import Language, languages_in, match_text, mentions_folded
from saga_core.model import ALIVE, Kind, WorldState

_SENTENCE = re.compile(r"[^;.!?。！？\n]+[.!?。！？]*")


@cache
def _owing(languages: tuple[Language, ...]) -> re.Pattern[str]:
    return re.compile("|".join(each.story.owed for each in languages), re.I)


@cache
def _dying(languages: tuple[Language, ...]) -> re.Pattern[str]:
    return re.compile("|".join(each.story.died for each in languages), re.I)


@cache
def _settling(languages: tuple[Language, ...]) -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """What tells that a debt is settled; that it is not, or not wholly; and how much of it is still owed."""
    return (
        re.compile("|".join(each.story.settled for each in languages), re.I),
        re.compile("|".join(each.story.partly for each in languages), re.I),
        re.compile("|".join(each.story.still_owed for each in languages), re.I),
    )


def without_settled(texts: Sequence[str], state: WorldState) -> list[str]:
    """``texts`` of the story, oldest first, without the sentences that tell of a debt which a later one tells is
    settled, and without those that tell of the death of somebody who is alive again, or was all along. As many as were
    given: one of which nothing is left is empty.

    A debt and its settlement must name the same person beside the player's character. A settlement that names nobody
    else, or a debt that names nobody else, belongs to the other where only one debt stands open. Part of a debt paid
    settles nothing, unless it is told what is still owed: then that is the debt.
    """
    debts: list[tuple[int, str, frozenset[str]]] = []
    settled: set[tuple[int, str]] = set()
    living = frozenset(each.id for each in state.of_kind(Kind.CHARACTER) if each.get("status") == ALIVE)
    for at, text in enumerate(texts):
        for sentence in _SENTENCE.findall(text):
            languages = languages_in(sentence)
            done, partly, left = _settling(languages)
            remains = left.search(sentence) is not None
            if remains or done.search(sentence) is not None:
                if remains or partly.search(sentence) is None:
                    debts, paid = _paid(debts, _named(sentence, state))
                    settled.update((where, owed) for where, owed, _ in paid)
                if remains:
                    debts.append((at, sentence, _named(sentence, state)))
            elif _owing(languages).search(sentence) is not None:
                debts.append((at, sentence, _named(sentence, state)))
            elif living and _dying(languages).search(sentence) is not None:
                named = _named(sentence, state)
                if named and named <= living:
                    settled.add((at, sentence))
    if not settled:
        return list(texts)
    return [_without(text, {owed for where, owed in settled if where == at}) for at, text in enumerate(texts)]


def _paid(
    debts: list[tuple[int, str, frozenset[str]]], named: frozenset[str]
) -> tuple[list[tuple[int, str, frozenset[str]]], list[tuple[int, str, frozenset[str]]]]:
    """The debts that stand after a settlement that names some people, and those that do not."""
    paid = [debt for debt in debts if debt[2] & named]
    if not paid:
        open_ones = [debt for debt in debts if not (named and debt[2])]
        people = {debt[2] for debt in open_ones}
        paid = open_ones if len(people) == 1 else []
    return [debt for debt in debts if debt not in paid], paid


def _named(sentence: str, state: WorldState) -> frozenset[str]:
    """The ids of the characters that a sentence names, but the player's."""
    folded = match_text(sentence)
    return frozenset(
        each.id
        for each in state.of_kind(Kind.CHARACTER)
        if each.id != state.player and any(mentions_folded(folded, match_text(name)) for name in _called(each.names))
    )


def _called(names: Iterable[str]) -> Iterable[str]:
    """Names, and the words of which they are made."""
    return {part for name in names for part in (name, *name.split()) if len(part) > 1}


def _without(text: str, sentences: set[str]) -> str:
    if not sentences:
        return text
    left = (part for part in _SENTENCE.findall(text) if part not in sentences)
    return "; ".join(part.strip() if len(part.strip()) > 1 else "" for part in left).strip("; ")
