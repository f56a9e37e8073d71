"""Unicode normalisation: the one door through which text enters SAGA."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_SPACES = re.compile(r"\s+")


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
        text = unicodedata.normalize("NFC", text)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def clean_name(text: str) -> str:
    """A name as it is stored: NFC, inner white space collapsed to one space, ends stripped."""
    return _SPACES.sub(" ", nfc(text)).strip()


@lru_cache(maxsize=16_384)
def fold_name(text: str) -> str:
    """A name as it is compared: NFKC, case folded, without white space.

    ``fold_name("어둠의 숲") == fold_name("어둠의숲")``: spacing of Korean compounds varies by writer.
    """
    return _SPACES.sub("", unicodedata.normalize("NFKC", text)).casefold()


def caseless(text: str) -> bool:
    """Whether a text has letters of a script without capitals: Hangul, kana, Han characters and the like."""
    return not text.isascii() and any(map(_without_case, text))


@lru_cache(maxsize=8_192)
def _without_case(char: str) -> bool:
    """Terms and the beginnings of words are asked about at every turn, and are of few letters."""
    return char.isalpha() and char.lower() == char.upper()
