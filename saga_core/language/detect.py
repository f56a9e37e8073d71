"""Telling the language of a text by its script."""

from __future__ import annotations

from typing import Literal

Language = Literal["ko", "en"]

_TOLD_BY = 16_000
"""Characters that tell a text's language."""


def language_of(text: str, default: str = "en") -> Literal["ko", "en"]:
    """``ko`` when a text is written in Hangul for the most part, ``en`` when in Latin letters, else ``default``."""
    text = text[:_TOLD_BY]
    hangul = sum("가" <= char <= "힣" for char in text)
    latin = sum(char.isascii() and char.isalpha() for char in text)
    if hangul * 2 > latin:
        return "ko"
    return "en" if latin or default != "ko" else "ko"
