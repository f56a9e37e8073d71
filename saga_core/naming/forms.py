"""Forms of a name: what else it may be called without being somebody else."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator

from saga_core.language import clean_name, fold_name, is_hangul, particle_stems

_ARTICLE = re.compile(r"(?:the|an?) (?=.)", re.I)
_COMMON = re.compile(r"(?:an?|some|the) (?=[a-z])")
_REMARK = re.compile(r"(?P<head>.*\S)\s*[(（](?P<remark>[^()（）\d]{2,})[)）]")
_POSSESSIVE = re.compile(r"(?P<head>.*\w)['’]s")
_INDEFINITE = re.compile(r"(?:an?|some|another) (?=.)", re.I)
_NICKNAME = re.compile(r"(?P<before>\S.*?)\s+[\"'“‘](?P<inner>[^\"'“”‘’]{2,})[\"'”’]\s*(?P<after>\S.*)")
_HONORIFICS = ("님", "씨", "양", "군", "공", "경", "옹")
_TITLES_KO = frozenset(
    "왕 여왕 대왕 공주 왕자 공작 백작 남작 족장 대장 단장 장로 영감 할아버지 할머니 아저씨 아주머니 아줌마 "
    "노인 소년 소녀 선생 스승 사부  "
    "기사 마법사 상인 약초상 대장장이 사제 신부 수녀 용병 선장 형 누나 언니 오빠 님 씨 양 군 경 공 "
    "전하 폐하 각하 어르신 누님 형님 아저씨 녀석 꼬마 마녀 교수 박사 사령관 황제 황후 황자 황녀 후작 자작 영주 "
    "장군 제독 검성 아가씨 하녀장 시녀장 시종장 집사 의사 의원 간호사 촌장 이장 길드장 상단주 교장 학장 부관 참모 "
    "재상 승상 대신 도사 도인 스님 무사 검사 검객 궁수 사냥꾼 시인 음유시인 암살자 도적 병사 정찰병 경비병 경비대장 "
    "수비대장 요리사 하녀 시녀 시종 하인 광대 주교 대주교 추기경 교황 현자 예언자 감독관 조사관 수사관 형사 "
    "소장 중위 대위 소위 중사 상사 하사 병장 대령 중령 소령".split()
)
_TITLES_EN = frozenset(
    "captain lady lord sir dame old young mother father brother sister the doctor dr master mistress miss mr "
    "mrs ms king queen prince  "
    "princess duke count baron reeve sergeant commander general professor saint st uncle aunt elder chief "
    "bishop abbot abbess prior friar priest priestess knight squire guard merchant judge marshal admiral lieutenant "
    "corporal major colonel warden archmage mage wizard witch innkeeper constable sheriff inspector detective officer "
    "viscount earl marquis emperor empress chancellor minister deacon cardinal madam madame monsieur don capt sgt lt "
    "prof rev reverend mayor governor warlord duchess countess baroness man woman boy girl "
    "ser nurse widow cook maid butler private agent sailor bosun scout ranger archer champion seer oracle "
    "shaman".split()
)
_MANY = frozenset(
    "궁수 병사 정찰병 경비병 도적 무사 검사 검객 사냥꾼 시인 용병 상인 하녀 하인 광대 소년 소녀 노인 꼬마 녀석 "
    "시녀 시종 아저씨 아주머니 아줌마 할머니 할아버지".split()
)
"""Korean titles that many bear at the same place."""
_WOMEN = frozenset(
    "lady dame mother sister mistress miss mrs ms queen princess aunt priestess witch empress madam madame abbess "
    "duchess countess baroness 여왕 공주 할머니 아주머니 아줌마 소녀 수녀 누나 언니 누님 마녀 황후 황녀".split()
)
_MEN = frozenset(
    "lord sir father brother master mr king prince duke count baron uncle emperor monsieur don abbot friar "
    "대왕 왕자 할아버지 영감 아저씨 소년 형 오빠 형님 황자".split()
)
_FAMILIES = frozenset(
    "김이박최정강조윤장임한오서신권황안송류유홍전고문양손배백허남심노하곽성차주우구민진지엄채원방공현함변염여추"
)
"""Korean family names of one syllable."""
_OF = frozenset("von van de la der den del di da du le 폰 반 드 데 디 다 라 르".split())
"""What stands between a given and a family name."""
_ORDINAL = re.compile(r"[ivx]{1,5}|\d{1,2}세|(?:1st|2nd|3rd|\dth)")
_LEAST_FUZZY = 7
"""Letters that a name needs before one of them may be mistyped; of Hangul, the letters of its syllables."""


def forms(name: str) -> Iterator[str]:
    """A name, and what it may be a form of: without a Korean particle or honorific, an article, or a remark."""
    name = clean_name(name)
    seen = set()
    for form in _forms(name):
        if form and form not in seen:
            seen.add(form)
            yield form


def _forms(name: str) -> Iterator[str]:
    yield from particle_stems(name)
    for stem in particle_stems(name):  # "서연이는" is "서연이" with a particle
        yield from particle_stems(stem)
    yield bare(name)
    yield name.strip("'‘’\"“”「」『』")
    if owner := _POSSESSIVE.fullmatch(name):
        yield owner["head"]
    remark = _REMARK.fullmatch(name)
    if remark:
        yield remark["head"]
    for stem in (name, *particle_stems(name)):
        for honorific in _HONORIFICS:
            head = stem.removesuffix(honorific)
            if head != stem and len(head.rstrip()) >= 2 and is_hangul(head.rstrip()[-1]):
                yield head.rstrip()


def bare(name: str) -> str:
    """``name`` without an English article."""
    return _ARTICLE.sub("", name, count=1) if _ARTICLE.match(name) else name


def uncommon(name: str) -> str:
    """What a thing is called by itself: ``a rope`` is a rope. Names with capitals keep their article."""
    return _COMMON.sub("", name, count=1)


def fold(name: str) -> str:
    """A name as it is compared: without spaces and hyphens, all apostrophes alike."""
    return fold_name(name).replace("’", "'").replace("-", "")


def indefinite(name: str) -> bool:
    """Whether a name begins as somebody's who was not there before: ``a doctor``."""
    return _INDEFINITE.match(name) is not None


