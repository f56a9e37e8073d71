"""Finds sentences about debts, deaths and who was told, and recognizes relation types that are debts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Flag, auto
from functools import cache, lru_cache, reduce

from saga_core.language.language import Language, any_of, every
from saga_core.language.tables import NEVER, SENTENCE_TITLE
from saga_core.language.tokens import begins_about, languages_in, mentions

_SENTENCE = re.compile(rf"(?:{SENTENCE_TITLE}|[^;.!?。！？\n])+[.!?。！？]*")


def sentences_of(text: str) -> list[str]:
    """The sentences of a remark. A semicolon also ends a sentence."""
    return _SENTENCE.findall(text)


class Says(Flag):
    """What a sentence says about debts and deaths."""

    NOTHING = 0
    OWES = auto()
    """There is a debt."""
    SETTLES = auto()
    """A debt is settled."""
    LEAVES = auto()
    """A part of a debt is left."""
    DIES = auto()
    """A character died."""


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
    """The sentences about debts and deaths. Cached, because a page shows those of many turns and checks the same texts
    again and again."""
    languages = languages_in(text)  # of the whole text: a sentence in Han characters alone may be in any of theirs
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


# Who was told


def is_confided(text: str) -> bool:
    """Whether a text tells something that few are told: a confession, a secret, who somebody really is."""
    return _confided().search(text) is not None


@cache
def _confided() -> re.Pattern[str]:
    return re.compile(any_of(lambda each: f"{each.story.secrets}|{each.story.kept}"), re.I)


def is_one_of_few(text: str, names: Sequence[str]) -> bool:
    """Whether a text says that somebody with these names is one of the few who know it: only Roz knows."""
    return any(each in text for each in names) and _with_names("among_few", tuple(names)).search(text) is not None


def tells_few(text: str, names: Sequence[str]) -> bool:
    """Whether a text says that somebody with these names tells it to few."""
    return any(each in text for each in names) and _with_names("telling_to_few", tuple(names)).search(text) is not None


def is_lasting(text: str) -> bool:
    """Whether a text tells something to remember besides deaths and bonds: a secret, or what is due by a time."""
    return is_confided(text) or _deadlines().search(text) is not None


@cache
def _deadlines() -> re.Pattern[str]:
    return re.compile(any_of(lambda each: each.story.deadlines), re.I)


def is_guarded(text: str) -> bool:
    """Whether a text says of a secret that somebody does not know it, or that only certain people do."""
    return _guarded().search(text) is not None


def is_identity(text: str) -> bool:
    """Whether a text speaks of who somebody really is."""
    return _who_really().search(text) is not None


@cache
def _who_really() -> re.Pattern[str]:
    return re.compile(any_of(lambda each: each.story.who_really), re.I)


@lru_cache(maxsize=1_024)
def _with_names(sort: str, names: tuple[str, ...]) -> re.Pattern[str]:
    """The pattern of ``StoryWords`` called ``sort``, of somebody with these names, in all languages."""
    return re.compile(any_of(lambda each: str(getattr(each.story, sort)(_any(names)))), re.I)


def _any(names: Sequence[str]) -> str:
    return "|".join(re.escape(each) for each in sorted(names, key=len, reverse=True))


@cache
def _guarded() -> re.Pattern[str]:
    return re.compile(any_of(lambda each: f"{each.story.kept}|{each.story.among_few(_SOMEBODY)}"), re.I)


_SOMEBODY = r"\w[\w'’ -]{0,24}?"


def tells_deed(statement: str, name: str, confided: bool) -> bool:
    """Whether a statement begins with a name and tells what she did or is, which she knows. Whose she is she may not
    know, if it is ``confided``: Mina is Ivo's daughter, only Nell knows."""
    if not begins_about(statement, name):
        return False
    return not confided or _owned(name).match(statement) is None


def is_subject(statement: str, name: str, confided: bool) -> bool:
    """Whether a statement tells what somebody did or is, which she knows: it begins with her name, or with whose she is
    and then her name, as "Wren's brother Pim" does. Or she is its doer elsewhere, unless it is ``confided``: "the
    letter was written by Pim"."""
    if tells_deed(statement, name, confided):
        return True
    head, _, rest = statement.partition(name)
    topics = [pattern for each in languages_in(name) if (pattern := each.names.topic) != NEVER]
    if _kin().fullmatch(head) is not None and (not topics or any(re.search(each, name + rest[:1]) for each in topics)):
        return tells_deed(f"{name}{rest}", name, confided)
    return not confided and _done_by(name).search(statement) is not None


