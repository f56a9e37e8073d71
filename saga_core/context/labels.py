"""The words of the volatile block."""

from __future__ import annotations

from saga_core.language import Labels as Labels
from saga_core.language import language_of


def labels(language: str) -> Labels:
    """The words of a language; English for one that has none."""
    return language_of(language).labels
