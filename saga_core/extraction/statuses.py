"""What a reported status says: whether somebody is dead, alive, or only said to be dead."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from saga_core.language import all_of, any_of, fold_name, normalized
from saga_core.model import ALIVE, DEAD

_DEAD_WORDS = all_of(lambda each: each.statuses.dead)
_DEAD_ENDS = tuple(sorted(all_of(lambda each: each.statuses.dead_ends)))
_WELL_WORDS = frozenset(map(fold_name, all_of(lambda each: each.statuses.well)))
_ALIVE_WORDS = all_of(lambda each: each.statuses.alive)
_NO_DEATH = re.compile(any_of(lambda each: f"{each.statuses.supposed}|{each.statuses.averted}"))
_DIED = re.compile(any_of(lambda each: each.statuses.died))
_UNDONE = re.compile(any_of(lambda each: each.statuses.undone))
AWAY = re.compile(any_of(lambda each: each.statuses.away), re.I)
"""Matches a status, or what an event says of somebody, that says that she has left."""
HELD = re.compile(any_of(lambda each: each.statuses.held), re.I)
"""Found in a status that says that somebody is in prison or in hospital."""
LIVES = re.compile(any_of(lambda each: each.statuses.lives), re.I)
"""Matches what a sentence says of somebody who was dead, behind the name, if she is not."""
_PARTS = re.compile(r"[,，、;；:：()（）\[\]—]|\s[-–]+\s")


def status_of(word: str) -> str:
    """A status in the state's own word: a word for dead becomes ``DEAD``, a word for alive or well ``ALIVE``."""
    folded = fold_name(word).strip(".!。！")
    if folded in _ALIVE_WORDS or folded in _WELL_WORDS:
        return ALIVE
    head, *cause = (part.strip(" .!。！") for part in _PARTS.split(normalized("NFKC", word).casefold()))
    first = fold_name(head)
    if not (first in _DEAD_WORDS or _ends_dead(first) or _ends_dead(folded) or _has_died(head)):
        return word
    return word if any(map(_takes_back, cause)) else DEAD


def _has_died(status: str) -> bool:
    return _DIED.fullmatch(status) is not None and _UNDONE.search(status) is None


def _takes_back(cause: str) -> bool:
    """Whether what is said of a death says that nobody died: ``presumed``, ``in a dream``, ``until the moon rises``."""
    folded = fold_name(cause)
    if folded in _ALIVE_WORDS or _NO_DEATH.fullmatch(folded) is not None:
        return True
    return _UNDONE.search(cause) is not None or _supposed().match(cause) is not None


def _ends_dead(status: str) -> bool:
    """Whether a longer status ends in a word for dead, and nothing before it says that the death is only supposed."""
    ending = next((word for word in _DEAD_ENDS if status.endswith(word)), "")
    return bool(ending) and _NO_DEATH.search(status.removesuffix(ending).rstrip()) is None


def is_supposed_death(status: str) -> bool:
    """Whether a status says that somebody may be dead: ``presumed dead``, 传闻已死. Seeing the person refutes it."""
    if status == DEAD or _told_dead().search(status) is None:
        return False
    return _supposed().search(_told_dead().sub(" ", status).strip()) is not None


@cache
def _told_dead() -> re.Pattern[str]:
    """Matches a word for dead in a longer status. Compiled on first use."""
    words = sorted({*_DEAD_WORDS, *_DEAD_ENDS}, key=lambda word: (-len(word), word))
    return re.compile("|".join(rf"\b{word}\b" if word.isascii() else word for word in words if len(word) > 1), re.I)


def is_away(told: str) -> bool:
    """Whether a status, or what an event says of somebody, is that she has left: ``gone ashore``, 출장 중."""
    return AWAY.fullmatch(told.strip(" .。!！")) is not None


def conditions(status: str) -> list[str]:
    """The conditions of somebody with a status; none of the dead, and of those who are well."""
    return [] if status in ("", ALIVE, DEAD) else [part for each in status.split(";") if (part := each.strip())]


def joined(parts: Iterable[str]) -> str:
    """Conditions as one status, the latest of them."""
    return "; ".join(list(dict.fromkeys(parts))[-_MOST:]) or ALIVE


def beside(known: str, said: str) -> str:
    """The status of somebody whose status was ``known`` after a report: wounds of other parts of the body stay, but for
    those that are healed. A fever or sleep is beside them all, until another such condition takes its place."""
    new = [_part(each) for each in conditions(said)]
    if not new or (not any(new) and any(map(_is_over, conditions(said)))):
        return said
    kept = [
        each for each in conditions(known) if (part := _part(each)) and not any(_meet(part, other) for other in new)
    ]
    still = [each for each in (*kept, *conditions(said)) if not _is_over(each)]
    return joined(still) if kept and still else said


def _is_over(condition: str) -> bool:
    """Whether a condition ends in a word for well: ``left hand healed``, 발목 완치, and not 左臂未恢复."""
    last = condition.casefold().split()[-1]
    found = next((word for word in _WELL_WORDS if not word.isascii() and last.endswith(word)), "")
    return last in _WELL_WORDS or (bool(found) and last.removesuffix(found)[-1:] not in tuple("未不没沒"))


_MOST = 6
"""The conditions of one person."""
_Part = tuple[frozenset[str], bool, bool]


def _part(condition: str) -> _Part | None:
    """The parts of the body that a condition names, and whether they are the left or the right ones."""
    folded = normalized("NFKC", condition).casefold()
    body, left, right = _of_body()
    found = frozenset(each[0].removesuffix("s") for each in body.finditer(folded))
    return (found, bool(left.search(folded)), bool(right.search(folded))) if found else None


def is_of_body(condition: str) -> bool:
    """Whether a condition names a part of the body."""
    return _part(condition) is not None


def _meet(one: _Part, other: _Part | None) -> bool:
    """Whether two conditions are of the same part: the left and the right are two."""
    if other is None or one[0].isdisjoint(other[0]):
        return False
    return one[1:] == other[1:] or one[1] == one[2] or other[1] == other[2]


@cache
def _of_body() -> tuple[re.Pattern[str], ...]:
    """Match a part of the body, left and right. Compiled on first use."""
    return (
        re.compile(any_of(lambda each: each.statuses.body)),
        re.compile(any_of(lambda each: each.statuses.left)),
        re.compile(any_of(lambda each: each.statuses.right)),
    )


@cache
def _supposed() -> re.Pattern[str]:
    """Matches words that say that a death is a rumour or a guess. Compiled on first use."""
    return re.compile(any_of(lambda each: each.statuses.supposed), re.I)
