"""Evidence in texts that a name refers to a known character: a title beside a name, or a card's description."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache, cached_property, lru_cache
from itertools import takewhile

from attrs import define, field

from saga_core.language import (
    any_of,
    caseless,
    every,
    fold_name,
    is_hangul,
    is_unspaced,
    match_text,
    mentions,
    particle_stems,
)
from saga_core.naming.cast import CardEntry, entries_of, entry_of, labels
from saga_core.naming.forms import is_full_name, is_title, name_words, pattern_of, remarked, words_of
from saga_core.naming.titled import entitled_name, is_bare_title, may_be_called, title_in, title_of

_LINE = re.compile(
    r"^[ \t>*#•·\-–—\[【]{0,12}(?P<name>[^\s:：\-–—][^:：\n]{0,30}?)[ \t*\]】]{0,4}(?:[:：]|[ \t][-–—][ \t]|——|--)"
    r"[ \t]*(?P<about>[^\n]{1,400})",
    re.M,
)
_NOTE = re.compile(r"[^\n.。!！?？;；,，、]+")
_QUOTES = " \t.\"'“”‘’「」『』"
_COPULA = 3
_CLAUSE = re.compile(r"[.。!?！？;；]")
_COMMA = re.compile(r"[,，、/·&＆(（]")
_AND = re.compile(r"\band ")
_WORD = re.compile(r"[\w’'-]+")
_MOST_WORDS, _LONGEST_CASELESS = 4, 12
"""The maximum number of words of a name behind a heading, and of its characters in a script without capitals."""
_SEARCHED = 60_000
"""The maximum number of characters of a text that are searched."""

_LEAST_ROLE = 2
"""The minimum number of letters of a role that is a title behind a family name."""
_PARTS_OF_ROLE = re.compile(r"[,，、/·(（)）]")
_OF_ROLE = re.compile(r"\b(?:of|to|for|by|with|under|and)\b")


@define(slots=False)
class Evidence:
    """The texts that are searched for names: ``told`` is the player's message and the reply, ``card`` the client's
    character card, and ``notes`` the notes of earlier turns."""

    told: str = ""
    card: str = ""
    notes: str = ""
    _entries: dict[str, CardEntry | None] = field(factory=dict, init=False)

    def __attrs_post_init__(self) -> None:
        self.told, self.card = self.told[:_SEARCHED], self.card[:_SEARCHED]

    def has(self, name: str) -> bool:
        """Whether a name occurs in the texts. If it does not, the texts are no evidence for it."""
        return name in self.told or name in self.card or name in self.notes

    def is_beside(self, one: str, other: str) -> bool:
        """Whether a title and a name occur side by side, which means one person: ``대사형 조일청``, ``苏晚晴师姐``.

        Always False for ASCII names. In English almost any word may stand beside a name, so adjacency proves nothing.
        """
        if one.isascii() or other.isascii() or one in other or other in one:
            return False
        pairs = [*_pairs(one, other), *_apposed(one, other), *_apposed(other, one)]
        return any(pair in text for text in (self.told, self.card) for pair in pairs)

    def is_titled(self, name: str, known: str) -> bool:
        """Whether the texts give ``name`` the title of ``known``, of which it may be the full name: ``박춘배 이장`` for
        the known ``박 이장``."""
        title = title_of(known)
        full = f"{name} {title}"
        return bool(title) and may_be_called(full, known) and any(full in text for text in (self.told, self.card))

    def is_titled_in(self, name: str, known: str) -> bool:
        """Whether the texts put the title of ``name`` beside the name ``known``: 掌柜周伯安, for 周掌柜."""
        title = title_in(name)
        return bool(title) and self.is_beside(title, known)

    def is_entitled_otherwise(self, name: str, known: str) -> bool:
        """Whether two Korean names are one with other titles or none, and the card gives it all of them: 백운 교장 and
        백운 선생, for 교장은 백운 선생."""
        (one, mine), (other, theirs) = entitled_name(name), entitled_name(known)
        if not one or one != other or one not in self.card:
            return False
        given = _titles_given(self.card, one)
        return bool(given) and all(
            each in given or any(pair in self.card for pair in _pairs(one, each)) for each in mine | theirs
        )

    def is_nickname(self, name: str, known: str) -> bool:
        """Whether a note has ``name`` in parentheses behind ``known``, or says that ``known`` is called so."""
        if any(f"{known}{opened}{name}" in self.notes for opened in ("(", " (", "（")):
            return True
        if name in known or known in name or known not in self.notes or name not in self.notes:
            return False
        if any(f"{known}{called}" in self.notes for called in _called(name)):
            return True
        clauses = (each for each in _NOTE.findall(self.notes) if name in each and known in each)
        return any(_is_called(name, known, each) for each in clauses)

    def entry(self, name: str) -> CardEntry | None:
        """The one entry of the card that ``name`` belongs to (see ``entry_of``)."""
        if name not in self._entries:
            self._entries[name] = entry_of(self.card, name)
        return self._entries[name]

    def described_as(self, title: str) -> str:
        """The name of the one character whom the card describes as ``title``; "" if none or several fit."""
        if entitled := self.entitled(title):
            return entitled
        wanted = fold_name(title)
        found = {name for name, words in self._described if wanted in words}
        if not found:
            found = {name for name, _ in self._described if caseless(title) and may_be_called(title, name)}
        return found.pop() if len(found) == 1 else ""

    def entitled(self, name: str) -> str:
        """The name of the one character to whom the card gives the title in ``name``, a family or full name with it:
        ``秦副官`` for ``秦少白——76号副官``. "" if there is none, or several."""
        roles = _roles_by_key(self.card)
        near = [each for key in _keys_of(name) for each in roles.get(key, ())]
        found = {who for who, about in near if is_entitled(name, who, about)}
        if found and (entry := self.entry(name)) is not None and name in entry.names:
            found &= {entry.head, *entry.names}  # the card says who has this very name
        return found.pop() if len(found) == 1 else ""

    def is_family_of_several(self, name: str) -> bool:
        """Whether the card has two full names in Latin script with this family name."""
        given = re.compile(rf"(?<![\w’'-])([A-Z][\w’'-]{{0,24}}) {re.escape(name)}(?![\w’'-])")
        found = set(given.findall(self.card)) if name in self.card else set[str]()
        return len({each for each in found if not is_title(each)}) > 1

    @cached_property
    def _described(self) -> tuple[tuple[str, frozenset[str]], ...]:
        return _descriptions(self.card)


def _pairs(one: str, other: str) -> Iterator[str]:
    yield from (f"{one} {other}", f"{other} {one}")
    if not _spaced(one):
        yield from (f"{one}{other}", f"{other}{one}")


def _apposed(title: str, name: str) -> Iterator[str]:
    """The ways to put a title before a name with something in between: ``座長の夏目源治郎``."""
    if is_bare_title(title):
        yield from (f"{title}{each}{name}" for each in name_words("appositions"))


@lru_cache(maxsize=256)
def _titles_given(text: str, name: str) -> frozenset[str]:
    """The titles that the sentences of a text give to a name."""
    named = re.escape(name)
    patterns = (re.compile(each.replace("NAMED", named)) for language in every() for each in language.names.entitles)
    found = (match["title"] for pattern in patterns for match in pattern.finditer(text))
    return frozenset(each for each in found if is_bare_title(each))


def _called(name: str) -> Iterator[str]:
    """What stands behind somebody's name where a note calls her ``name`` beside it: ", called Tub"."""
    for link in name_words("nicknames"):
        yield from (f"{comma}{link} {quote}{name}" for comma in (", ", "，", "、") for quote in ("", '"', "“", "「"))


