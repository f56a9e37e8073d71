"""The words of the volatile block."""

from __future__ import annotations

from saga_core.language import language_of
from saga_core.language.labels import Labels as Labels


def labels(language: str) -> Labels:
    """The words of a language; English for one that has none."""
    return language_of(language).labels
