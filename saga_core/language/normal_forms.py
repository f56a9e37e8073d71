"""Unicode normalisation: the one door through which text enters SAGA."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Literal

_SPACES = re.compile(r"\s+")
_RUN = 30
"""Marks in a row that are sorted together, as in the Stream-Safe Text Format (Unicode Standard Annex 15)."""
_JOINER = "\u034f"
"""It shows nothing, and marks do not move across it."""
_STARTS = re.compile("[ -~\u3041-\u3094\u4e00-\u9fff\uac00-\ud7a3]")
"""A character that no normal form joins with the one before it."""
_FEW = 500
"""Characters of a text of which even one run of marks is sorted in no time."""


def normalized(form: Literal["NFC", "NFD", "NFKC", "NFKD"], text: str) -> str:
    """``text`` in a normal form, in time proportional to its length.

    To sort the marks on one letter takes Python the square of their number, and nobody else runs meanwhile: 80 KB
    take a second. So more than 30 in a row are parted by U+034F, which shows nothing. No writing has as many.
    """
    if text.isascii():
        return text
    if len(text) > _FEW and not unicodedata.is_normalized(form, text):
        text = _long_run().sub(_parted, text)
    return unicodedata.normalize(form, text)


def pieces(text: str, size: int) -> Iterator[str]:
    """``text`` in pieces of ``size`` characters or a little more, whose normal forms together are that of the text."""
    start = 0
    while start < len(text):
        cut = _STARTS.search(text, start + size)
        end = cut.start() if cut is not None else len(text)
        yield text[start:end]
        start = end


def _parted(run: re.Match[str]) -> str:
    return run.group() + _JOINER


@cache
def _long_run() -> re.Pattern[str]:
    """So many marks that there are too many with the next one."""
    marks = "".join(char for char in map(chr, range(0x300, 0x1F000)) if unicodedata.combining(char))
    marks += "\u0f73\u0f75\u0f81\uff9e\uff9f"  # no marks themselves, and made of marks
    return re.compile(f"[{marks}]{{{_RUN}}}(?=[{marks}])")


def nfc(text: str) -> str:
    """Canonical composition, so that Hangul typed on any system compares equal.

    Names, keys and stored text go through here once, where they enter. NUL and lone surrogates cannot be
    stored by most engines; each is replaced by U+FFFD.
    """
    if "\0" in text:
        text = text.replace("\0", "\ufffd")
    if text.isascii():
        return text
    if not unicodedata.is_normalized("NFC", text):
        text = normalized("NFC", text)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def clean_name(text: str) -> str:
    """A name as it is stored: NFC, inner white space collapsed to one space, ends stripped."""
    return " ".join(nfc(text).split())


@lru_cache(maxsize=16_384)
def fold_name(text: str) -> str:
    """A name as it is compared: NFKC, case folded, without white space.

    ``fold_name("어둠의 숲") == fold_name("어둠의숲")``: spacing of Korean compounds varies by writer.
    """
    return _SPACES.sub("", normalized("NFKC", text)).casefold()


@lru_cache(maxsize=16_384)
def caseless(text: str) -> bool:
    """Whether a text has letters of a script without capitals: Hangul, kana, Han characters and the like."""
    return not text.isascii() and any(map(_without_case, text))


@lru_cache(maxsize=8_192)
def _without_case(char: str) -> bool:
    """Terms and the beginnings of words are asked about at every turn, and are of few letters."""
    return char.isalpha() and char.lower() == char.upper()
