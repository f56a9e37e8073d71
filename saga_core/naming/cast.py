"""The cast in a card: which entry of the client's description a name belongs to.

Cards and personas describe a person in a line or paragraph that begins with the name. What such an entry puts in
quotation marks, in parentheses behind the name, or beside a word for a nickname is another name of that person:

    [Wren: Wren Calloway, rope walker. On the bills she is "The Sparrow". Old Tobias calls her Birdie.]

A paragraph also tells of others. A sentence is about the one with whom it begins, unless that is a pronoun or the
person whose entry it is. 父亲顾鸿年，人称顾老爷 is an entry of its own, and so is "Brannick Sole flies; the dockers
call him the Ox".

Nothing is listed in advance. A name that the story uses is looked up, and it has to belong to one entry only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import pairwise, takewhile

from attrs import evolve, frozen

from saga_core.language import SENTENCE_TITLE, begins_about, caseless, fold_name, is_hangul, is_kana, mentions
from saga_core.naming.forms import (
    bare,
    contradicts,
    fold,
    forms,
    is_title,
    known_as,
    name_words,
    parts,
    pattern_of,
    patterns_of,
    same_name,
    untitled,
    words_of,
)

_OPENING = ' \t>*#•·-–—[【「『(（"“'
_CLOSING = ' \t*]】」』)）"”'
_HEAD = re.compile(
    rf"(?:{SENTENCE_TITLE}|(?<=\w )[\"“][^\"“”\n]{{1,24}}[\"”](?= [A-Z])"
    r"|[^:：,，.、;；。!?！？()（）\[\]【】「」『』\"“”—–\n]){1,60}"
    r"(?:[ \t*]{0,4}[(（](?P<remark>[^()（）\n]{1,60})[)）])?"
)
_QUOTED = re.compile(r"[\"“「『‘'《](?P<inner>[^\"“”「」『』‘'《》\n.。!?！？,，、:：]{1,30})[\"”」』’'》]")
_MARKS = ('""', "“”", "「」", "『』", "‘’")
_FIRST = re.compile(r"[ \t*\]】:：,，)）—–-]{1,8}(?P<first>[^,，、.。;；(（:：\n]{1,40})")
_SENTENCE = re.compile(rf"(?:{SENTENCE_TITLE}|[(（][^()（）\n]{{0,80}}[)）]|[^.。!?！？;；\n])+")
_SEGMENT = re.compile(r"[^,，、(（]*")
_REMARK = re.compile(r"(?P<before>[^,，、()（）:：]{1,40}?)[ \t]?[(（](?P<remark>[^()（）]{1,80})[)）]")
_SEVERAL = re.compile(r"[,，、/;；]")
_WORD = r"[A-Z][\w’'-]{0,24}"
_LATIN = rf"(?:the |{SENTENCE_TITLE} )?{_WORD}(?: {_WORD}){{0,2}}"
_BEFORE = r"(?<![\w’'-])"
_FOR = re.compile(rf"{_BEFORE}(?P<name>{_LATIN}) for (?P<who>{_LATIN})(?=[,.;]| and |\Z)")
_IS = re.compile(
    rf"{_BEFORE}(?P<who>{_WORD}(?: {_WORD})?) is (?P<name>{_LATIN})"
    rf"(?:,? or (?:(?:just|simply|plain) )?(?P<other>{_LATIN}|the [a-z-]{{1,24}}))?(?=[,.;]|\Z)"
)
_SOMEBODY = re.compile(
    r"\b(?:[Aa]n?|[Oo]ne|[Tt]wo|[Tt]hree|[Ff]our|[Ss]ome|[Hh]is|[Hh]er|[Tt]heir|[Mm]y) (?:[a-z’'-]+ ){1,3}\Z"
)
"""A word for people before "called": two women called Ruth."""
_ASIDES = re.compile(r"[(（][^()（）]{0,60}[)）]")
_BEHIND = re.compile(r"[\"”」』’']{1,2}[ \t]?[(（](?P<remark>[^()（）]{1,40})[)）]")
_WHO = re.compile(
    r"\b(?:[Hh]e|[Ss]he|[Tt]hey|him|her|them)\b|(?P<name>(?<![\w’'-])[A-Z][\w’'-]*\.?(?: [A-Z][\w’'-]*){0,3})"
)
"""A pronoun, or a name."""
_TWO_CAPITALS = re.compile(rf"{_BEFORE}{_WORD}\.? {_WORD}(?: {_WORD})?")
_LABELLED = re.compile(r"(?P<label>[^:：\n]{1,60})[:：](?P<text>[^\n]{1,4000})")
"""A line whose beginning is no name: ``Roz's description: Rosalind Hale, "Roz" to everyone``."""
_CAPITALS = re.compile(
    rf"(?:{SENTENCE_TITLE} )?[A-Z][\w’'-]{{0,24}}(?: [A-Z][\w’'-]{{0,24}}){{0,3}}(?=[,;:.]| [(\"“]| (?:is|was) |\Z)"
)
_KEY = re.compile(r"[ \t>*#•·\-–—\[]{0,12}(?P<key>[^:：\n]{1,20}?)[ \t*]{0,4}[:：][ \t*]{0,4}(?P<value>[^\n]{1,80})")
_LONGEST = 40_000
_MOST_ENTRIES = 200
_LONGEST_PARTICLE = 3
"""The letters of a word that may be written small within a name: von, the."""
_BESIDE = 12
"""The characters before a quoted name in which a text may say whose it is: Tobias calls Mags "the Boss"."""


