"""Removal of outdated story statements: debts that were paid, and deaths that turned out to be wrong."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from saga_core.language import Says, match_text, mentions_folded, sentences_of, telling
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
            named = _named(sentence, people) if living else frozenset[str]()
            if named and named <= living:
                gone.add((at, sentence))
        elif settling:
            named = _named(sentence, people)
            if Says.SETTLES in says:
                debts, paid = _paid(debts, named)
                gone.update((where, owed) for where, owed, _ in paid)
            if says is not Says.SETTLES:
                debts.append((at, sentence, named))
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


def _people(state: WorldState) -> tuple[tuple[str, str], ...]:
    """Return the names of each character except the player's, with the character's id."""
    others = (each for each in state.of_kind(Kind.CHARACTER) if each.id != state.player)
    return tuple((part, each.id) for each in others for part in _called(each.names))


def _named(sentence: str, people: Iterable[tuple[str, str]]) -> frozenset[str]:
    """Return the ids of the ``people`` that a sentence names."""
    folded = match_text(sentence)
    return frozenset(id_ for part, id_ in people if part in folded and mentions_folded(folded, part))


@lru_cache(maxsize=4_096)
def _called(names: tuple[str, ...]) -> frozenset[str]:
    """Return names and their single words, folded for searching in texts."""
    return frozenset(match_text(part) for name in names for part in (name, *name.split()) if len(part) > 1)


def _without(text: str, sentences: set[str]) -> str:
    if not sentences:
        return text
    left = (part for part in sentences_of(text) if part not in sentences)
    return "; ".join(part.strip() if len(part.strip()) > 1 else "" for part in left).strip("; ")
