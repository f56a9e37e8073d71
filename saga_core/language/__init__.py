"""Languages: one folder each, and what is the same in all of them: Unicode forms, detection, index terms, mentions."""

from __future__ import annotations

from saga_core.language.detection import detect, language_of_files
from saga_core.language.han import simplified
from saga_core.language.ko.particles import has_final, is_hangul, josa, particle_stems
from saga_core.language.language import PARTS, Language
from saga_core.language.mentioning import mentions, mentions_folded, particles, standing
from saga_core.language.normal_forms import caseless, clean_name, fold_name, nfc
from saga_core.language.registry import DEFAULT, every, known, language_of, primary
from saga_core.language.tokens import content_words, function_terms, match_text, terms

__all__ = [
    "DEFAULT",
    "PARTS",
    "Language",
    "caseless",
    "clean_name",
    "content_words",
    "detect",
    "every",
    "fold_name",
    "function_terms",
    "has_final",
    "is_hangul",
    "josa",
    "known",
    "language_of",
    "language_of_files",
    "match_text",
    "mentions",
    "mentions_folded",
    "nfc",
    "particle_stems",
    "particles",
    "primary",
    "simplified",
    "standing",
    "terms",
]