@frozen
class CardEntry:
    """One person's entry: its ``head`` and the other ``names`` that it marks as such, and the whole ``text``."""

    head: str
    names: tuple[str, ...]
    text: str
    is_within: bool = False
    """Whether it is a sentence in another's entry. Its head may have words before the name: 父亲顾鸿年."""


def entry_of(card: str, name: str) -> CardEntry | None:
    """The only entry of ``card`` that ``name`` belongs to, or None.

    A name that heads an entry belongs to it, whatever other entries say. Then come the names that an entry marks, then
    their parts, then a title or the family name with some of them: Lady Evangeline, of Lady Evangeline Thorne.
    """
    wanted = {fold(form) for form in forms(name)}
    entries = entries_of(card[:_LONGEST])
    for fits in (_is_head, _is_marked, _is_part, _is_in_other_words):
        names = (name,) if fits is _is_in_other_words else wanted
        found = [entry for entry in entries if any(fits(entry, each) for each in names)]
        if found:
            return found[0] if len({entry.head for entry in found}) == 1 else None
    return None


def _is_head(entry: CardEntry, folded: str) -> bool:
    whole = fold(entry.head)
    if not entry.is_within or not caseless(whole):
        return folded == whole
    words = (form for word in entry.head.split(" ") for form in forms(word))
    return len(folded) > 1 and (whole.endswith(folded) or folded in map(fold, words))


def _is_marked(entry: CardEntry, folded: str) -> bool:
    return any(folded == fold(bare) for each in entry.names for bare in forms(each))


def _is_part(entry: CardEntry, folded: str) -> bool:
    return any(_part_of(folded, each) for each in (entry.head, *entry.names))


def _is_in_other_words(entry: CardEntry, name: str) -> bool:
    """Whether a name in Latin script is one of the entry's with other titles, or its nickname with the family name.

    With a title alone a family name is hers only if she has the title: another Ashby may be "Mr. Ashby".
    """
    words = words_of(bare(name))
    plain = untitled(words)
    if caseless(name) or len(words) < 2:
        return False
    for known in (words_of(each) for each in _in_full(entry)):
        called = untitled(known)
        is_given = plain[0] == called[0]
        if (is_given or set(words) <= set(known)) and same_name(words, known) and not contradicts(words, known):
            return True
    return False


