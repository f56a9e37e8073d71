"""Languages: one folder each, and what is the same in all of them: Unicode forms, detection, index terms, mentions."""

from __future__ import annotations

from saga_core.language.detection import detect, language_of_files
from saga_core.language.ko.particles import PARTICLES, has_final, is_hangul, josa, mentions, mentions_folded
from saga_core.language.ko.particles import particle_stems as particle_stems
from saga_core.language.language import PARTS, Language
from saga_core.language.normal_forms import caseless, clean_name, fold_name, nfc
from saga_core.language.registry import DEFAULT, every, known, language_of, primary
from saga_core.language.tokens import FUNCTION_WORDS, KOREAN_ENDINGS, content_words, terms

__all__ = [
    "DEFAULT",
    "FUNCTION_WORDS",
    "KOREAN_ENDINGS",
    "PARTICLES",
    "PARTS",
    "Language",
    "caseless",
    "clean_name",
    "content_words",
    "detect",
    "every",
    "fold_name",
    "has_final",
    "is_hangul",
    "josa",
    "known",
    "language_of",
    "language_of_files",
    "mentions",
    "mentions_folded",
    "nfc",
    "particle_stems",
    "primary",
    "terms",
]