def _is_called(name: str, known: str, clause: str) -> bool:
    """Whether a clause tells what somebody ``known`` is called: the name stands directly behind hers, as 까치 does in
    윤덕수는 까치라고 불린다. Or it is her nickname: "Otter is Bram Oake's nickname"."""
    if pattern_of("naming").search(clause) is None or not (mentions(clause, name) and mentions(clause, known)):
        return False
    head, _, rest = clause.partition(name)
    head = head.rstrip(_QUOTES)
    plain = {pattern_of(row).sub("", head).rstrip(_QUOTES) for row in ("topic", "object")} | {head}
    if any(each.endswith(known) for each in plain):
        return pattern_of("object").match(rest[:1]) is None
    of = (f"{known}{link}" for link in name_words("possessives"))
    behind = (part for part in (clause.partition(each)[2].lstrip() for each in of) if part)
    named = [fold_name(part) for part in behind]
    found = next((part.removeprefix(each) for part in named for each in labels() if part.startswith(each)), None)
    # Between the label and a name that follows it stands nothing, or a short verb as in 별명은 and "nickname is".
    last = fold_name(clause.rstrip(_QUOTES)).endswith(fold_name(name))
    return found is not None and (not head or (last and len(found) - len(fold_name(name)) <= _COPULA))


def _spaced(text: str) -> bool:
    """Whether a name is written in a script that puts spaces between words."""
    return any(map(is_hangul, text))


