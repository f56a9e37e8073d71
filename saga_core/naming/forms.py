"""Forms of a name: the other ways of writing it that still refer to the same entity."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from itertools import takewhile

from saga_core.language import (
    all_of,
    any_of,
    caseless,
    clean_name,
    every,
    fold_name,
    folded_kana,
    has_katakana,
    is_hangul,
    particle_stems,
    simplified,
)

_QUOTES = dict.fromkeys(map(ord, "'‘\"“”「」『』《》〈〉"))
_MARKS = "'‘’\"“”「」『』"
_LISTED = re.compile(r"[,，、]")
_ARTICLE = re.compile(r"(?:the|an?|der|die|das|den|dem|le|la|les|el|los|las|il|lo|gli|os) (?=.)", re.I)
_COMMON = re.compile(r"\A(?:an?|some|the|my|your) (?=[a-z])")
_REMARK = re.compile(r"(?P<head>.*\S)\s*[(（](?P<remark>[^()（）\d]{2,})[)）]")
_POSSESSIVE = re.compile(r"(?P<head>.*\w)['’]s")
_INDEFINITE = re.compile(r"(?:an?|some|another) (?=.)", re.I)
_PART = re.compile(r"[・·,，、/:：>»–—]\s*|(?<=[^\x00-\x7f]) (?=[^\x00-\x7f])|(?<=\s)-\s")
"""The separators between the parts of a place's name."""
_QUOTED = re.compile(
    r"[(（]?(?:\"([^\"]{2,40})\"|“([^“”]{2,40})”|„([^„“”]{2,40})[“”]|«([^«»]{2,40})»|「([^「」]{2,40})」|『([^『』]{2,40})』"
    r"|(?<![A-Za-z0-9])['‘]([^'‘’]{2,40})['’](?![A-Za-z0-9]))[)）]?"
)
"""A nickname in quotation marks, maybe within parentheses."""

_TITLES = all_of(lambda each: each.names.titles)
_TITLES_AROUND = all_of(lambda each: each.names.titles_around)
_TITLE_SUFFIXES = tuple(sorted(all_of(lambda each: each.names.title_suffixes)))
_MANY = all_of(lambda each: each.names.many)
_WOMEN = all_of(lambda each: each.names.women)
_MEN = all_of(lambda each: each.names.men)
_FAMILIES = all_of(lambda each: each.names.families)
_LONG_FAMILIES = all_of(lambda each: each.names.long_families)
_BETWEEN = all_of(lambda each: each.names.between)
_ORDINAL = re.compile(any_of(lambda each: each.names.ordinal))
_ANY_HONORIFIC = all_of(lambda each: each.names.honorifics)
_AGES = frozenset("old young elder younger senior junior".split())


@cache
def _honorifics() -> tuple[tuple[re.Pattern[str], tuple[str, ...]], ...]:
    """For each script, its letters and the honorifics attached to names in it. Compiled on first use."""
    return tuple((re.compile(each.names.letters), each.names.honorifics) for each in every() if each.names.honorifics)


@cache
def _joined() -> re.Pattern[str]:
    """Matches the conjunctions between names. Compiled on first use."""
    return re.compile(r"(?<!\s)\s*&\s*|" + any_of(lambda each: each.names.joint))


@cache
def pattern_of(row: str) -> re.Pattern[str]:
    """The pattern of a row of ``NameWords`` in all languages. Case does not count. Compiled on first use."""
    return re.compile(any_of(lambda each: str(getattr(each.names, row))), re.I)


@cache
def patterns_of(row: str) -> tuple[re.Pattern[str], ...]:
    """The patterns of a row of ``NameWords``, of each language that has it. Compiled on first use."""
    rows = (str(getattr(each.names, row)) for each in every())
    return tuple(re.compile(pattern) for pattern in rows if pattern)


@cache
def name_words(row: str) -> frozenset[str]:
    """The words of a row of ``NameWords`` in all languages."""
    return all_of(lambda each: getattr(each.names, row))


