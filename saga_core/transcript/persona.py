"""The persona: finds the name of the player's character in a request.

Frontends put the player's name into several places: the ``name`` field, a prefix before each message, the sentence that
opens a chat ("a fictional chat between Ysolde and Alex"), the heading of the persona's description. These are tried
from the most to the least reliable, and the first name found is used.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache

from attrs import frozen

from saga_core.language import NAME_PATTERN, Language, clean_name, every, fold_name, languages_in, without_empty_lines
from saga_core.transcript.dialogue import Transcript, Utterance

_LONGEST = 40
_SEARCHED = 40_000
"""Characters at the beginning of the system text that are searched."""
_INTRODUCED = 400
"""Characters at the beginning of the player's words that are searched for an introduction."""
_PREFIX = re.compile(r"([^\W\d_][^\n:：.!?\"“*。\[\]<>{}]{0,39})[:：][ \t]")
_REPLIES = re.compile(rf"\bwrite (?P<name>{NAME_PATTERN})['’]s next reply\b", re.I)
_PARTS = re.compile(r"(?<!\s)\s*(?:,\s*(?:and\s+)?|(?<=\s)and\s+|、\s*)")


@frozen
class Persona:
    """The player's name. If ``sure``, the frontend gave it, and a different name means a different persona."""

    name: str
    sure: bool = False
    claims: tuple[str, ...] = ()
    """Other names that the player's words give the character, or may give."""


def persona_of(transcript: Transcript, said: str = "") -> Persona | None:
    """Return the persona of the player who speaks now, or None if it cannot be determined.

    ``said`` is a name that the client gave explicitly.
    """
    told, about = _of_system(transcript.system_text[:_SEARCHED])
    own, claims = _of_words(transcript)
    for name in (_plain(said), _speaker(transcript, told), *told[:1]):
        if name and fold_name(name) not in _player_words():  # a persona may be called "User"
            return Persona(name, True, _others((*own, *claims), name))
    found = about or next(iter(own), "")
    return Persona(found, claims=_others((*own, *claims), found)) if found or claims else None


def _others(names: Iterable[str], name: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each for each in names if fold_name(each) != fold_name(name)))


@lru_cache(maxsize=64)
def _of_system(text: str) -> tuple[tuple[str, ...], str]:
    """Return the names in the opening sentence, and the first name that the text gives to the player. Cached: the
    system text seldom changes in a chat."""
    text = without_empty_lines(text)
    return tuple(_of_sentences(text)), next(_about(text), "")


def _plain(name: str) -> str:
    """Return a cleaned name, or "" for an unfilled placeholder or a text that is not a name."""
    plain = clean_name(name).strip(" '’\"*_")
    if not plain or len(plain) > _LONGEST or "{{" in plain:
        return ""
    return plain


def _speaker(transcript: Transcript, told: Sequence[str]) -> str:
    """Return the speaker of the player's words, from the field, the wrapper, or the prefix that all messages have."""
    words = transcript.words
    if not words:
        return ""
    last = words[-1]
    if last.speaker and not last.quoted:
        return _plain(last.speaker)
    if last.speaker:
        return last.speaker if fold_name(last.speaker) in map(fold_name, told) else ""
    found = _PREFIX.match(last.sent.lstrip())
    if found is None:
        return ""
    name = _plain(found[1])
    prefixed = [_PREFIX.match(each.sent.lstrip()) is not None for each in _of_role(transcript, "assistant")]
    if fold_name(name) in map(fold_name, told) or (prefixed and all(prefixed[-3:])):
        return name
    return ""


def _of_role(transcript: Transcript, role: str) -> Iterator[Utterance]:
    return (each for each in transcript.utterances if each.role == role)


def next_reply_of(text: str) -> str:
    """Return the name of the character whose next reply the frontend's opening sentence asks for, or ""."""
    asked = _REPLIES.search(text[:_SEARCHED])
    return _plain(asked["name"]) if asked else ""


def _of_sentences(text: str) -> Iterator[str]:
    """Yield the player's name from the frontend's opening sentence: the last one whose next reply is not asked for."""
    character = fold_name(next_reply_of(text))
    languages = languages_in(text)
    forms = [form for each in languages for form in each.requests.lines_of if form.startswith("NAME")]
    for telling in (each for language in languages for each in language.persona.between):
        for found in telling.names(text):
            names = [found.groupdict().get("first") or "", *_PARTS.split(found["all"].strip())]
            others = [_plain(name) for name in names if name and fold_name(name) != character]
            free = [
                each
                for each in others
                if not any(re.search(form.replace("NAME", re.escape(each)), text) for form in forms)
            ]
            if (free or others) and (free or others)[-1]:
                yield (free or others)[-1]


def _about(text: str) -> Iterator[str]:
    """Yield names that a text gives to the player's character."""
    for telling in (each for language in languages_in(text) for each in language.persona.about):
        for found in telling.names(text):
            if (name := _plain(found["name"])) and not _means_nobody(name):
                yield name


def _means_nobody(name: str) -> bool:
    """Whether cards use this instead of a name for the player: "the player's", "your character"."""
    first = name.casefold().replace("’", "'").split("'")[0].split(" ")[0]
    return first in _no_names() or fold_name(name) in _player_words()


@cache
def _no_names() -> frozenset[str]:
    return frozenset(word for each in every() for word in each.persona.no_names)


@cache
def _player_words() -> frozenset[str]:
    return frozenset(fold_name(word) for each in every() for word in each.names.player)


def _of_words(transcript: Transcript) -> tuple[list[str], list[str]]:
    """Return the names with which the player introduces the character, and those with which the player may.

    A name that an earlier reply has is not taken for an introduction: somebody is addressed. The words of other players
    in one chat are skipped.
    """
    own, claims = list[str](), list[str]()
    speaker = transcript.words[-1].speaker if transcript.words else ""
    for said in transcript.utterances:
        if said.role != "user" or said.speaker != speaker:
            continue
        introduced, claimed = _introduced(said.sent[:_INTRODUCED])
        own += [name for name in introduced if not _known_before(transcript, said, name)]
        claims += claimed
    return own, claims


@lru_cache(maxsize=512)
def _introduced(beginning: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names with which a speaker introduces herself, and those with which she may. Cached: each request
    sends the whole history again."""
    languages = languages_in(beginning)
    own = (pattern.search(beginning) for pattern in _own(languages))
    claims = (each for pattern in _claims(languages) for each in pattern.finditer(beginning))
    return (
        tuple(name for each in own if each and (name := _plain(each["name"]))),
        tuple(name for each in claims if (name := _plain(each["name"])) and not _means_nobody(name)),
    )


@cache
def _own(languages: tuple[Language, ...]) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern) for language in languages for pattern in language.persona.own)


@cache
def _claims(languages: tuple[Language, ...]) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern) for language in languages for pattern in language.persona.claims)


def _known_before(transcript: Transcript, said: Utterance, name: str) -> bool:
    return any(name in each.sent for each in transcript.utterances if each.at < said.at and each.role == "assistant")
