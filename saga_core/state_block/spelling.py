"""How keys and words of a block are compared, however they are spelled."""

from __future__ import annotations

import unicodedata


def squash(text: str) -> str:
    """``text`` as keys and words are compared: NFKC, case folded, letters and digits only."""
    return "".join(char for char in unicodedata.normalize("NFKC", text).casefold() if char.isalnum())