def parts(names: str) -> list[str]:
    """The names that a text joins with conjunctions or commas."""
    return [part for part in (each.strip() for each in _LISTED.split(_joined().sub(",", names))) if part]


@lru_cache(maxsize=4_096)
def forms(name: str) -> tuple[str, ...]:
    """The name itself, then the names without a Korean particle or honorific, an article, or a remark."""
    return tuple(dict.fromkeys(form for form in _forms(clean_name(name)) if form))


def is_form_of(name: str, known: str) -> bool:
    """Whether ``name`` is ``known``, maybe with one of these behind or before it: ``다람이`` for ``다람``."""
    return fold(known) in map(fold, forms(name))


def _forms(name: str) -> Iterator[str]:
    yield from particle_stems(name)
    for stem in particle_stems(name):  # "서연이는" is "서연이" with a particle
        yield from particle_stems(stem)
    yield bare(name)
    yield name.strip(_MARKS)
    if owner := _POSSESSIVE.fullmatch(name):
        yield owner["head"]
    remark = _REMARK.fullmatch(name)
    if remark:
        yield remark["head"]
    for stem in (name, *particle_stems(name)):
        for letter, honorifics in _honorifics():
            for honorific in honorifics:
                head = stem.removesuffix(honorific).rstrip()
                if head != stem and len(head) >= 2 and letter.fullmatch(head[-1]):
                    yield head


def remarked(name: str) -> tuple[str, str] | None:
    """A name without quotation marks around it, and the remark in parentheses behind it; None if there is no remark."""
    found = _REMARK.fullmatch(clean_name(name))
    return (found["head"].strip(_MARKS) or found["head"], found["remark"]) if found is not None else None


def bare(name: str) -> str:
    """``name`` without its article."""
    return _ARTICLE.sub("", name, count=1) if _ARTICLE.match(name) else name


def uncommon(name: str) -> str:
    """The name of a thing without its article: ``rope`` for ``a rope`` and ``my rope``. Capitalized names keep it."""
    return _COMMON.sub("", name, count=1)


def fold(name: str) -> str:
    """A name in the form used for comparison: without spaces and hyphens, with all apostrophes alike."""
    plain = fold_name(name).replace("’", "'").replace("-", "").replace("・", "").replace("·", "")
    if plain.isascii():
        return plain
    plain = plain.translate(_QUOTES) or plain
    return folded_kana(plain) if has_katakana(plain) else simplified(plain)


def indefinite(name: str) -> bool:
    """Whether a name begins with an indefinite article or word, and so means somebody new: ``a doctor``."""
    return _INDEFINITE.match(name) is not None


def words_of(name: str) -> list[str]:
    """The folded words of a name."""
    return [fold(word) for word in name.split(" ")]


def untitled(words: list[str]) -> list[str]:
    """``words`` without the titles in front and behind; all words if nothing would remain."""
    left = [word for word in words if word.strip(".") not in _TITLES]
    while len(left) > 1 and _is_title_around(left[-1]):
        left = left[:-1]
    while len(left) > 1 and _is_title_around(left[0]):
        left = left[1:]
    return left or words


def same_name(one: list[str], other: list[str]) -> bool:
    """Whether ``one`` is the known name ``other`` with more or fewer titles or names, compared word by word.

    False if the titles give different genders, or if ``one`` has an ordinal that ``other`` does not have.
    """
    if _opposite(one, other) or _ordinals(one) - _ordinals(other) or _entitled_otherwise(one, other):
        return False
    if not _epithet(one):
        other = other[: len(other) - len(_epithet(other))]
    if not _ordinals(one):
        other = [word for word in other if not _ORDINAL.fullmatch(word)] or other
    plain, known = untitled(one), untitled(other)
    if plain != one and known != other and one[0] == other[0] and _called(known, plain):
        return True  # Professor Ilse Harrow, known as Professor Ilse
    if len(one) == 2 and len(known) == 1 and one[0] not in _FAMILIES and _given(one[1], known[0]):
        return True  # 리더 하진 is 서하진
    if (len(plain) == 2 and plain == known[::-1]) or (plain != one == other[::-1]):
        return True  # Taschler Konrad is Konrad Taschler, and 교장 백운 is 백운 교장
    if _family_and_title(one, other) or (one[-1:] != plain[-1:] and one[-1] in _ANY_HONORIFIC and plain == other[:1]):
        return True
    if plain == one and len(other) > 1 and known == one and not is_title(one[0]) and _is_person(one):
        return len("".join(one)) > 1
    return any(_in_other_words(each, other) for each in ([one] if plain == one else [one, plain])) or (
        plain != one and plain == other
    )


