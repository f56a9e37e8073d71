"""Kana: one spelling of what is written in several, for matching."""

from __future__ import annotations

import re
import unicodedata

_HALF_WIDTH = re.compile("[\uff66-\uff9f]+")
_V = re.compile("ゔ([ぁぃぇぉ]?)")
_VOICED = {"ぁ": "ば", "ぃ": "び", "": "ぶ", "ぇ": "べ", "ぉ": "ぼ"}
_HIRAGANA = {code: code - 0x60 for code in range(0x30A1, 0x30F7)}
_LONG = "ー"
_LENGTHENED = re.compile("([エケセテネヘメレゲゼデベペェ])イ|([オコソトノホモヨロヲゴゾドボポォョ])ウ")
"""In foreign names a long vowel is written with its mark or as a letter: レー, レイ."""


def folded(text: str) -> str:
    """``text`` in hiragana, with ヴァ as バ and so on, and without long vowel marks: サーバー is サーバ is さーば.

    Full width, as NFKC has it. May be shorter than ``text``.
    """
    text = _HALF_WIDTH.sub(lambda found: unicodedata.normalize("NFKC", found.group()), text)
    text = _LENGTHENED.sub(lambda found: found[1] or found[2], text)
    text = text.translate(_HIRAGANA).replace(_LONG, "")
    return _V.sub(lambda found: _VOICED[found[1]], text)