@cache
def _kin() -> re.Pattern[str]:
    """Matches what makes somebody somebody's, before her name: "Wren's brother"."""
    possessives = "|".join(re.escape(word) for each in every() for word in each.names.possessives)
    return re.compile(rf"[^\s,.;]{{1,20}}(?: [^\s,.;]{{1,20}})?(?:{possessives}) ?\w{{1,16}} ?")


@lru_cache(maxsize=1_024)
def _done_by(name: str) -> re.Pattern[str]:
    return re.compile(any_of(lambda each: each.story.done_by(re.escape(name))), re.I)


@lru_cache(maxsize=1_024)
def _owned(name: str) -> re.Pattern[str]:
    return re.compile(any_of(lambda each: each.story.belonging(re.escape(name))), re.I)


def names_herself(statement: str, names: Sequence[str]) -> bool:
    """Whether a statement names somebody herself, not what is hers, and not in what it says that another told."""
    frame, what = frame_of(statement)
    named = frame or what
    places = ((name, found.start()) for name in names for found in re.finditer(re.escape(name), named))
    return any(begins_about(named[at:], name) and mentions(named, name) for name, at in places)


def frame_of(text: str) -> tuple[str, str]:
    """Who says or knows something, "" if the text only states it, and what that is."""
    found = _that().search(text)
    return (text[: found.start()], text[found.end() :]) if found is not None else ("", text)


@cache
def _that() -> re.Pattern[str]:
    return re.compile(any_of(lambda each: each.story.that), re.I)


def learns(text: str, names: Sequence[str]) -> bool:
    """Whether a text says that somebody with these names was told, or has learned of it: Morag told Roz that her father
    is ill."""
    return _is_said_of(text, names, _with_names("learning", tuple(names)))


def confesses(text: str, names: Sequence[str]) -> bool:
    """Whether somebody with these names says in a text who somebody is: Roz admits that Tom is her brother."""
    return _is_said_of(text, names, _with_names("confessing", tuple(names)))


def _is_said_of(text: str, names: Sequence[str], deed: re.Pattern[str]) -> bool:
    """Whether a sentence says the deed of somebody with these names, and does not deny it."""
    if not any(mentions(text, each) for each in names):
        return False
    negation = _negation()
    parts = (part for sentence in sentences_of(text) for part in re.split("[;；]", sentence))
    plain = (reduce(lambda said, each: each.grammar.plain(said), languages_in(part), part) for part in parts)
    found = ((part, deed.search(part)) for part in plain)
    return any(said is not None and negation.search(part[: said.end()]) is None for part, said in found)


@cache
def _negation() -> re.Pattern[str]:
    return re.compile(any_of(lambda each: each.story.negation), re.I)


# Who is where


@lru_cache(maxsize=256)
def staying(names: tuple[str, ...], place: str) -> re.Pattern[str]:
    """Matches the words that somebody with one of these names is at a place: "Odile waits at Hollin Reach"."""
    return re.compile(any_of(lambda each: each.story.staying(_any(names), re.escape(place))))


# Kinds of relation

_DEBT = {each: re.compile(each.statuses.debt) for each in every()}
_PAID = re.compile("|".join(each.statuses.paid for each in every()))
_OVER = re.compile("|".join(each.statuses.over for each in every()))
_PARTLY = re.compile("|".join(each.story.partly for each in every()), re.I)


@lru_cache(maxsize=1_024)
def is_settled(kind: str) -> bool:
    """Whether a relation type, or a status beside it, says that a debt is settled completely."""
    return _PAID.search(kind.casefold()) is not None and _PARTLY.search(kind) is None


@lru_cache(maxsize=1_024)
def is_debt(kind: str) -> bool:
    """Whether a relation type is a debt that is not settled."""
    return not is_settled(kind) and any(debt.search(kind.casefold()) for debt in _DEBT.values())


def settled(kind: str) -> str:
    """The relation type that replaces a settled debt, in the language of ``kind``; "" if ``kind`` is no debt."""
    return next((each.statuses.settled for each, debt in _DEBT.items() if debt.search(kind.casefold())), "")


def as_it_stands(kind: str, status: str) -> str:
    """The relation type that follows from ``kind`` and a status beside it, so that an ended relation shows as ended."""
    if not kind or not status:
        return kind or status
    over = _OVER.search(status.casefold()) is not None and _PARTLY.search(status) is None
    if is_debt(kind) and (is_settled(status) or over):
        return status if is_settled(status) else settled(kind)
    return f"{kind}, {status}" if over or is_settled(status) else kind