def _entitled_otherwise(one: list[str], other: list[str]) -> bool:
    """Whether both are one family name in Latin script with a title, and one title is a woman's or another age's:
    Constable Hicks is not Mrs Hicks, nor is Old Sal Young Sal."""
    mine, theirs = untitled(one), untitled(other)
    if mine != theirs or len(mine) != 1 or not mine[0].isascii() or mine in (one, other):
        return False
    ages, other_ages = _AGES & set(one), _AGES & set(other)
    return _told_of(tuple(one))[0] != _told_of(tuple(other))[0] or bool(ages and other_ages and ages != other_ages)


def _is_person(words: list[str]) -> bool:
    """Whether words look like a full name. In Hangul: three syllables that begin with a family name."""
    joined = "".join(words)
    return not is_hangul(joined[0]) or (len(joined) == 3 and joined[0] in _FAMILIES)


def is_full_name(word: str) -> bool:
    """Whether a word looks like a full Korean name: three syllables that begin with a family name."""
    return len(word) == 3 and word[0] in _FAMILIES and all(map(is_hangul, word))


def is_last_part(short: str, long: str) -> bool:
    """Whether ``short`` is the last part of the place name ``long``: ``玄関`` of ``月影館・玄関``."""
    part = _PART.split(clean_name(long))[-1]
    return part != clean_name(long) and fold(bare(part)) == fold(bare(clean_name(short)))


def contradicts(one: list[str], other: list[str]) -> bool:
    """Whether two full names share the given name but not the family name, as ``Tom Alder`` and ``Tom Brandt``, or have
    titles of different genders, as ``Mr. Marsh`` and ``Mrs. Marsh``."""
    if _opposite(one, other):
        return True
    left, right = _full(one), _full(other)
    return len(left) > 1 and len(right) > 1 and left[0] == right[0] and left[-1] != right[-1]


def is_relative(one: list[str], known: list[list[str]]) -> bool:
    """Whether a full name has the family name of somebody ``known`` by full names, and none of her given names: Lucien
    Aubry is not Madeleine Aubry, though she is called Aubry too."""
    mine = _full(one)
    is_family = len(mine) > 1 and any(len(full := _full(each)) > 1 and full[-1] == mine[-1] for each in known)
    return is_family and mine[0] not in {word for each in known for word in each[:-1] or each}


def has_one_middle(name: str, known: Iterable[str]) -> bool:
    """Whether a name and one that is ``known`` have the same first and last word, and only one of them a word between:
    Maestro Anselmi, and Maestro Bruno Anselmi. Only names with capitals, and only if no other word is known there."""
    spelled = [each.split(" ") for each in (name, *known)]
    first, last = spelled[0][0], spelled[0][-1]
    alike = [each for each in spelled if each[0] == first and each[-1] == last]
    if is_title(fold(last)) or not all(word.isalpha() and word.istitle() for each in alike for word in each):
        return False
    told = {word for each in alike for word in each}
    if is_title(first) and any(not told.issuperset(each) for each in spelled):
        return False  # Miss Winslow who is known as Theodora is not Miss Cecily Winslow
    return {len(each) for each in alike} == {2, 3} and len({each[1] for each in alike if len(each) == 3}) == 1


