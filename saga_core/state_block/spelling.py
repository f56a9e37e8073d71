"""How keys and words of a block are compared, however they are spelled."""

from __future__ import annotations

from saga_core.language import normalized


def squash(text: str) -> str:
    """``text`` as keys and words are compared: NFKC, case folded, letters and digits only."""
    return "".join(filter(str.isalnum, normalized("NFKC", text).casefold()))
