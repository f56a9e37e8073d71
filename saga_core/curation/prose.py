"""Prose: detects who does what in a reply, by patterns of all languages. Precision is preferred over recall."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

from saga_core.language import NEVER, StoryWords, every

_SENTENCE = re.compile(r"[^.!?。！？…\n]+(?:[.!?。！？…]+|\n|$)")
_QUOTED = re.compile(r"\"[^\"\n]*\"|“[^“”\n]*”|「[^「」\n]*」|『[^『』\n]*』|«[^«»\n]*»")
_WORDS = tuple(each.story for each in every())


def any_of(words: Callable[[StoryWords], str]) -> re.Pattern[str]:
    """Return a case-insensitive pattern that combines the patterns of all languages."""
    return re.compile("|".join(map(words, _WORDS)), re.I)


_UNREAL = any_of(lambda words: words.unreal)
_BODY = any_of(lambda words: words.body)
_REVIVED = any_of(lambda words: words.revived)
_HELPLESS = any_of(lambda words: words.helpless)
_UNTRUE = any_of(lambda words: words.untrue)
_UNTRUE_OF_DEATH = any_of(lambda words: words.untrue_of_death)
_FIGHTS = any_of(lambda words: words.fights)
_FIGHTS_ALONE = any_of(lambda words: words.fights_alone)
_SUBJECT = any_of(lambda words: words.subject)


def narrated(text: str) -> Iterator[str]:
    """Yield the sentences of a reply, without quoted speech."""
    for match in _SENTENCE.finditer(_QUOTED.sub(" ", text)):
        sentence = " ".join(match.group().split())
        if sentence:
            yield sentence


def unreal(text: str) -> bool:
    """Whether a text mentions dreams, memories, ghosts or the like."""
    return _UNREAL.search(_QUOTED.sub(" ", text)) is not None


def of_a_body(text: str) -> bool:
    """Whether a text mentions a corpse or a grave."""
    return _BODY.search(text) is not None


def revives(text: str) -> bool:
    """Whether a text explains how the dead may be alive."""
    return _REVIVED.search(text) is not None


def helpless(text: str) -> bool:
    """Whether a text says that a character is down or gets up again."""
    return _HELPLESS.search(text) is not None


def acts(text: str, names: Iterable[str], *, fighting: bool = False) -> str:
    """Return the first sentence in which a character with one of the names acts (with ``fighting``: fights), or ""."""
    found = [name for name in names if name]
    if not found:
        return ""
    named = _named(found)
    verbs = any_of(lambda words: words.acting(named, fighting))
    for sentence in narrated(text):
        if not _real(sentence):
            continue
        if verbs.search(sentence) or (not fighting and any(words.does(sentence, found) for words in _WORDS)):
            return sentence
    if not fighting:
        inverted = re.search("|".join(words.saying(named) for words in _WORDS), text)
        if inverted:
            return " ".join(inverted.group().split())
        line = re.compile(rf"^[ \t]{{0,40}}\**(?:{named})\**\s{{0,8}}[:：]\s{{0,8}}\**\s{{0,8}}[\"“「]", re.M)
        spoken = line.search(text)
        if spoken:
            return " ".join(text[spoken.start() :].splitlines()[0].split())
    return ""


def you_fight(text: str, names: Iterable[str], said: str) -> str:
    """Return the first sentence in which the player's character fights, "" if there is none.

    A sentence without a subject counts if the player's own words, ``said``, mention fighting.
    """
    named = _named(name for name in names if name)
    own = any_of(lambda words: words.you_fighting(named))
    meant = _FIGHTS.search(said) is not None
    for sentence in narrated(text):
        if not _real(sentence):
            continue
        if own.search(sentence) or (meant and _FIGHTS_ALONE.search(sentence) and not _SUBJECT.search(sentence)):
            return sentence
    return ""


def dies(text: str, names: Iterable[str]) -> str:
    """Return the first sentence in which a character with one of the names dies, "" if there is none."""
    lowered = text.lower()
    found = tuple(name for name in names if name and name.lower() in lowered)
    if not found:
        return ""
    said = _dying(found)
    for sentence in narrated(text):
        if said.search(sentence) and not unreal(sentence) and not _UNTRUE_OF_DEATH.search(sentence):
            return sentence
    return ""


def stays_at(text: str, names: Iterable[str], places: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield (place, sentence) of each sentence in which a character with one of the names is at a place. ``places``
    are (id, name)."""
    lowered = text.lower()
    found = tuple(name for name in names if name and name.lower() in lowered)
    if not found:
        return
    # Only names in the text: compiling a pattern for each name of a large world takes seconds.
    there = sorted((each for each in places if each[1].lower() in lowered), key=lambda place: -len(place[1]))
    for sentence in narrated(text) if there else ():
        told = sentence.lower()
        near = [each for each in there if each[1].lower() in told]
        if not near or not any(name.lower() in told for name in found) or not _real(sentence) or unreal(sentence):
            continue
        for place, name in near:
            if _staying(found, name).search(sentence):
                yield place, sentence
                break


@lru_cache(maxsize=256)
def _staying(names: tuple[str, ...], place: str) -> re.Pattern[str]:
    named, there = _named(names), re.escape(place)
    return re.compile("|".join(f"(?:{words.staying(named, there)})" for words in _WORDS))


@lru_cache(maxsize=256)
def _dying(names: tuple[str, ...]) -> re.Pattern[str]:
    named = _named(names)
    return any_of(lambda words: words.dying(named))


def _named(names: Iterable[str]) -> str:
    return "|".join(map(re.escape, names)) or NEVER


def _real(sentence: str) -> bool:
    """Whether a sentence states something that happens, and is not negated, hypothetical or a comparison."""
    return not (_UNTRUE.search(sentence) or _BODY.search(sentence))
