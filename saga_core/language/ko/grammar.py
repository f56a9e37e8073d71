"""Korean: particles, numbers in words, nouns of one syllable, who does what, and index terms.

Index terms are syllable bigrams, because whole words do not work as terms. A word first loses its longest particle. It
gives its bigrams and also its first syllable, which is often the only part that the forms of a verb ("끊겨서",
"끊어져") or of a noun of one syllable ("숲에", "숲은") share.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from string import ascii_letters

from saga_core.language.grammar import Grammar, GrammarWords

_WORDS = GrammarWords(__file__)

# -- particles -------------------------------------------------------------------------------------------------
#
# Korean: particles, the choice between their two forms, and syllable bigrams.

_FIRST, _LAST = 0xAC00, 0xD7A3

# Longest first, so that "에게서" is tried before "서".
_PARTICLES = tuple(sorted(_WORDS["particles"], key=lambda particle: (-len(particle), particle)))
PARTICLES = frozenset(_PARTICLES)
"""All particles, for lookup."""

_WORD = re.compile(r"[^\W_]+")

_OPEN, _LIEUL, _OTHER = 0, 8, 4
"""Numbers of final consonants: none, ㄹ, and any other."""
_DIGITS = {digit: _LIEUL if digit in "178" else _OTHER for digit in "013678"} | dict.fromkeys("2459", _OPEN)
_SPELLED = {"L": _LIEUL, "R": _LIEUL, "M": _OTHER, "N": _OTHER}
_CLOSED = re.compile(r"(?:ll?|m|n|ng|(?<=[^\Waeiou])[aeiou](?:ck|tt|[bckpt])|\A[aeiou](?:ck|tt|[bckpt]))\Z")
"""Matches the end of a word in lower-case Latin letters that is pronounced with a final consonant."""


def is_hangul(char: str) -> bool:
    """Whether ``char`` is a composed Hangul syllable."""
    return _FIRST <= ord(char) <= _LAST


def has_final(text: str) -> bool:
    """Whether ``text`` ends in a consonant (받침) when read aloud: 검, "3" (삼), "XL" (엑스엘), "John" (존)."""
    return _final(text) != _OPEN


def _final(text: str) -> int:
    """The number of the final consonant in Hangul's order; 0 if there is none or it is unknown."""
    end = next((at for at in range(len(text), 0, -1) if text[at - 1].isalnum()), 0)
    last = text[end - 1 : end]
    if not last:
        return _OPEN
    if is_hangul(last):
        return (ord(last) - _FIRST) % 28
    if last in _DIGITS:
        return _DIGITS[last]
    word = text[:end]
    return _final_of_latin(word[len(word.rstrip(ascii_letters)) :])


def _final_of_latin(letters: str) -> int:
    if not letters:
        return _OPEN
    if letters.isupper():  # spelled out: HP is 에이치피, XL is 엑스엘
        return _SPELLED.get(letters[-1], _OPEN)
    ending = _CLOSED.search(letters.casefold())
    return _OPEN if ending is None else _LIEUL if ending.group().startswith("l") else _OTHER


def josa(word: str, pair: str) -> str:
    """``word`` with the correct one of two particle forms: ``josa("검", "을/를") == "검을"``.

    ``pair`` is "after a consonant/after a vowel". "으로/로" has an exception: a final ㄹ takes "로".
    """
    closed, open_ = pair.split("/")
    final = _final(word)
    takes_open = final == _OPEN or (closed == "으로" and final == _LIEUL)
    return word + (open_ if takes_open else closed)


def particle_stems(word: str) -> Iterator[str]:
    """``word``, then its stems without one trailing particle, longest stem first.

    A stem keeps at least two syllables, so that short names stay whole ("나이" is not "나" + "이").
    """
    yield word
    if not word or not is_hangul(word[-1]):
        return
    seen = {word}
    stems = []
    for particle in _PARTICLES:
        if word.endswith(particle) and len(word) - len(particle) >= 2:
            stems.append(word[: -len(particle)])
    for stem in sorted(stems, key=len, reverse=True):
        if stem not in seen:
            seen.add(stem)
            yield stem


def bigrams(word: str) -> Iterator[str]:
    """The syllable bigrams of a Hangul word; the word itself if it has one syllable."""
    if len(word) < 2:
        yield word
        return
    for index in range(len(word) - 1):
        yield word[index : index + 2]


LONGEST = max(map(len, PARTICLES))
"""The number of syllables of the longest particle."""