def _full(words: list[str]) -> list[str]:
    """The words of a name in Latin script without titles, epithets and particles; empty for other scripts."""
    plain = [word for word in untitled(words[: len(words) - len(_epithet(words))]) if word not in _BETWEEN]
    return plain if all(word[:1].isascii() for word in plain) else []


def _in_other_words(one: list[str], other: list[str]) -> bool:
    if _called(one, other) or _called(other, one):
        return True
    shorter, longer = sorted((one, other), key=len)
    if len(one) == 1 and len(known := untitled(other)) == 1 and _given(one[0], known[0]):
        return True
    if "".join(one) == other[-1]:  # a name that is also written with a hyphen
        return True
    if len(shorter) == len(longer):
        return False
    return longer[-len(shorter) :] == shorter or (shorter == longer[: len(shorter)] and _office(shorter))


def _called(one: list[str], other: list[str]) -> bool:
    """Whether ``one`` is just the given name of ``other``, a European name with a given and a family name."""
    names = [word for word in _without_front_titles(other) if word not in _BETWEEN]
    if len(names) != 2 or "".join(one) != names[0] or is_title(names[0]) or is_title(names[1]):
        return False
    return any(word in _BETWEEN for word in other[1:]) or (names[0].isascii() and len(names[0]) > 2)


def _without_front_titles(words: list[str]) -> list[str]:
    while len(words) > 1 and words[0].strip(".") in _TITLES:
        words = words[1:]
    return words


def _office(words: list[str]) -> bool:
    """Whether words before a name identify a person by themselves: ``둘째 왕자``, ``goblin king``; not a bare title."""
    last = words[-1]
    if len(words) > 1 and last in _TITLES:
        return True
    long = [title for title in _TITLES_AROUND - _MANY if len(title) > 1 and last.endswith(title)]
    return bool(long) and (len(words) > 1 or all(len(last) > len(title) for title in long))


def _given(one: str, other: str) -> bool:
    """Whether one is a full Korean name, and the other its given name of two syllables."""
    shorter, longer = sorted((one, other), key=len)
    family = longer[:-2]
    return (
        len(shorter) == 2
        and family in (_FAMILIES if len(family) == 1 else _LONG_FAMILIES)
        and all(is_hangul(char) for char in longer)
        and longer[-2:] == shorter
        and not is_title(shorter)
    )


def _family_and_title(one: list[str], other: list[str]) -> bool:
    """Whether ``one`` is a Korean family name with a title (``강 장군``), and ``other`` has both."""
    named = untitled(other)
    return (
        len(one) == 2
        and _plain_title(one[1]) in other
        and len(named) == 1
        and named[0].startswith(one[0])
        and len(named[0]) in ((3,) if one[0] in _FAMILIES else (3, 4) if one[0] in _LONG_FAMILIES else ())
    )


def traces(words: Iterable[str]) -> set[str]:
    """The keys by which a name is looked up. Two names that ``same_name`` accepts share at least one key."""
    every = list(words)
    found = {*every, "".join(every)}
    for word in tuple(found):
        if len(word) == 3 and word[0] in _FAMILIES:
            found |= {word[1:], word[0]}
        if len(word) in (3, 4) and word[:2] in _LONG_FAMILIES:
            found |= {word[2:], word[:2]}
    return found


def known_as(name: str) -> tuple[str, ...]:
    """A known name; if it contains a nickname in quotation marks, also the name without it and the nickname."""
    return (name, *nicknamed(name))


def _is_entitled(name: str) -> bool:
    """Whether a text is a title beside a name: Widow Peg, not "the false Father Quinn"."""
    words = words_of(name)
    is_name = caseless(name) or all(word[:1].isupper() for word in name.split())
    return is_name and untitled(words) != words and not all(map(is_title, words))