def _lines_about(text: str) -> Iterator[tuple[str, str]]:
    """The lines of a text that describe somebody: the name, and the first clause about it."""
    for line in _LINE.finditer(text):
        name, about = line["name"].strip(" \t*"), _CLAUSE.split(line["about"], maxsplit=1)[0]
        if not pattern_of("group").fullmatch(name) and not _are_names(about):
            yield name, about


@lru_cache(maxsize=8)
def _descriptions(text: str) -> tuple[tuple[str, frozenset[str]], ...]:
    """The names that a text describes line by line, each with the words of the first clause about it."""
    found: dict[str, set[str]] = {}
    for name, about in _lines_about(text):
        first = _COMMA.split(about, maxsplit=1)[0].strip(" \t*")
        if mine := _mine().search(name):
            # The heading holds the description, and the name follows it.
            name, about = first, f"{about} {name[: mine.start()]}"
        elif _is_label(name) and _looks_like_a_name(first):
            continue
        found.setdefault(name, set()).update(_words(about))
    return tuple((name, frozenset(words)) for name, words in found.items())


@lru_cache(maxsize=8)
def _roles_by_key(text: str) -> dict[str, list[tuple[str, str]]]:
    """The people to whom a text gives a role in a line of their own, with what it says, by ``_key_of`` the name."""
    lines = [(remark[0] if (remark := remarked(name)) else name, about) for name, about in _lines_about(text)]
    entries = ((name, entry.text) for entry in entries_of(text) for name in entry.names)
    found: dict[str, list[tuple[str, str]]] = {}
    for who, about in dict.fromkeys((*lines, *entries)):
        found.setdefault(_key_of(who), []).append((who, about))
    return found


def _split(clause: str) -> list[str]:
    """The items of a list; empty if the clause is not a list."""
    parts = [part.strip(" \t*") for part in _COMMA.split(clause)]
    return parts if len(parts) > 1 else []


def _are_names(clause: str) -> bool:
    """Whether a clause is a list of capitalized names only: "Anna, Bram and Cole"."""
    parts = [part for each in _split(clause) for part in map(str.strip, _AND.split(each)) if part]
    return len(parts) > 1 and all(part[0].isupper() and part[1:2].islower() for part in parts)


def _is_label(heading: str) -> bool:
    """Whether a heading says what somebody is and is nobody's name: "Leader", "Known survivors", 리더.

    A Latin heading of several words is no name if all but the first are written small.
    """
    words = heading.split()
    if pattern_of("role").fullmatch(heading) or all(fold_name(word.strip(".")) in _title_words() for word in words):
        return True
    return len(words) > 1 and not caseless(heading) and all(map(str.isalpha, words[1:])) and heading[1:].islower()


