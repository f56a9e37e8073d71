"""Normalizes keys and words of a block, so that different spellings compare equal."""

from __future__ import annotations

from saga_core.language import normalized


def squash(text: str) -> str:
    """``text`` in the form used to compare keys and words: NFKC, case folded, letters and digits only."""
    return "".join(filter(str.isalnum, normalized("NFKC", text).casefold()))