@lru_cache(maxsize=4_096)
def nicknamed(name: str) -> tuple[str, ...]:
    """The name and the nickname in quotation marks of which a name consists: ``Margaret "Peg" Ashdown``.
    A title with a name in parentheses counts too: ``Margaret Ashdown (Widow Peg)``.

    Empty if it has no such nickname, or if what is left is no name: a member of "The Red Hand", 「山猫軒」の主人.
    """
    found = _QUOTED.search(name)
    if found is None:
        remark = remarked(name)
        return remark if remark is not None and _is_entitled(remark[1]) else ()
    before, after = name[: found.start()], name[found.end() :]
    gap = " " if before[-1:] == " " or after[:1] == " " else ""
    whole, inner = clean_name(f"{before}{gap}{after}"), clean_name(next(filter(None, found.groups())))
    whole = remark[0] if (remark := remarked(whole)) is not None else whole
    words = bare(whole).split()
    if not words or not inner or _QUOTED.search(whole) is not None or all(map(is_title, words)):
        return ()
    if caseless(whole):
        is_role = any(pattern_of(row).fullmatch(whole) for row in ("role", "group"))
        is_name = len(whole) > 1 and not is_role and not whole.startswith(tuple(name_words("possessives")))
    else:
        is_name = words[0][:1].isupper() and words[-1][:1].isupper()
    return (whole, inner) if is_name else ()


def _opposite(one: list[str], other: list[str]) -> bool:
    (woman, man), (other_woman, other_man) = _told_of(tuple(one)), _told_of(tuple(other))
    return (woman and other_man) or (man and other_woman)


@lru_cache(maxsize=8_192)
def _told_of(words: tuple[str, ...]) -> tuple[bool, bool]:
    """Whether a name has a title of a woman, and whether of a man. Cached, since each known name is checked often."""
    told = {each for word in words for each in (word.strip("."), _plain_title(word))}
    return bool(told & _WOMEN), bool(told & _MEN)


def _epithet(words: list[str]) -> list[str]:
    """The words after the name that describe the person: ``of Marr``, ``the Tall``."""
    at = next((at for at, word in enumerate(words) if at and word in ("of", "the", "from")), len(words))
    return words[at:]


def _ordinals(words: list[str]) -> set[str]:
    return {word for word in words[1:] if _ORDINAL.fullmatch(word)}


def _is_title_around(word: str) -> bool:
    return word in _TITLES_AROUND or _plain_title(word) in _TITLES_AROUND


def _plain_title(word: str) -> str:
    """A title without its suffixes."""
    for suffix in _TITLE_SUFFIXES:
        word = word.removesuffix(suffix)
    return word


def is_title(word: str) -> bool:
    """Whether a word is a title and not a name."""
    return fold_name(word).strip(".") in _TITLES or _is_title_around(word)


@lru_cache(maxsize=8_192)
def bare_title(name: str) -> str:
    """The office that a title alone in Latin letters means (see ``offices_in``): doctor, for "the Doctor" and "Dr."; ""
    for other names."""
    word = fold(bare(clean_name(name))).strip(".")
    return _office_of(word) if word in _TITLES and word not in _MANY and not indefinite(name) else ""


@lru_cache(maxsize=8_192)
def offices_in(name: str) -> frozenset[str]:
    """The offices whose titles begin a name in Latin letters: sergeant, of Sergeant Kubas; king, not of Goblin King
    Krook. A title that identifies nobody is none."""
    words = [word.strip(".") for word in words_of(bare(name))]
    titles = list(takewhile(_TITLES.__contains__, words))
    return frozenset(map(_office_of, titles)) - _MANY if titles != words else frozenset()


def titles_of(office: str) -> tuple[str, ...]:
    """The titles of an office: doctor, dr, physician."""
    return next((group for group in _same_titles() if group[0] == office), (office,))


def _office_of(title: str) -> str:
    return next((group[0] for group in _same_titles() if title in group), title)


@cache
def _same_titles() -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(group.split()) for group in all_of(lambda each: each.names.same_titles))
