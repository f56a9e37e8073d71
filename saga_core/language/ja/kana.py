"""Normalizes the spelling of kana for matching."""

from __future__ import annotations

import re
import unicodedata

_HALF_WIDTH = re.compile("[\uff66-\uff9f]+")
_V = re.compile("ゔ([ぁぃぇぉ]?)")
_VOICED = {"ぁ": "ば", "ぃ": "び", "": "ぶ", "ぇ": "べ", "ぉ": "ぼ"}
_HIRAGANA = {code: code - 0x60 for code in range(0x30A1, 0x30F7)}
_LONG = "ー"
_LENGTHENED = re.compile("([エケセテネヘメレゲゼデベペェ])イ|([オコソトノホモヨロヲゴゾドボポォョ])ウ")
"""Matches a long vowel written as a letter. Foreign names are written with the mark or the letter: レー, レイ."""


def folded(text: str) -> str:
    """``text`` in hiragana, with ヴァ as バ and so on, and without long vowel marks: サーバー is サーバ is さーば.

    Half-width kana become full-width, as in NFKC. The result may be shorter than ``text``.
    """
    text = _HALF_WIDTH.sub(lambda found: unicodedata.normalize("NFKC", found.group()), text)
    text = _LENGTHENED.sub(lambda found: found[1] or found[2], text)
    text = text.translate(_HIRAGANA).replace(_LONG, "")
    return _V.sub(lambda found: _VOICED[found[1]], text)
