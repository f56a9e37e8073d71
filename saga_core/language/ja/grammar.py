"""Japanese index terms are bigrams, and also each single Han character.

In measurements with questions in other words than the story's, this finds as much as morphological analysers with
dictionaries of 40 to 250 MB (docs/dependencies.md has the figures), without any dependency. Kana are folded to hiragana
and Han characters to simplified forms, so that all spellings of a word give one term.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import chain

from saga_core.language.grammar import Grammar, GrammarWords
from saga_core.language.han import BEHIND, COUNTABLE, SPELLED, numbers_in, simplified, value
from saga_core.language.han import LETTERS as _HAN

_WORDS = GrammarWords(__file__)

# -- the spelling of kana --------------------------------------------------------------------------------------

_HALF_WIDTH = re.compile("[\uff66-\uff9f]+")
_V = re.compile("ゔ([ぁぃぇぉ]?)")
_VOICED = {"ぁ": "ば", "ぃ": "び", "": "ぶ", "ぇ": "べ", "ぉ": "ぼ"}
_TO_HIRAGANA = {code: code - 0x60 for code in range(0x30A1, 0x30F7)}
_LONG = "ー"
_LENGTHENED = re.compile("([エケセテネヘメレゲゼデベペェ])イ|([オコソトノホモヨロヲゴゾドボポォョ])ウ")
"""Matches a long vowel written as a letter. Foreign names are written with the mark or the letter: レー, レイ."""


def folded(text: str) -> str:
    """``text`` in hiragana, with ヴァ as バ and so on, and without long vowel marks: サーバー is サーバ is さーば.

    Half-width kana become full-width, as in NFKC. The result may be shorter than ``text``.
    """
    text = _HALF_WIDTH.sub(lambda found: unicodedata.normalize("NFKC", found.group()), text)
    text = _LENGTHENED.sub(lambda found: found[1] or found[2], text)
    text = text.translate(_TO_HIRAGANA).replace(_LONG, "")
    return _V.sub(lambda found: _VOICED[found[1]], text)


# -- index terms -----------------------------------------------------------------------------------------------

_KANA = "\u3041-\u3096\u309d\u309e\u30a1-\u30fa\u30fc-\u30fe\uff66-\uff9f"
_IS_HAN = re.compile(f"[{_HAN}]")
_CONTENT = re.compile(f"[{_HAN}]+|[\u30a1-\u30fa\u30fc\uff66-\uff9f]{{2,}}")
_JOINED = re.compile(f"[{_HAN}の]+|[\u30a1-\u30fa\u30fc\uff66-\uff9f]{{2,}}")
_ASKING = frozenset("何誰")

_KATAKANA = re.compile("[\u30a1-\u30fa\u30fc]")
_HIRAGANA = re.compile("[\u3041-\u3096]")
_ONE_HAN_AHEAD = re.compile("[のとはがをにへもでや]")
_BEHIND_HIRAGANA = re.compile("|".join(_WORDS["behind_hiragana"]))


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
    function=frozenset(_WORDS["function"]),
    stands=_stands,
    named=f"[{_KANA}]",
    spelled=SPELLED,
    joined=f"{BEHIND}{SPELLED}",
    number=value,
    countable=COUNTABLE,
    fragments={"spelled": SPELLED},
)
