"""What sentences tell of debts and deaths, and which kinds of relation are a debt."""

from __future__ import annotations

import re
from enum import Flag, auto
from functools import cache, lru_cache

from saga_core.language.language import Language
from saga_core.language.registry import every
from saga_core.language.tokens import languages_in

_SENTENCE = re.compile(r"[^;.!?。！？\n]+[.!?。！？]*")


def sentences_of(text: str) -> list[str]:
    """The sentences of a remark; a semicolon parts them too."""
    return _SENTENCE.findall(text)


class Says(Flag):
    """What a sentence tells of debts and deaths."""

    NOTHING = 0
    OWES = auto()
    """There is a debt."""
    SETTLES = auto()
    """One is settled."""
    LEAVES = auto()
    """So much of one is left."""
    DIES = auto()
    """Somebody died."""


@cache
def _patterns(languages: tuple[Language, ...]) -> tuple[re.Pattern[str], ...]:
    told = [each.story for each in languages]
    return tuple(
        re.compile("|".join(patterns), re.I)
        for patterns in (
            [words.still_owed for words in told],
            [words.settled for words in told],
            [words.partly for words in told],
            [words.owed for words in told],
            [words.died for words in told],
        )
    )


@lru_cache(maxsize=1_024)
def telling(text: str) -> tuple[tuple[str, Says], ...]:
    """The sentences that tell of debts and deaths. Asked of the same texts again and again: a page shows those of many
    turns."""
    languages = languages_in(text)  # a word of Han characters alone does not show which of theirs it is
    return tuple((each, says) for each in sentences_of(text) if (says := _says(each, languages)))


def _says(sentence: str, languages: tuple[Language, ...]) -> Says:
    left, settled, partly, owed, died = _patterns(languages)
    if left.search(sentence) is not None:
        return Says.SETTLES | Says.LEAVES
    if settled.search(sentence) is not None:
        return Says.NOTHING if partly.search(sentence) is not None else Says.SETTLES
    if owed.search(sentence) is not None:
        return Says.OWES
    return Says.DIES if died.search(sentence) is not None else Says.NOTHING


# Kinds of relation

_DEBT = {each: re.compile(each.block.debt) for each in every()}
_PAID = re.compile("|".join(each.block.paid for each in every()))
_OVER = re.compile("|".join(each.block.over for each in every()))
_PARTLY = re.compile("|".join(each.story.partly for each in every()), re.I)


@lru_cache(maxsize=1_024)
def is_settled(kind: str) -> bool:
    """Whether a kind of relation, or what stands beside it, says that a debt is settled, and not in part."""
    return _PAID.search(kind.casefold()) is not None and _PARTLY.search(kind) is None


@lru_cache(maxsize=1_024)
def is_debt(kind: str) -> bool:
    """Whether a kind of relation is a debt that stands."""
    return not is_settled(kind) and any(debt.search(kind.casefold()) for debt in _DEBT.values())


def settled(kind: str) -> str:
    """What a relation is when the debt that it was is settled, in the language of its kind."""
    return next((each.block.settled for each, debt in _DEBT.items() if debt.search(kind.casefold())), "")


def as_it_stands(kind: str, status: str) -> str:
    """The kind of a relation beside which a status stands: what is over is not told as what it was."""
    if not kind or not status:
        return kind or status
    over = _OVER.search(status.casefold()) is not None and _PARTLY.search(status) is None
    if is_debt(kind) and (is_settled(status) or over):
        return status if is_settled(status) else settled(kind)
    return f"{kind}, {status}" if over or is_settled(status) else kind