_SIZES: dict[str, tuple[int, ...]] = {
    last: tuple(sorted({len(particle) for particle in PARTICLES if particle[-1] == last}, reverse=True))
    for last in {particle[-1] for particle in PARTICLES}
}
"""The lengths of the particles that end in a syllable, longest first. Most words end in another syllable."""


def stripped(word: str) -> str:
    """A Hangul word without its longest particle. At least two syllables remain."""
    for size in _SIZES.get(word[-1], ()):
        if len(word) > size + 1 and word[-size:] in PARTICLES:
            return word[:-size]
    return word


# -- endings behind names --------------------------------------------------------------------------------------
#
# The endings that may follow a Korean name within one word: particles, combinations of them, and the copula.

BEHIND_NAMES: frozenset[str] = frozenset(
    {
        *PARTICLES,
        *(
            first + second
            for heads, tails in _WORDS.table("followed").items()
            for first in heads.split()
            for second in tails.split()
        ),
        *_WORDS["alone"],
        *_WORDS["copula"],
        *("들" + tail for tail in _WORDS["plural"]),
    }
)
"""All endings, for lookup."""

BEHIND_LONG_NAMES: frozenset[str] = frozenset(
    {
        "님",
        *("님" + tail for tail in (*_WORDS["open_forms"], *_WORDS["closed_forms"])),
        *("이" + tail for tail in _WORDS["open_forms"]),
    }
)
"""Endings of names of two syllables or more: 님, the 이 of 지훈이, and particles after them. After one syllable they
form other words: 손님 from 손, 종이를 from 종. 씨 is left out because of 마음씨 and the like."""


# -- numbers ---------------------------------------------------------------------------------------------------

_ONES = {
    "한": 1, "두": 2, "세": 3, "석": 3, "서": 3, "네": 4, "넉": 4, "너": 4,
    "다섯": 5, "여섯": 6, "일곱": 7, "여덟": 8, "아홉": 9,
}  # fmt: skip
_TENS = {
    "열": 10, "스물": 20, "서른": 30, "마흔": 40, "쉰": 50, "예순": 60, "일흔": 70, "여든": 80, "아흔": 90,
}  # fmt: skip
_AFTER_TENS = [word for word in _ONES if word not in ("석", "서", "넉", "너")]

_SINO_DIGITS = {word: number for number, word in enumerate("일이삼사오육칠팔구", 1)}
_SINO_UNITS = {"십": 10, "백": 100, "천": 1_000}
_GROUP = r"(?:[일이삼사오육칠팔구]?[십백천] ?)++[일이삼사오육칠팔구]?|[일이삼사오육칠팔구]"

_TWO_WORDS = re.compile(rf"({'|'.join(_TENS)})({'|'.join(_AFTER_TENS)})")

_NATIVE = rf"(?:{'|'.join(_TENS)})(?:{'|'.join(_AFTER_TENS)})"
_BELOW = rf"(?:{_GROUP}|\d{{1,3}},\d{{3}}|\d{{1,4}}[천백]?)"
_CHINESE = (
    rf"(?:{_BELOW} ?억(?: ?{_BELOW} ?만)?|{_BELOW} ?만(?: ?{_BELOW})?|만(?: ?(?:{_GROUP}))?|\d{{1,3}}[천백]|{_GROUP})"
)
_WHOLE = re.compile(f"{_NATIVE}|{_CHINESE}")
_APART = r"(?:(?<=[일이삼사오육칠팔구십백천만억\d]{2})|(?<=\s)|(?=\s))"

SPELLED = f"(?:{_NATIVE}|{_CHINESE}{_APART})"
"""A pattern of a native Korean number of two words, a Sino-Korean number, or a number in digits with 천, 만, 억. A
single syllable needs a space before it or before its counter: 사원 지도 is the map of a temple, and 천장 열쇠 is not a
thousand keys."""

_PART = re.compile(r"(\d+|[일이삼사오육칠팔구])?([십백천])?")


def value(written: str) -> int | None:
    """The value of a text that matches ``SPELLED``; None for any other text."""
    if two := _TWO_WORDS.fullmatch(written):
        return _TENS[two[1]] + _ONES[two[2]]
    plain = written.replace(" ", "").replace(",", "")
    if not plain or _WHOLE.fullmatch(written) is None:
        return None
    most, hundred_millions, plain = plain.rpartition("억")
    head, many, tail = plain.rpartition("만")
    whole = (_below(head) or 1) * 10_000 * bool(many) + _below(tail)
    return _below(most) * 100_000_000 * bool(hundred_millions) + whole


