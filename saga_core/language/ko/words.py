"""Korean index terms are syllable bigrams, because whole words do not work as terms.

A word first loses its longest particle. It gives its bigrams and also its first syllable, which is often the only part
that the forms of a verb ("끊겨서", "끊어져") or of a noun of one syllable ("숲에", "숲은") share.
"""

from __future__ import annotations

from saga_core.language.ko.behind_names import BEHIND_LONG_NAMES, BEHIND_NAMES
from saga_core.language.ko.particles import bigrams
from saga_core.language.ko.stripping import stripped
from saga_core.language.words import WordRules

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


WORDS = WordRules(
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
    particles=BEHIND_NAMES,
    particles_of_long=BEHIND_LONG_NAMES,
)
