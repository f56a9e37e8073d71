"""Text at the door: Unicode forms, particles, stems, index terms, and telling a language by its script."""

from __future__ import annotations

from saga_core.language.detect import Language, language_of
from saga_core.language.korean import PARTICLES, has_final, is_hangul, josa, mentions, mentions_folded, particle_stems
from saga_core.language.normal_forms import clean_name, fold_name, nfc
from saga_core.language.tokens import FUNCTION_WORDS, KOREAN_ENDINGS, content_words, terms

__all__ = [
    "FUNCTION_WORDS",
    "KOREAN_ENDINGS",
    "PARTICLES",
    "Language",
    "clean_name",
    "content_words",
    "fold_name",
    "has_final",
    "is_hangul",
    "josa",
    "language_of",
    "mentions",
    "mentions_folded",
    "nfc",
    "particle_stems",
    "terms",
]