def words_of(name: str) -> list[str]:
    """The words of a name as they are compared."""
    return [fold(word) for word in name.split(" ")]


def untitled(words: list[str]) -> list[str]:
    """``words`` without titles in front and behind; all of them when nothing else would be left."""
    left = [word for word in words if word.strip(".") not in _TITLES_EN]
    while len(left) > 1 and _is_korean_title(left[-1]):
        left = left[:-1]
    while len(left) > 1 and _is_korean_title(left[0]):
        left = left[1:]
    return left or words


def same_name(one: list[str], other: list[str]) -> bool:
    """Whether ``one`` is ``other``, a known name, with more or fewer titles and names around it, word by word.

    Not when they say that one is a man and one a woman, or number two of a name differently.
    """
    if _opposite(one, other) or _ordinals(one) - _ordinals(other):
        return False
    if not _epithet(one):
        other = other[: len(other) - len(_epithet(other))]
    if not _ordinals(one):
        other = [word for word in other if not _ORDINAL.fullmatch(word)] or other
    plain = untitled(one)
    if _family_and_title(one, other) or (one[-1:] != plain[-1:] and one[-1] in _HONORIFICS and plain == other[:1]):
        return True
    return any(_in_other_words(each, other) for each in ([one] if plain == one else [one, plain])) or (
        plain != one and plain == other
    )


def _in_other_words(one: list[str], other: list[str]) -> bool:
    if _called(one, other) or _called(other, one):
        return True
    shorter, longer = sorted((one, other), key=len)
    if len(one) == 1 and len(known := untitled(other)) == 1 and _given(one[0], known[0]):
        return True
    if "".join(one) == other[-1]:  # of a name with a hyphen
        return True
    if len(shorter) == len(longer):
        return False
    return longer[-len(shorter) :] == shorter or (shorter == longer[: len(shorter)] and _office(shorter))


