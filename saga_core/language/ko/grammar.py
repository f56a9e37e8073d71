"""Korean: particles, numbers in words, nouns of one syllable, who does what, and index terms.

Index terms are syllable bigrams, because whole words do not work as terms. A word first loses its longest particle. It
gives its bigrams and also its first syllable, which is often the only part that the forms of a verb ("끊겨서",
"끊어져") or of a noun of one syllable ("숲에", "숲은") share.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from string import ascii_letters

from saga_core.language.grammar import Grammar

# -- particles -------------------------------------------------------------------------------------------------
#
# Korean: particles, the choice between their two forms, and syllable bigrams.

_FIRST, _LAST = 0xAC00, 0xD7A3

# Longest first, so that "에게서" is tried before "서".
_PARTICLES: tuple[str, ...] = tuple(
    sorted(
        (
            "이라고 라고 에게서 한테서 으로부터 로부터 에서는 에서도 에게는 에게도 한테는 한테도 으로는 로는 "
            "이랑 까지 부터 조차 마저 처럼 보다 에게 한테 에서 으로 이나 이며 하고 께서 의 은 는 이 가 을 를 "
            "에 로 와 과 도 만 랑 나 며 께 야 아 여"
        ).split(),
        key=lambda particle: (-len(particle), particle),
    )
)
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
#
# They serve only to find names. For recall, words lose only simple particles (above), because their terms
# are stored. Endings of common names are left out: 엔, 론, 란, 든, 라, 네, and also a bare 들 because of "아들" and
# the like.

# Particles with the particles that may follow them. Those of place, direction and person take nearly all.
_FOLLOWED = {
    "에 에서 에게 에게서 한테 한테서 으로 으로부터 로부터 으로서 로서": (
        "는 도 만 만은 만이 만도 의 나 라도 까지 까지는 까지도 조차 마저 야 요"
    ),
    "로": "도 만 만은 의 까지 라도",
    "께 께서": "는 도 만 라도",
    "와 과": "는 도 의 만 만은",
    "하고": "는 도 만 의",
    "이랑 랑": "은 도 만",
    "까지 부터": "는 도 만 만은 의 가 라도 요",
    "보다": "는 도 야",
    "처럼 만큼": "은 도 만 이나",
    "만": "은 이 을 도 의 으로 으로는 으로도 큼 이라도 이다 이야",
    "조차 마저": "도 가",
    "마다": "의 에 에서",
    "밖에": "는 도",
    "말고": "는 도",
    "대로": "는 라면",
}
_ALONE = (
    "만큼 마다 밖에 대로 말고 뿐 뿐만 뿐이 뿐이다 뿐이야 뿐인 쯤 쯤은 쯤이야 커녕 은커녕 는커녕 치고 더러 "
    "이라도 라도 이나마 나마 이든지 든지 이란 이라면 라면 이라서 라서 이라니 라니 이라며 라며 이야말로 야말로 "
    "같은 같이 에다 에다가 에선 에겐 한텐 으론 까진 부턴 보단 께선 에게선 한테선 "
    "가요 는요 은요 를요 을요 도요 만요 랑요 이랑요 한테요 에게요 으로써 로써 이여 이시여"
)
_COPULA = (
    "이라 이다 이야 이에요 예요 이예요 에요 이죠 이지 이지요 이지만 이네 이네요 이군 이군요 이구나 이고 이며 "
    "이니 이니까 인데 인데요 인지 인가 인가요 입니다 입니까 이었다 였다 이었어 였어 이었어요 였어요 이었지 였지 "
    "이었지만 였지만 이었던 였던 이었고 였고 이었는데 였는데 이었습니다 였습니다 이었나 였나 일까 일까요 이라는 "
    "라는 이라고 라고 이라고는 라고는 이라고도 라고도 이라네 라네 이래 이래요 이요 이잖아 잖아 이잖아요 잖아요 "
    "니까 니까요 죠 지요 네요 군요 구나"
)
_PLURAL = (
    "은 이 을 의 도 만 과 에게 에게는 에게서 에게도 한테 한테는 에서 에는 로 로는 로부터 처럼 보다 까지 이나 이랑 "
    "하고 뿐 이다 이야 입니다 이라는 이라고 이었다"
)

BEHIND_NAMES: frozenset[str] = frozenset(
    {
        *PARTICLES,
        *(first + second for heads, tails in _FOLLOWED.items() for first in heads.split() for second in tails.split()),
        *_ALONE.split(),
        *_COPULA.split(),
        *("들" + tail for tail in _PLURAL.split()),
    }
)
"""All endings, for lookup."""

_OPEN_FORMS = (
    "가 는 를 도 의 만 만은 만이 와 랑 랑은 랑도 하고 야 에게 에게는 에게도 에게만 에게서 에게서도 한테 한테는 한테도 "
    "한테만 한테서 한테서는 한테서만 께 께는 께도 께서 께서는 께서도 께서만 로 로부터 보다 보다는 처럼 만큼 "
    "까지 까지도 부터 조차 마저 밖에 뿐 요 "
    "라면 라도 라서 라고 라는 라니 나 며 가요 는요 를요 도요 만요 랑요 한테요 에게요 네 네가 네는 네도 네에 네에서"
)
_CLOSED_FORMS = (
    "이 은 을 과 이랑 이랑은 이나 으로 이야 이에요 이세요 이신데 이다 이라면 이라도 이라고 이라는 입니다 이십니다"
)
_HONORIFICS = {"님": f"{_OPEN_FORMS} {_CLOSED_FORMS}", "이": _OPEN_FORMS}

BEHIND_LONG_NAMES: frozenset[str] = frozenset(
    {"님", *(head + tail for head, tails in _HONORIFICS.items() for tail in tails.split())}
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

_OTHER_WORDS = frozenset(
    "종이 같이 많이 깊이 높이 없이 굳이 먹이 놀이 맏이 검은 죽은 먹은 담은 감은 품은 안은 입은 신은 남은 묵은 "
    "익은 숨은 낮은 막은 참은 젊은 작은 좋은 많은 같은 굽은 넘은 먹을 죽을 남을 묵을 막을 참을 안을 있을 없을 "
    "지도 파도 포도 기도 태도 강도 온도 정도 제도 수도 철도 속도 각도 효도 시도 의도 밀도 용도 빈도 농도 한도 "
    "인도 유도 보도 습도 고도 사도 반도 부도 회의 주의 정의 거의 예의 동의 호의 합의 결의 고의 수의 편의 논의 "
    "문의 상의 하의 악의 선의 건의 제의 경의 성의 임의 유의 다만 그만 가만 불만 교만 오만 자만 비만 거만 아가 "
    "요가 휴가 화가 초가 누가 내가 네가 제가 대가 시가 하나 누나 지나 떠나 서로 바로 새로 따로 홀로 위로 도로 "
    "미로 피로 화로 가로 세로 때로 대로 별로 실로 주로 수로 해로 기와 나와 결과 성과 학과 통과 불과 안과 경과 "
    "약과 함께 아들 그들 이들 산들 흔들 만들 건들".split()
)
"""Words that look like a noun of one syllable with a particle, but mostly are not."""
_BOTH: Mapping[str, tuple[str, ...]] = {
    "종이": ("울", "흔들", "매달", "걸려", "깨졌"),
    "화가": ("나", "났", "난", "치밀", "풀"),
    "초가": ("타", "탔", "켜", "꺼", "녹"),
}
"""Such words that are often the noun too, with the beginnings of the next word in that case."""
_ENDINGS = frozenset("고 며 던 니 는데 지만 면서 다고 냐고 자고 고는 고서".split())
"""Endings of quoted sentences, attached to the last word of the sentence."""


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
    if rest in _ENDINGS:
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
    if any(following.startswith(each) for each in _BOTH.get(word, ())):
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
_NO_NOUNS = frozenset(
    "없이 같이 많이 깊이 높이 멀리 굳이 일이 길이 더는 다시는 이제는 지금은 결국은 사실은 어느새는 때는 곳은 "
    "아직도 그래도 아무도 조금도 하나도 그리고도 또는 혹은 붉은 검은 젊은 늙은 낡은 작은 깊은 높은 많은 좋은 굳은 짙은 "
    "얇은 두꺼운 "
    "같은 하는 있는 없는 오는 가는 보는 웃는 우는 죽은 남은 앉은 젖은 묵은 밝은 맑은 넓은 좁은 굵은 얕은".split()
)
_SAFE = re.compile(
    r"죽|숨[을이]|쓰러|누[워웠운]|식[었어는]|굳[었어]|잠[들든]|묻[혔힌히]|없|사라|움직이지|있[다었는]|이었|이다"
    r"|였다|아니|됐|되[었는]|남[았겼겨는]"
    r"|잊|보[였인이]|썩|흘[렸린리렀]|흐[른르]|강했|약했|사랑했|미워했|원했|알[았고]|믿[었는]|두려워|바랐|싫어"
    r"|좋아|아꼈|맡겼|가르[쳤친]"
    r"|약속했|살[았던]|태어|자랐|지냈|지켰|이끌었|만들었|지었|썼었|했었|었었|았었|때문|뿐|터였|것이|셈이|듯"
    r"|법이|마련|모양|만하|당했|맞았"
    r"|무너[졌진]|떨어[졌진지]|가라앉|떠[올내오]|불[탔탄]|매달|걸[렸려린]|끌려|실[렸려린]|갇[혔혀힌]|생각나|그[립리]"
)
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
    others = [each.group() for each in _SUBJECTS.finditer(clause) if each.group() not in _NO_NOUNS]
    if len(others) > 1 or not rest.rstrip(".!?。！？… \"”'").endswith("다"):
        return False
    words = rest.split()
    if subject["particle"] in "이가" and _adnominal(words[0]):
        return False
    return _SAFE.search(" ".join(words[-2:])) is None


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


_NUMBERED_WORDS = "호 번 층 권 장 편 화 회 부 급 역 방 문 판 탄 동 반 조 제 실 구 선".split()
_NUMBERED_ENDS = (
    "호실 번호 코드 강의실 교실 객실 병실 사물함 보관함 챕터 레벨 단계 등급 구역 게이트 노선 버스 출구 라운드 "
    "시즌 모델 타입 버전 넘버 트랙 채널 플랫폼 승강장 호기 열차 부두 에피소드 스테이지"
).split()
_NOT_NUMBERED = "".join(
    [rf"(?<!(?<![가-힣]){word})" for word in _NUMBERED_WORDS] + [f"(?<!{end})" for end in ("호", "번", *_NUMBERED_ENDS)]
)
_NO_KEY = r"(?:(?<!열쇠)(?<!카드)(?<!키)|(?!\s+\d{3}))"
"""Together with ``_NOT_NUMBERED``, excludes words with a number of their own: 방 3 and 3번 are no counts, but 가방 3 is
one. 열쇠 101 is the key of a room."""


GRAMMAR = Grammar(
    letters="가-힣",
    run="[가-힣]+",
    terms=_terms,
    content=_content,
    function=frozenset(
        "습니 니다 했습 었습 았습 였습 합니 입니 어요 아요 해요 에요 예요 세요 네요 군요 지요 했어 었어 았어 였어 했다 "
        "었다 았다 였다 한다 된다 이다 있다 있었 있는 했던 었던 았던 하는 하고 했고 었고 았고 해서 어서 아서 하면 으면 "
        "지만 했지 었지 았지 하지 인데 는데 은데 으니 하니 려고 라고 다고 면서 더라 잖아 하며 으며 이며 하여 을까 할까 "
        "할게 을게 겠다 겠어 겠습 것은 것을 것이".split()
    ),
    asking=frozenset(
        "무슨 뭐 뭘 뭔 무엇 누가 누구 어디 어디서 언제 언제까지 왜 어떻게 얼마 얼마나 몇 어느 어떤".split()
    ),
    does=does,
    spelled=SPELLED,
    number=value,
    countable=rf"[^A-Z]*[가-힣]{_NOT_NUMBERED}{_NO_KEY}",
    particles=BEHIND_NAMES,
    particles_of_long=BEHIND_LONG_NAMES,
)