def _below(group: str) -> int:
    return sum(
        (int(digit) if digit.isdigit() else _SINO_DIGITS[digit] if digit else 1) * _SINO_UNITS.get(unit, 1)
        for digit, unit in _PART.findall(group)
        if digit or unit
    )


# -- nouns of one syllable -------------------------------------------------------------------------------------
#
# Finds Korean nouns of one syllable in a text: 칼 in "칼을", but not in "칼집".
#
# A syllable with a particle often looks like another word: "종이" is paper, or a bell as the subject. The form of the
# particle decides most cases: "마을" and "나이" are not a noun with a particle, because 마 takes 를 and 나 takes 가.
# The other cases are listed here, except for words that are mostly the noun ("길이", "입을").

_AFTER_FINAL = tuple("이 은 을 과 으 아".split())
"""Beginnings of the particles that only follow a final consonant."""
_AFTER_VOWEL = tuple("가 는 를 와 랑 나 며 야 여 였 예".split())
"""Beginnings of the particles that only follow a vowel."""
_NO_NOUN = frozenset("아 야 여 며 께".split())
"""Particles that hardly ever follow a noun for a thing, but often end a verb: "잡아", "하며"."""

_OTHER_WORDS = frozenset(_WORDS["other_words"])
_BOTH = {word: tuple(beginnings.split()) for word, beginnings in _WORDS.table("both").items()}
_QUOTING = frozenset(_WORDS["quoting"])


def short_nouns(words: Sequence[str]) -> list[str]:
    """For each of the ``words`` of a text, in order: its noun, if it is a noun of one syllable with or without
    particles; else ""."""
    following = [*words[1:], ""]
    return [_noun(word, behind if word in _BOTH else "") for word, behind in zip(words, following, strict=False)]


def maybe_noun(word: str) -> str:
    """The noun of one syllable that ``word`` may contain, although it is mostly another word; "" for none."""
    return word[0] if word in _BOTH else ""


def ends_word(word: str, rest: str, following: str = "") -> bool:
    """Whether ``rest`` may be attached to ``word`` without forming a different word. ``following`` is the next word in
    the text."""
    if not rest:
        return True
    if len(word) == 1:
        return _noun(word + rest, following) == word
    if rest in _QUOTING:
        return True
    return rest in BEHIND_LONG_NAMES or (rest in BEHIND_NAMES and _agrees(word, rest)) or rest.startswith("들")


@lru_cache(maxsize=8_192)
def _noun(word: str, following: str) -> str:
    if not word or not is_hangul(word[0]):
        return ""
    if len(word) == 1:
        return word
    tail = word[1:]
    if tail in _NO_NOUN or not (tail == "들" or tail in BEHIND_NAMES) or not _agrees(word[0], tail):
        return ""
    if following.startswith(_BOTH.get(word, ())):
        return word[0]
    other, behind = word[:2], word[2:]
    if other in _OTHER_WORDS and (not behind or (behind in BEHIND_NAMES and _agrees(other, behind))):
        return ""
    return word[0]


def _agrees(word: str, tail: str) -> bool:
    """Whether the particle ``tail`` has the form required after ``word``."""
    closed = has_final(word)
    if tail.startswith("로"):
        return not closed or (ord(word[-1]) - 0xAC00) % 28 == 8  # a final ㄹ also takes 로
    return not tail.startswith(_AFTER_VOWEL if closed else _AFTER_FINAL)


# -- who does what ---------------------------------------------------------------------------------------------
#
# Decides by grammar, and lists of verbs that are no deeds, whether a Korean sentence says that a character does
# something.
#
# The name must be the only subject of the sentence. The final verb must not express a state, a trait or something that
# happens to the dead. Sentences about earlier events look the same, so verbs that mostly describe those are excluded.

_SUBJECTS = re.compile(r"(?<!\w)[가-힣A-Za-z]{1,12}(?:이|가|은|는|께서|도|들이|들은)(?=\s)")
_NO_SUBJECTS = frozenset(_WORDS["no_subjects"])
_SAFE = re.compile("|".join(_WORDS["safe"]))
_JOINT = re.compile(r"[가-힣](?:고|며|자|더니|지만|는데)\s|,\s")
_SAYING = re.compile(r"[다라냐자]고(?:도|만|는)?\s")