def _called(one: list[str], other: list[str]) -> bool:
    """Whether ``one`` is the given name alone of ``other``, which has a family name too, as names in Europe do."""
    names = [word for word in _without_front_titles(other) if word not in _OF]
    if len(names) != 2 or "".join(one) != names[0] or is_title(names[0]) or is_title(names[1]):
        return False
    return any(word in _OF for word in other[1:]) or (names[0].isascii() and len(names[0]) > 2)


def _without_front_titles(words: list[str]) -> list[str]:
    while len(words) > 1 and words[0].strip(".") in _TITLES_EN:
        words = words[1:]
    return words


def _office(words: list[str]) -> bool:
    """Whether words before a name tell by themselves who is meant: ``둘째 왕자``, ``goblin king``; no bare title."""
    last = words[-1]
    if len(words) > 1 and last in _TITLES_EN:
        return True
    long = [title for title in _TITLES_KO - _MANY if len(title) > 1 and last.endswith(title)]
    return bool(long) and (len(words) > 1 or all(len(last) > len(title) for title in long))


def _given(one: str, other: str) -> bool:
    """Whether one is a Korean name of three syllables, and the other is it without the family name."""
    shorter, longer = sorted((one, other), key=len)
    return (
        len(shorter) == 2
        and len(longer) == 3
        and all(is_hangul(char) for char in longer)
        and longer[0] in _FAMILIES
        and longer[1:] == shorter
        and not is_title(shorter)
    )


def _family_and_title(one: list[str], other: list[str]) -> bool:
    """Whether ``one`` is a Korean family name with a title, and ``other`` bears both: ``강 장군``."""
    named = untitled(other)
    return (
        len(one) == 2
        and one[0] in _FAMILIES
        and one[1].removesuffix("님") in other
        and len(named) == 1
        and len(named[0]) == 3
        and named[0].startswith(one[0])
    )


def traces(words: Iterable[str]) -> set[str]:
    """Of two names that ``same_name`` takes for one, both have at least one of these."""
    every = list(words)
    found = {*every, "".join(every)}
    for word in tuple(found):
        if len(word) == 3 and word[0] in _FAMILIES:
            found |= {word[1:], word[0]}
    return found


def known_as(name: str) -> tuple[str, ...]:
    """A known name, and where a nickname stands in it in quotation marks, the name without it and it alone."""
    found = _NICKNAME.fullmatch(name)
    if found is None:
        return (name,)
    return (name, f"{found['before']} {found['after']}".strip(), found["inner"])


def _opposite(one: list[str], other: list[str]) -> bool:
    def is_one_of(words: list[str], kind: frozenset[str]) -> bool:
        return any({word.strip("."), word.removesuffix("님")} & kind for word in words)

    return (is_one_of(one, _WOMEN) and is_one_of(other, _MEN)) or (is_one_of(one, _MEN) and is_one_of(other, _WOMEN))


def _epithet(words: list[str]) -> list[str]:
    """What tells of where or how somebody is, behind the name: ``of Marr``, ``the Tall``."""
    at = next((at for at, word in enumerate(words) if at and word in ("of", "the", "from")), len(words))
    return words[at:]


def _ordinals(words: list[str]) -> set[str]:
    return {word for word in words[1:] if _ORDINAL.fullmatch(word)}


def _is_korean_title(word: str) -> bool:
    return word in _TITLES_KO or word.removesuffix("님") in _TITLES_KO


def is_title(word: str) -> bool:
    """Whether a word by itself is a title and no name."""
    return fold_name(word).strip(".") in _TITLES_EN or _is_korean_title(word)


def mistyped(one: str, other: str) -> bool:
    """Whether two folded names differ by one replaced letter, or by two neighbours that changed places."""
    left, right = _letters(one), _letters(other)
    if len(left) != len(right) or len(left) < _LEAST_FUZZY or left == right or left[0] != right[0]:
        return False
    if any(map(str.isdigit, left + right)):
        return False
    from rapidfuzz.distance import OSA  # a hundredth of a second, which a start does without

    return OSA.distance(left, right, score_cutoff=1) == 1


def _letters(text: str) -> str:
    return unicodedata.normalize("NFD", text)
