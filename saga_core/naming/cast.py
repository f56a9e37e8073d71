"""The cast in a card: which entry of the client's description a name belongs to.

Cards and personas describe a person in a line or paragraph that begins with the name. What such an entry puts in
quotation marks, in parentheses behind the name, or beside a word for a nickname is another name of that person:

    [Wren: Wren Calloway, rope walker. On the bills she is "The Sparrow". Old Tobias calls her Birdie.]

Nothing is listed in advance. A name that the story uses is looked up, and it has to belong to one entry only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from itertools import pairwise

from attrs import evolve, frozen

from saga_core.language import all_of, any_of, caseless, every, fold_name, is_kana
from saga_core.naming.forms import fold, forms, parts

_OPENING = ' \t>*#•·-–—[【「『(（"“'
_CLOSING = ' \t*]】」』)）"”'
_HEAD = re.compile(
    r"[^:：,，、;；.。!?！？()（）\[\]【】「」『』\"“”—–\n]{1,60}"
    r"(?:[ \t*]{0,4}[(（](?P<remark>[^()（）\n]{1,60})[)）])?"
)
_QUOTED = re.compile(r"[\"“「『‘'《](?P<inner>[^\"“”「」『』‘'《》\n.。!?！？,，、:：]{1,30})[\"”」』’'》]")
_FIRST = re.compile(r"[ \t*\]】:：,，)）—–-]{1,8}(?P<first>[^,，、.。;；(（:：\n]{1,40})")
_SENTENCE = re.compile(r"[.。!?！？\n]")
_KEY = re.compile(r"[ \t>*#•·\-–—\[]{0,12}(?P<key>[^:：\n]{1,20}?)[ \t*]{0,4}[:：][ \t*]{0,4}(?P<value>[^\n]{1,80})")
_LONGEST = 40_000
_MOST_ENTRIES = 200
_BESIDE = 12
"""The characters before a quoted name in which a text may say whose it is: Tobias calls Mags "the Boss"."""


@frozen
class CardEntry:
    """One person's entry: its ``head`` and the other ``names`` that it marks as such, and the whole ``text``."""

    head: str
    names: tuple[str, ...]
    text: str


def entry_of(card: str, name: str) -> CardEntry | None:
    """The only entry of ``card`` that ``name`` belongs to, or None.

    A name that heads an entry belongs to it, whatever other entries say. Then come the names that an entry marks, then
    their parts.
    """
    wanted = {fold(form) for form in forms(name)}
    entries = entries_of(card[:_LONGEST])
    for fits in (_is_head, _is_marked, _is_part):
        found = [entry for entry in entries if any(fits(entry, each) for each in wanted)]
        if found:
            return found[0] if len({entry.head for entry in found}) == 1 else None
    return None


def _is_head(entry: CardEntry, folded: str) -> bool:
    return folded == fold(entry.head)


def _is_marked(entry: CardEntry, folded: str) -> bool:
    return any(folded == fold(bare) for each in entry.names for bare in forms(each))


def _is_part(entry: CardEntry, folded: str) -> bool:
    return any(_part_of(folded, each) for each in (entry.head, *entry.names))


def _part_of(folded: str, whole: str) -> bool:
    """Whether a name is one of the words of another, or its beginning or end in a script without spaces."""
    if not caseless(whole):
        return len(folded) > 2 and folded in map(fold, whole.split(" "))
    joined = fold(whole)
    return 1 <= len(folded) < len(joined) <= 8 and (
        joined.endswith(folded) or (len(folded) > 1 and joined.startswith(folded))
    )


@lru_cache(maxsize=16)
def entries_of(card: str) -> tuple[CardEntry, ...]:
    """The entries of a card that name a person and mark other names."""
    found = list(_of_sheets(card))
    for line in card.split("\n"):
        entry = _of_line(line.strip())
        if entry is not None:
            found.append(entry)
        if len(found) >= _MOST_ENTRIES:
            break
    return tuple(evolve(each, names=tuple(_own(each, found))) for each in found)


def _own(entry: CardEntry, cast: list[CardEntry]) -> Iterator[str]:
    """The marked names of an entry, without those that another person is called in it: 蓮を「先生」と呼ぶ."""
    others = {part for each in cast if each.head != entry.head for part in _ends(each.head) if part not in entry.head}
    for name in entry.names:
        said = next((each for each in _SENTENCE.split(entry.text) if name in each), "")
        before = said.partition(name)[0].removeprefix(entry.head)
        near = before if caseless(name) else before[-_BESIDE:]
        if not any(part in near for part in others) and not (caseless(name) and _given_alone(entry, cast, near)):
            yield name


def _given_alone(entry: CardEntry, cast: list[CardEntry], text: str) -> bool:
    """Whether a text has the last letter of another's name as a word before kana: 蓮を, of 久世蓮."""
    lasts = {each.head[-1] for each in cast if not is_kana(each.head[-1])} - set(entry.head)
    return any(one in lasts and is_kana(other) for one, other in pairwise(text))


