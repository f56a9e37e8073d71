"""Korean index terms are syllable bigrams, because whole words do not work as terms.

A word first loses its longest particle. It gives its bigrams and also its first syllable, which is often the only part
that the forms of a verb ("끊겨서", "끊어져") or of a noun of one syllable ("숲에", "숲은") share.
"""

from __future__ import annotations

from saga_core.language.grammar import Grammar
from saga_core.language.ko.behind_names import BEHIND_LONG_NAMES, BEHIND_NAMES
from saga_core.language.ko.numbers import SPELLED, value
from saga_core.language.ko.particles import bigrams
from saga_core.language.ko.predicates import does
from saga_core.language.ko.stripping import stripped

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