def does(sentence: str, names: Sequence[str]) -> bool:
    """Whether a character with one of ``names`` does something in a Korean sentence."""
    named = "|".join(map(re.escape, (name for name in names if any(map(is_hangul, name)))))
    if not named or _SAYING.search(sentence):
        return False
    subject = re.search(rf"(?<!\w)(?:{named})(?P<particle>이|가|은|는|께서|도)(?=\s)", sentence)
    if subject is None:
        return False
    rest = sentence[subject.end() :].strip()
    joints = [each.end() for each in _JOINT.finditer(sentence, 0, subject.start())]
    clause = sentence[joints[-1] if joints else 0 :]
    others = [each.group() for each in _SUBJECTS.finditer(clause) if each.group() not in _NO_SUBJECTS]
    if len(others) > 1 or not rest.rstrip(".!?。！？… \"”'").endswith("다"):
        return False
    words = rest.split()
    if subject["particle"] in "이가" and _adnominal(words[0]):
        return False
    return _SAFE.search(" ".join(words[-2:])) is None


_RESPECT = re.compile(r"(?P<stem>(?!계)[가-힣])(?P<bound>으?)(?:셨|시었)")
_CONTRACTED = {8: 9, 11: 10, 13: 14, 20: 6} | {vowel: vowel for vowel in (0, 1, 4, 5, 6)}
"""Vowels of a stem, by their numbers in Hangul's order, and what they become with the past: 오다 becomes 왔다."""


def plain(text: str) -> str:
    """A text whose verbs in the past have no mark of respect: 알아내셨다 is 알아냈다, 읽으셨다 is 읽었다."""
    humble = text.replace("말씀드리", "말씀하").replace("말씀드렸", "말씀했")
    return _RESPECT.sub(_without_respect, humble.replace("말씀", "말"))


def _without_respect(found: re.Match[str]) -> str:
    stem = found["stem"]
    initial, vowel = divmod((ord(stem) - _FIRST) // 28, 21)
    if stem == "하":
        return "했"
    if has_final(stem) or found["bound"] or vowel not in _CONTRACTED:
        return stem + ("았" if vowel in (0, 8) else "었")
    return chr(_FIRST + (initial * 21 + _CONTRACTED[vowel]) * 28 + 20)


def _adnominal(word: str) -> bool:
    """Whether a Korean word may be a verb that modifies the noun after it."""
    last = word[-1]
    if last in "을를" and len(word) > 1:
        return False  # an object, marked by its particle
    return last in "던는" or (is_hangul(last) and (ord(last) - 0xAC00) % 28 in (4, 8))


# -- index terms -----------------------------------------------------------------------------------------------

_NUMBERS = {
    **dict(zip("둘 셋 넷 다섯 여섯 일곱 여덟 아홉 열 열하나 열둘".split(), map(str, range(2, 13)), strict=True)),
    "열두": "12",
    "스물": "20",
    "스무": "20",
}
"""Numbers in words, which become digits. 하나, 세 and 네 are missing because they have too many other meanings."""


def _terms(word: str) -> tuple[str, ...]:
    bare = stripped(word)
    found = list(bigrams(bare))
    number = _NUMBERS.get(word) or _NUMBERS.get(bare)
    if number is not None:
        found.append(number)
    if len(word) > 1:
        found.append(word[0])
    return tuple(found)


def _content(word: str) -> tuple[str, ...]:
    return (stripped(word),)


_NOT_NUMBERED = "".join(
    [rf"(?<!(?<![가-힣]){word})" for word in _WORDS["numbered_words"]]
    + [f"(?<!{end})" for end in ("호", "번", *_WORDS["numbered_ends"])]
)
_NO_KEY = r"(?:(?<!열쇠)(?<!카드)(?<!키)|(?!\s+\d{3}))"
"""Together with ``_NOT_NUMBERED``, excludes words with a number of their own: 방 3 and 3번 are no counts, but 가방 3 is
one. 열쇠 101 is the key of a room."""


GRAMMAR = Grammar(
    letters="가-힣",
    run="[가-힣]+",
    terms=_terms,
    content=_content,
    function=frozenset(_WORDS["function"]),
    asking=frozenset(_WORDS["asking"]),
    does=does,
    plain=plain,
    spelled=SPELLED,
    number=value,
    countable=rf"[^A-Z]*[가-힣]{_NOT_NUMBERED}{_NO_KEY}",
    particles=BEHIND_NAMES,
    particles_of_long=BEHIND_LONG_NAMES,
)
