"""Japanese index terms are bigrams, and also each single Han character.

In measurements with questions in other words than the story's, this finds as much as morphological analysers with
dictionaries of 40 to 250 MB (docs/dependencies.md has the figures), without any dependency. Kana are folded to hiragana
and Han characters to simplified forms, so that all spellings of a word give one term.
"""

from __future__ import annotations

import re
from itertools import chain

from saga_core.language.grammar import Grammar
from saga_core.language.han import LETTERS as _HAN
from saga_core.language.han import numbers_in, simplified
from saga_core.language.han_counts import BEHIND, COUNTABLE, SPELLED, value
from saga_core.language.ja.kana import folded

_KANA = "\u3041-\u3096\u309d\u309e\u30a1-\u30fa\u30fc-\u30fe\uff66-\uff9f"
_IS_HAN = re.compile(f"[{_HAN}]")
_CONTENT = re.compile(f"[{_HAN}]+|[\u30a1-\u30fa\u30fc\uff66-\uff9f]{{2,}}")
_JOINED = re.compile(f"[{_HAN}の]+|[\u30a1-\u30fa\u30fc\uff66-\uff9f]{{2,}}")
_COUNTER = re.compile("[人枚本個匹頭冊日年月週回歳]")
_ASKING = frozenset("何誰")

_KATAKANA = re.compile("[\u30a1-\u30fa\u30fc]")
_HIRAGANA = re.compile("[\u3041-\u3096]")
_ONE_HAN_AHEAD = re.compile("[のとはがをにへもでや]")
_BEHIND_HIRAGANA = re.compile(
    "(?:さん|ちゃん|くん|さま|たち|から|まで|より|って|という|である|です|だ|は|が|を|に|へ|と|も|の|で|や|か|な|よ|ね)"
)


def _terms(run: str) -> tuple[str, ...]:
    plain = folded(simplified(run))
    if len(plain) < 2:
        return (plain,) if plain else ()
    singles = [char for char in plain if _IS_HAN.match(char)]
    return (*(plain[at : at + 2] for at in range(len(plain) - 1)), *singles, *numbers_in(plain))


def _content(run: str) -> tuple[str, ...]:
    """Katakana words, and Han characters in pairs. Hiragana are left out, because most of them are inflection."""
    found: list[str] = []
    for part in _CONTENT.findall(simplified(run)):
        if len(part) <= 2 or not _IS_HAN.match(part):
            found.append(part)
        else:
            found += [part[at : at + 2] for at in range(len(part) - 1)]
    return tuple(word for word in found if word not in _ASKING)


def _particular(run: str) -> tuple[str, ...]:
    """Terms without hiragana, which are mostly inflections as rare as names. "の" is kept, because it joins nouns."""
    return tuple(chain.from_iterable(map(_terms, _JOINED.findall(run))))


def _stands(text: str, start: int, end: int) -> bool:
    """A katakana name must not touch other katakana. A hiragana name must precede a particle or other letters."""
    first, last = text[start], text[end - 1]
    before, behind = text[start - 1 : start], text[end : end + 1]
    if _KATAKANA.match(first) and _KATAKANA.match(before):
        return False
    if _KATAKANA.match(last):
        return _KATAKANA.match(behind) is None
    if _HIRAGANA.match(first) and _HIRAGANA.match(before) and not _ONE_HAN_AHEAD.match(before):
        return False
    if _HIRAGANA.match(last) and _HIRAGANA.match(behind):
        return _BEHIND_HIRAGANA.match(text, end) is not None
    return True


GRAMMAR = Grammar(
    letters=_KANA,
    run=f"[{_HAN}]*[{_KANA}][{_KANA}{_HAN}]*",
    terms=_terms,
    content=_content,
    particular=_particular,
    function=frozenset(
        "です ます した して てい いた いる ない った こと もの から まで より ので のに には では とは への での "
        "ても とも だっ "
        "たの のは のが のを だろ でし まし しょ よう そう とい いう この その あの どの どこ だれ なに いつ どう "
        "なぜ どれ けど "
        "っけ たっ んだ だん たん なん です すか たか のか るの いの がい はい てく くれ なっ さん くん ちゃ にな "
        "れた れて せて "
        "える ある あっ これ それ あれ わた たし あな なた 何 誰 何だ 誰に 誰が 誰の".split()
    ),
    stands=_stands,
    named=f"[{_KANA}]",
    spelled=SPELLED,
    joined=f"{BEHIND}{SPELLED}",
    number=value,
    countable=COUNTABLE,
    fragments={"spelled": SPELLED},
)