def _looks_like_a_name(text: str) -> bool:
    """Whether a text may be a name: capitalized words, or a short word in a script without capitals; no title."""
    words = text.split()
    if not words or len(words) > _MOST_WORDS or all(fold_name(word.strip(".")) in _title_words() for word in words):
        return False
    if caseless(text):
        return len(text) <= _LONGEST_CASELESS and not is_bare_title(text)
    return words[0][0].isupper() and words[-1][0].isupper()


@cache
def _title_words() -> frozenset[str]:
    return frozenset(map(fold_name, name_words("titles") | name_words("titles_around")))


@cache
def _mine() -> re.Pattern[str]:
    """Matches the remark in parentheses at the end of the heading about the player's own character."""
    return re.compile(rf"[(（](?:{any_of(lambda each: each.persona.mine)})[)）]\Z", re.I)


def _words(text: str) -> Iterable[str]:
    for word in _WORD.findall(text):
        yield from (fold_name(stem) for stem in particle_stems(word))


# -- roles -----------------------------------------------------------------------------------------------------
#
# Roles that a card gives: ``秦少白——76号副官`` makes 秦副官 him, ``박두칠: 젊은 내관`` makes 박 내관 him.


@lru_cache(maxsize=4_096)
def is_entitled(name: str, known: str, about: str) -> bool:
    """Whether ``name`` is a part of the full name ``known`` with the role of which ``about`` tells.

    The role is the end of a part of ``about``: the head of the phrase in each of these languages.
    """
    parts = [part.strip() for part in _PARTS_OF_ROLE.split(about)]
    if name.isascii() or known.isascii():
        return _is_entitled_in_latin(name, known, parts)
    folded, whole = match_text(fold_name(name)), match_text(fold_name(known))
    if folded[:1] in name_words("diminutives") and folded[1:] == whole[:1]:
        return any(match_text(fold_name(part)).endswith(folded) for part in parts)  # the card says 组织里的老周
    before = _shared(folded, whole)
    if folded.endswith(whole):
        title = folded.removesuffix(whole)
    elif before and before not in name_words("diminutives") and _is_a_part(before, whole):
        title = folded.removeprefix(before)
    else:
        return False
    ends = (match_text(fold_name(part)) for part in parts)
    return len(title) >= _LEAST_ROLE and any(end.endswith(title) and not end.endswith(folded) for end in ends)


def _key_of(known: str) -> str:
    """What every name with a title has of ``known``: the last word in Latin script, otherwise the first letter."""
    return words_of(known)[-1] if known.isascii() else match_text(fold_name(known))[:1]


def _keys_of(name: str) -> set[str]:
    """The keys of everybody whom ``name`` may mean."""
    return {words_of(name)[-1], *match_text(fold_name(name))}


def _shared(one: str, other: str) -> str:
    """The letters with which both texts begin."""
    return "".join(left for left, _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _is_a_part(before: str, whole: str) -> bool:
    """Whether ``before`` may be the family name of ``whole``, or all of it."""
    if before == whole:
        return True
    if all(map(is_hangul, whole)):
        return is_full_name(whole) and len(before) == 1
    return is_unspaced(whole) and len(before) < len(whole) <= _LEAST_ROLE * 3


def _is_entitled_in_latin(name: str, known: str, parts: list[str]) -> bool:
    words, whole = words_of(name), words_of(known)
    if len(words) < _LEAST_ROLE or words[-1] != whole[-1] or len(whole) < _LEAST_ROLE:
        return False
    titles = [word.strip(".") for word in words[:-1]]
    heads = [words_of(_OF_ROLE.split(part, maxsplit=1)[0].strip())[-1:] for part in parts]
    return is_title(titles[0]) and [titles[-1]] in heads and not any(map(str.isdigit, titles[-1]))