def _in_full(entry: CardEntry) -> Iterator[str]:
    """The names of an entry in Latin script, and its nicknames with the family name: Evie Thorne."""
    names = [each for each in (entry.head, *entry.names) if not caseless(each)]
    yield from names
    family = untitled(entry.head.split(" "))[1:][-1:]
    for each in names if family else ():
        if " " not in each and not is_title(fold(each)):
            yield f"{each} {family[0]}"


def _part_of(folded: str, whole: str) -> bool:
    """Whether a name is one of the words of another, or its beginning or end in a script without spaces."""
    if not caseless(whole):
        return len(folded) > 2 and folded in map(fold, whole.split(" "))
    joined = fold(whole)
    return 1 <= len(folded) < len(joined) <= 8 and (
        joined.endswith(folded) or (len(folded) > 1 and joined.startswith(folded))
    )


def stands_in_text_of(card: str, name: str, names: Sequence[str], *, in_any_sentence: bool = False) -> bool:
    """Whether ``name`` stands where the card is about the person with these ``names``: in a line or sentence that
    begins with one, or in a sentence that has one and says what somebody is called, or has ``name`` in quotation marks
    (or ``in_any_sentence`` that has one). False if it belongs to an entry of another person.
    """
    marked = [
        each for each in entries_of(card[:_LONGEST]) if not each.is_within and not set(names).isdisjoint(each.names)
    ]
    names = [*names, *(each.head for each in marked)]
    own, naming, others = _about(card[:_LONGEST], tuple(each for each in names if len(each) > 1))
    entry = entry_of(card, name)
    if entry is not None and any(_begins_with(entry.head, each) for each in names):
        return True
    if any(mentions(line, bare(name)) for line in own):  # "engineer of the Second Helping", for the engineer
        is_hers = entry is None or any(entry.text in line for line in own)
        return is_hers or any(mentions(sentence, name) for sentence in others)
    quoted = [f"{marks[0]}{name}{marks[1]}" for marks in _MARKS]
    if entry is not None:  # within another's entry, whose a nickname is was only concluded
        besides = [each for each in others if each not in entry.text and entry.text not in each]
        is_doubtful = entry.is_within and caseless(name) and any(each in entry.text for each in quoted)
        return is_doubtful and any(mentions(each, name) for each in besides)
    return (
        any(_has(each, name) for each in naming)
        or any(each in sentence for sentence in others for each in quoted)
        or (in_any_sentence and any(mentions(each, name) for each in others))
    )


def _has(text: str, name: str) -> bool:
    """Whether a text that says what somebody is called has a name, in Korean with an ending of a syllable or two behind
    it: 한 서리라 부른다."""
    if mentions(text, name):
        return True
    at = text.find(name)
    if at < 0 or not is_hangul(name[-1]) or text[at - 1 : at].isalnum():
        return False
    tail = "".join(takewhile(str.isalnum, text[at + len(name) :]))
    return len(tail) < 3


def _begins_with(head: str, name: str) -> bool:
    """Whether the head of an entry is a name. In a script without spaces more may stand behind it: 灯里は新しい女将."""
    return fold(head) == fold(name) or (caseless(head) and len(name) > 1 and begins_about(head, name))


