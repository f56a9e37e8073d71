"""The persona: finds the name of the player's character in a request.

Frontends put the player's name into several places: the ``name`` field, a prefix before each message, the sentence that
opens a chat ("a fictional chat between Ysolde and Alex"), the heading of the persona's description. These are tried
from the most to the least reliable, and the first name found is used.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import islice

from attrs import frozen

from saga_core.language import (
    NAME_PATTERN,
    Language,
    all_of,
    caseless,
    clean_name,
    every,
    fold_name,
    function_terms,
    hangs_on,
    is_common,
    is_unspaced,
    languages_in,
    without_empty_lines,
)
from saga_core.transcript.dialogue import Transcript, Utterance

_LONGEST = 40
_SEARCHED = 40_000
"""Characters at the beginning of the system text that are searched."""
_INTRODUCED = 400
"""Characters at the beginning of the player's words that are searched for an introduction."""
_PREFIX = re.compile(r"([^\W\d_][^\n:：.!?\"“*。\[\]<>{}]{0,39})[:：][ \t]")
_MOST_WORDS = 4
_SEVERAL = 3
_WORDS_SEEN, _REPLIES_SEEN = 12, 3
"""How many of the latest messages show whether a frontend puts names in front."""
_BRACKETS = ("[", "(", "{", "<", "【", "（", "［")
"""A message that begins with one is the frontend's."""
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
    before, sure = _in_front(transcript, (*told, about))
    for name in (_plain(said), _speaker(transcript, told), before if sure else "", *told[:1]):
        if name and fold_name(name) not in _player_words():  # a persona may be called "User"
            return Persona(name, True, _others((*own, *claims), name))
    found = about or before or next(iter(own), "")
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
    """Return the speaker of the player's words, from the field or the wrapper."""
    last = transcript.words[-1] if transcript.words else None
    if last is None or not last.quoted:
        return _plain(last.speaker) if last is not None else ""
    return last.speaker if fold_name(last.speaker) in map(fold_name, told) else ""


def _in_front(transcript: Transcript, named: Sequence[str]) -> tuple[str, bool]:
    """Return the name in front of the player's words, or "", and whether it is sure.

    Players write sentences with a colon ("Listen: we must go."). A frontend that puts names in front puts them there in
    all messages. So it is sure if something else names it, or if the other messages show as much; a single message is
    not enough for that.
    """
    last = transcript.words[-1] if transcript.words else None
    name = "" if last is None or last.speaker else _prefix(last.sent)
    if not name or fold_name(name) in map(fold_name, filter(None, named)):
        return name, bool(name)
    replies = islice((each for each in reversed(transcript.utterances) if each.role == "assistant"), _REPLIES_SEEN)
    shown = [bool(_prefix(each.sent)) for each in replies]
    if not shown or not all(shown) or not _may_be_called(name):
        return "", False
    words = islice((each for each in reversed(transcript.utterances) if each.role == "user"), _WORDS_SEEN)
    fronts = [fold_name(_prefix(each.sent)) for each in words if not each.sent.lstrip().startswith(_BRACKETS)]
    if fronts.count(fold_name(name)) > 1 and 3 * sum(map(bool, fronts)) > 2 * len(fronts):
        return name, True
    if not all(fronts) or not (len(fronts) >= _SEVERAL or _is_no_word(name, transcript)):
        return "", False
    return name if len(fronts) > 1 or not any(named) else "", len(fronts) > 1


def _prefix(text: str) -> str:
    found = _PREFIX.match(text.lstrip())
    return _plain(found[1]) if found is not None else ""


def _may_be_called(name: str) -> bool:
    """Whether a text in front of a colon can be a name: few words, which begin with capitals where there are any."""
    words = name.split()
    if len(words) > _MOST_WORDS or fold_name(name) in _player_words():
        return False
    between = all_of(lambda each: each.names.between) | function_terms()
    small = [each[0].islower() and each not in between for each in words[:-1]]
    return len(words) == 1 or not (any(small) or words[-1][0].islower())


def _is_no_word(name: str, transcript: Transcript) -> bool:
    """Whether what can be a name begins no sentence: it is no word with a particle, no pronoun or function word, and no
    word that the chat has in small letters as well."""
    if is_common(name):
        return False
    if caseless(name):
        parts = ((each, at) for each in name.split() for at in range(1, len(each)))
        return not any(
            fold_name(each[:at]) in _player_words()
            if is_unspaced(name)
            else hangs_on(each[at:], each[:at]) and (is_common(each[:at]) or at < len(each) - 1)
            for each, at in parts
        )
    if name[0].islower() or name.casefold() in function_terms():
        return False
    texts = (transcript.system_text[:_SEARCHED], *(each.sent for each in transcript.utterances[-2 * _WORDS_SEEN :]))
    return not any(_stands_in(text, name.lower()) for text in texts)


def _stands_in(text: str, words: str) -> bool:
    at = text.find(words)
    while at >= 0:
        end = at + len(words)
        if not (text[at - 1 : at].isalnum() or text[end : end + 1].isalnum()):
            return True
        at = text.find(words, end)
    return False


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
        tuple(name for each in own if each and (name := _plain(each["name"])) and not _means_nobody(name)),
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