def _ends(head: str) -> Iterator[str]:
    """The parts of a name by which a text may call its bearer."""
    if caseless(head):
        yield head[-2:]
    else:
        yield from (word for word in head.split(" ") if len(word) > 2)


def _of_line(line: str) -> CardEntry | None:
    body = line.lstrip(_OPENING)
    matched = _HEAD.match(body)
    if matched is None:
        return None
    head = body[: matched.start("remark") - 1 if matched["remark"] else matched.end()].strip(_OPENING + _CLOSING)
    verb = _subject().search(head)
    rest = body[matched.end() :]
    if verb is not None:
        head, rest = head[: verb.start()].strip(), head[verb.start() :] + rest
    if not _is_name(head) or len(parts(head)) > 1:
        return None
    marked = list(_first(head, rest))
    if matched["remark"]:
        marked += [each.strip() for each in re.split(r"[,，、/;；]", matched["remark"]) if _is_name(each.strip())]
    marked += _marked_in(rest)
    return CardEntry(head, tuple(dict.fromkeys(each for each in marked if fold(each) != fold(head))), body)


def _first(head: str, rest: str) -> Iterator[str]:
    """The full name with which an entry begins: "Wren: Wren Calloway, 24", 【阿沅】沈知沅，十七岁."""
    found = _FIRST.match(rest)
    if found is None:
        return
    first = found["first"].strip(_OPENING + _CLOSING)
    if caseless(head):
        if 2 <= len(first) <= 5 and set(first) & set(head) and _is_name(first):
            yield first
    elif _is_name(first) and fold(head) in map(fold, first.split(" ")):
        yield first


def _marked_in(text: str) -> list[str]:
    """The names that a text puts in quotation marks, or beside a word for a nickname."""
    quoted = (each["inner"].strip() for each in _QUOTED.finditer(text))
    found = [each for each in quoted if not caseless(each)]  # without capitals anything may stand in quotation marks
    for sentence in _SENTENCE.split(text):
        for pattern in _called():
            found += [each["name"].strip() for each in pattern.finditer(sentence)]
    return [each for each in found if _is_name(each)]


def _of_sheets(card: str) -> Iterator[CardEntry]:
    """The sheets of a card: consecutive lines of a key and a value, one of which is the name."""
    sheet: list[tuple[str, str]] = []
    for line in (*card.split("\n"), ""):
        found = _KEY.match(line)
        if found is not None:
            sheet.append(
                (fold_name(found["key"].strip(_OPENING + _CLOSING)), found["value"].strip(_OPENING + _CLOSING))
            )
            continue
        yield from _of_sheet(sheet)
        sheet = []


def _of_sheet(sheet: list[tuple[str, str]]) -> Iterator[CardEntry]:
    name = next((value for key, value in sheet if key in _name_keys()), "")
    matched = _HEAD.match(name)
    if matched is None or len(sheet) < 2:
        return
    head = name[: matched.start("remark") - 1 if matched["remark"] else matched.end()].strip(_OPENING + _CLOSING)
    others = [matched["remark"] or ""]
    for key, value in sheet:
        if key in _nickname_keys():
            others += re.split(r"[,，、/;；]", value)
    marked = [each.strip(_OPENING + _CLOSING) for each in others]
    if _is_name(head):
        yield CardEntry(head, tuple(dict.fromkeys(each for each in marked if each and _is_name(each))), name)


def _is_name(text: str) -> bool:
    """Whether a text may be a name: at most four words, in Latin script with a capital first and last."""
    words = text.split()
    if not words or len(words) > 4 or len(text) > 40 or any(map(str.isdigit, text)):
        return False
    if caseless(text):
        return len(text) <= 12
    return words[0][0].isupper() and words[-1][0].isupper()


@cache
def _called() -> tuple[re.Pattern[str], ...]:
    """Matches the name beside a word for a nickname, before it or behind it."""
    before = _any(all_of(lambda each: each.names.nicknames))
    latin = r"[A-Z][\w’'-]{0,24}(?: [A-Z][\w’'-]{0,24}){0,2}"
    return (
        re.compile(rf"(?i:\b(?:{before}))[:：]? ?[\"“']?(?P<name>{latin})"),
        re.compile(
            rf"(?:{before})[:：]? ?[「『“\"'‘]?(?P<name>[^\s\x00-\x7f、，,「」『』“”‘’（）()]{{2,8}}?)"
            r"(?=[、，,。.;；」』”’\"')）]|$)"
        ),
        *(re.compile(each.names.called) for each in every() if each.names.called),
    )


def _any(words: Iterable[str]) -> str:
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


@cache
def _subject() -> re.Pattern[str]:
    return re.compile(any_of(lambda each: each.names.subject))


@cache
def _name_keys() -> frozenset[str]:
    return frozenset(map(fold_name, all_of(lambda each: each.names.name_keys)))


@cache
def _nickname_keys() -> frozenset[str]:
    return frozenset(map(fold_name, all_of(lambda each: each.names.nicknames)))