@lru_cache(maxsize=64)
def _about(card: str, names: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """The lines and sentences that begin with one of the names, those of the other sentences with one that have a word
    for calling, and all of these."""
    own, others = list[str](), list[str]()
    for line in card.split("\n"):
        if line.lstrip(_OPENING).startswith(names):
            own.append(line)
        elif any(name in line for name in names):
            sentences = [each.group().strip() for each in _SENTENCE.finditer(line)]
            parts_of = (part.strip(_OPENING) for each in sentences for part in re.split(r"[:：]", each))
            own += [part for part in parts_of if any(begins_about(part, name) for name in names)]
            others += [each for each in sentences if any(name in each for name in names)]
    return tuple(own), tuple(each for each in others if pattern_of("naming").search(each)), tuple(others)


@lru_cache(maxsize=16)
def entries_of(card: str) -> tuple[CardEntry, ...]:
    """The entries of a card that name a person and mark other names."""
    found = list(_of_sheets(card))
    for line in card.split("\n"):
        found += _of_line(line.strip())
        if len(found) >= _MOST_ENTRIES:
            break
    found = [each for each in found if not each.is_within] + _joined([each for each in found if each.is_within])
    owners = {each: _owner(each, found) for each in found if each.is_within}
    whole = [each for each in found if not each.is_within]
    for each in whole:
        more = tuple(name for entry, owner in owners.items() if owner is each for name in entry.names)
        names = dict.fromkeys((*_own(each, whole), *more))
        owned = evolve(each, names=tuple(names))
        found[found.index(each)] = owned
    return tuple(each for each in found if owners.get(each) is None)


def _joined(within: list[CardEntry]) -> list[CardEntry]:
    """The entries that sentences make, with those of one sentence and person as one: 表哥叫陈磊 and 陈磊（磊哥）."""
    found: list[CardEntry] = []
    for entry in within:
        for at, other in enumerate(found):
            if entry.text != other.text:
                continue
            if any(_is_head(entry, fold(name)) for name in (other.head, *other.names)) or any(
                _is_head(other, fold(name)) for name in (entry.head, *entry.names)
            ):
                found[at] = evolve(other, names=tuple(dict.fromkeys((*other.names, *entry.names))))
                break
        else:
            found.append(entry)
    return found


def _owner(entry: CardEntry, cast: list[CardEntry]) -> CardEntry | None:
    """The person with an entry of her own of whom a sentence in another's tells: 蓮, of 久世蓮; 管沈砚, of 沈砚."""
    whole = [each for each in cast if not each.is_within]
    last = fold(entry.head.split(" ")[-1])
    for found in (
        [each for each in whole if fold(each.head) == fold(entry.head)],
        [each for each in whole if caseless(each.head) and fold(each.head).endswith(last)],
        [each for each in whole if caseless(each.head) and len(each.head) > 1 and _tells_of(entry.head, each.head)],
    ):
        if len(found) == 1:
            return found[0]
    return None


def _tells_of(text: str, name: str) -> bool:
    """Whether a text has a name, and not what is hers."""
    return name in text and begins_about(text[text.index(name) :], name)


def _own(entry: CardEntry, cast: list[CardEntry]) -> Iterator[str]:
    """The marked names of an entry, without those that another person is called in it: 蓮を「先生」と呼ぶ."""
    others = {part for each in cast if each.head != entry.head for part in _ends(each.head) if part not in entry.head}
    for name in entry.names:
        said = next((each.group() for each in _SENTENCE.finditer(entry.text) if name in each.group()), "")
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


def _of_line(line: str) -> Iterator[CardEntry]:
    """The entry of the person with whom a line begins, and those of others of whom its sentences tell."""
    body = line.lstrip(_OPENING).removeprefix("You are ")
    matched = _HEAD.match(body)
    if matched is None:
        return
    head = body[: matched.start("remark") - 1 if matched["remark"] else matched.end()].strip(_OPENING + _CLOSING)
    verb = pattern_of("subject").search(head)
    rest = body[matched.end() :]
    if verb is not None:
        head, rest = head[: verb.start()].strip(), head[verb.start() :] + rest
    head, *nicknames = known_as(head)[1:] or (head,)
    if not _is_name(head) or len(parts(head)) > 1:
        labelled = _LABELLED.match(body)
        if labelled is not None and _begins_with_name(labelled["text"]):
            yield from _labelled(labelled["label"], list(_of_line(labelled["text"])))
        return
    marked = [*nicknames, *_first(head, rest)]
    if matched["remark"]:
        called = [name for _, name in _marks(matched["remark"])]  # リーゼロッテ（愛称リーゼ）
        marked += called or [each.strip() for each in _SEVERAL.split(matched["remark"]) if _is_name(each.strip())]
    others: list[CardEntry] = []
    other = last = named = ""
    for number, sentence in enumerate(each.group().strip() for each in _SENTENCE.finditer(rest)):
        others += _remarked(sentence, head)
        other = _subject_of(sentence, head, other) if number else ""
        for at, name in _marks(sentence):
            if caseless(head):
                by_pronoun = named if pattern_of("pronoun").search(sentence, max(0, at - 2), at) else ""
                whose: str | None = by_pronoun or _whose(sentence, at, name) or other
            else:
                whose = _nearest(sentence, at, other, last)
            named = whose or ""
            if whose and not _is_of(whose, head):
                others.append(CardEntry(whose, (name,), sentence, is_within=True))
            elif whose is not None:
                before = sentence[:at].split(" ")[-2:-1] if caseless(head) and sentence[at - 1 : at] == " " else []
                whole = [f"{own} {name}" for own in before if len(own) > 1 and own in head]  # 은서 언니라고 부른다
                marked += whole or [name]
        last = ([""] + [each.group() for each in _TWO_CAPITALS.finditer(sentence)])[-1]
    taken = {each for entry in others for each in entry.names}
    names = dict.fromkeys(each for each in marked if fold(each) != fold(head) and each not in taken)
    yield CardEntry(head, tuple(names), body)
    yield from others


def _labelled(label: str, found: list[CardEntry]) -> list[CardEntry]:
    """The entries behind a label; none if it is another's: Roz's rival is not Roz, though she calls her "Rosie"."""
    owners = [label[: label.index(link)].strip() for link in name_words("possessives") if link in label]
    about = [each for each in found if not each.is_within]
    is_own = all(
        _is_head(each, fold(owner)) or _is_marked(each, fold(owner)) or _is_part(each, fold(owner))
        for each in about
        for owner in owners
    )
    return found if is_own else []


def _begins_with_name(text: str) -> bool:
    """Whether what stands behind a label is about one whom it begins with, in capitals, and no list of names."""
    first = _CAPITALS.match(text.lstrip(_OPENING))
    sentence = _SENTENCE.match(text)
    listed = parts(sentence.group()) if sentence is not None else []
    is_list = len(listed) > 2 and all(_is_name(each.strip(_OPENING + _CLOSING)) for each in listed)
    return first is not None and not is_list


def _subject_of(sentence: str, head: str, before: str) -> str:
    """Whom a sentence in the entry of ``head`` is about; "" if that is ``head``. ``before`` is whom the last one was
    about."""
    first = _SEGMENT.match(sentence)
    opening = first.group().strip(_OPENING) if first is not None else ""
    if _is_of(opening, head) or _QUOTED.search(opening):
        return ""
    if not caseless(head):
        named = _TWO_CAPITALS.match(opening)
        if named is None or _naming_next().match(opening, named.end()):  # Old Tobias calls her Birdie
            return before
        return named.group()
    if pattern_of("pronoun").search(opening) or list(_marks(opening + "，")):
        return ""
    return opening.strip(_OPENING + _CLOSING)[-20:]


def _whose(sentence: str, at: int, name: str) -> str:
    """Who is called the ``name`` at a place of a sentence, by the words before it: 딸 윤채령은 아씨라 불린다.

    "" if they do not tell, and without a verb behind the name: 활동명은 '레이' tells no person.
    """
    left = _ASIDES.sub("", sentence[:at])
    left = re.split(r"[,，、]", left)[-1].rstrip(_OPENING + "'‘")
    if (cue := _cue().search(left)) is not None and not pattern_of("pronoun").search(left):
        named = left[: cue.start()].strip(_OPENING + _CLOSING)[-20:]
        if len(named) > 1:
            return named
    found = pattern_of("object").search(left)
    has_verb = sentence[at + len(name) :].lstrip(_CLOSING + "'’")[:1].isalpha()
    if found is None and has_verb and not pattern_of("calls").match(sentence, at + len(name)):
        found = pattern_of("topic").search(left)
    whose = left[: found.start()].strip(_OPENING + _CLOSING) if found is not None else ""
    return "" if fold_name(whose) in labels() else whose[-20:]


def _nearest(sentence: str, at: int, subject: str, last: str) -> str | None:
    """Whom a name at a place of a sentence in Latin script is given to: the last one named before it.

    ``subject`` for a pronoun. If nobody is named, ``last``, who was named in the sentence before. None for one of
    several: "Anders and Nils Lund, called Big Swede and Little Swede".
    """
    found = list(_WHO.finditer(sentence, 0, at))
    if not found:
        return last or subject
    named = found[-1]["name"]
    if not named or (named.istitle() and " " not in named and found[-1].start() == 0):
        return subject
    joined = re.compile(r" and \Z").search(sentence, 0, found[-1].start()) is not None
    return None if joined else named


def _is_of(text: str, head: str) -> bool:
    """Whether a text has the name of the person whose entry it is, or the part by which she is called. Agnes Lisle is
    not Edmund Lisle."""
    full = _TWO_CAPITALS.fullmatch(text)
    if full is not None and " " in head and not is_title(fold(text.split(" ")[0])):
        return text.split(" ")[0] == head.split(" ")[0]
    return any(part in text for part in (head, *_ends(head)))


def _remarked(sentence: str, head: str) -> Iterator[CardEntry]:
    """The people whose other names stand in parentheses behind them: 래퍼 오세나(활동명 제로)."""
    for found in _REMARK.finditer(sentence):
        before = found["before"].strip(_OPENING + _CLOSING)
        if not caseless(before):
            words = before.split(" ")
            before = " ".join(reversed([*takewhile(lambda word: word[:1].isupper(), reversed(words))]))
        if not before or len(parts(before)) > 1 or _is_of(before, head) or _QUOTED.search(before):
            continue
        remarks = [each.strip().partition(" to ")[0] for each in _SEVERAL.split(found["remark"])]
        names = [
            name
            for each in remarks
            for name in ([each, *each.split(" ")[-1:]] if caseless(each) else [each][: 2 - len(parts(each))])
        ]
        yield CardEntry(
            before, tuple(each for each in dict.fromkeys(names) if _is_name(each)), sentence, is_within=True
        )
    for found in (*_FOR.finditer(sentence), *_IS.finditer(sentence)):
        if not _is_of(found["who"], head):
            names = [each for each in (found["name"], found.groupdict().get("other")) if each]
            yield CardEntry(found["who"], tuple(names), sentence, is_within=True)


def _first(head: str, rest: str) -> Iterator[str]:
    """The full name with which an entry begins: "Wren: Wren Calloway, 24", 【阿沅】沈知沅，十七岁. And the family name
    with a title in its first sentence: "Julian Ashcombe, 29, Mr. Ashcombe to everyone"."""
    if not caseless(head) and " " in head:
        opening = _SENTENCE.match(rest)
        family = re.escape(head.rpartition(" ")[2])
        for titled in re.finditer(
            rf"(?<!\w)(\w{{1,20}})\.? {family}\b", opening.group() if opening is not None else ""
        ):
            if is_title(fold(titled[1])):
                yield titled.group()
    verb = pattern_of("subject").match(rest)
    found = _FIRST.match(" " + rest[verb.end() :] if verb is not None else rest)
    if found is None:
        return
    first = found["first"].strip(_OPENING + _CLOSING)
    if caseless(head):
        if 2 <= len(first) <= 5 and set(first) & set(head) and _is_name(first):
            yield first
    elif _is_name(first) and fold(head) in map(fold, first.split(" ")):
        yield first


def _marks(text: str) -> Iterator[tuple[int, str]]:
    """The names that a text puts in quotation marks or beside a word for a nickname, with their places."""
    found = {each.start("inner"): each["inner"] for each in _QUOTED.finditer(text)}
    # Without capitals anything may stand in quotation marks; with another name behind it, it is one.
    found = {at: name for at, name in found.items() if not caseless(name) or _BEHIND.match(text, at + len(name))}
    for pattern in _called():
        named = (each for each in pattern.finditer(text) if not _SOMEBODY.search(text, 0, each.start()))
        found |= {each.start("name"): each["name"] for each in named}
    for at, name in sorted(found.items()):
        bare = name.strip()
        if _is_name(bare):
            yield at, bare
            behind = _BEHIND.match(text, at + len(name))
            if behind is not None and _is_name(behind["remark"].strip()):
                yield behind.start("remark"), behind["remark"].strip()


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
    name = next((value for key, value in sheet if key in _keys("name_keys")), "")
    matched = _HEAD.match(name)
    if matched is None or len(sheet) < 2:
        return
    head = name[: matched.start("remark") - 1 if matched["remark"] else matched.end()].strip(_OPENING + _CLOSING)
    others = [matched["remark"] or ""]
    for key, value in sheet:
        if key in _keys("nicknames"):
            others += re.split(r"[,，、/;；]", value)
    marked = [each.strip(_OPENING + _CLOSING) for each in others]
    if _is_name(head):
        yield CardEntry(head, tuple(dict.fromkeys(each for each in marked if each and _is_name(each))), name)


def _is_name(text: str) -> bool:
    """Whether a text may be a name: at most four words, in Latin script with a capital first and last, and only short
    words written small between them: "Dario loves Ines" is none."""
    words = text.split()
    if not words or len(words) > 4 or len(text) > 40 or any(map(str.isdigit, text)):
        return False
    if caseless(text):
        return all(len(part) <= 12 for part in text.split("・"))
    if not all(word[0].isupper() or len(word) <= _LONGEST_PARTICLE for word in words[1:-1]):
        return False
    return (words[0] == "the" or words[0][0].isupper()) and words[-1][0].isupper()


@cache
def _called() -> tuple[re.Pattern[str], ...]:
    """Matches the name beside a word for a nickname, before it or behind it."""
    before = _any(name_words("nicknames"))
    return (
        re.compile(rf"(?i:\b(?:{before}))[:：]? ?[\"“']?(?P<name>{_LATIN})"),
        re.compile(
            rf"(?:{before})[:：]? ?[「『“\"'‘]?(?P<name>[^\s\x00-\x7f、，,「」『』“”‘’（）()]{{2,8}}?)"
            r"(?=[、，,。.;；」』”’\"')）]|$)"
        ),
        *patterns_of("called"),
    )


def _any(words: Iterable[str]) -> str:
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


@cache
def labels() -> frozenset[str]:
    """Words for a nickname without what stands behind them: 별명 of 별명은."""
    words = name_words("nicknames")
    return frozenset(fold_name(word) for word in words) | frozenset(
        fold_name(word[: found.start()]) for word in words if (found := pattern_of("topic").search(word)) is not None
    )


@cache
def _cue() -> re.Pattern[str]:
    """Matches a word for a nickname at the end of a text: 店里帮工的阿梅本名, before 吴梅."""
    words = _any((*labels(), *name_words("nicknames")))
    return re.compile(rf"(?<=\S)(?:{words})[:：]?\s{{0,4}}\Z")


@cache
def _naming_next() -> re.Pattern[str]:
    return re.compile(rf"\s(?:{_any(name_words('nicknames'))})\b")


@cache
def _keys(row: str) -> frozenset[str]:
    """Keys of a sheet."""
    return frozenset(map(fold_name, name_words(row)))
