"""Languages: one folder for each, and the shared parts: Unicode forms, detection, index terms, mentions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from saga_core.language.han import simplified
from saga_core.language.ja.grammar import folded as folded_kana
from saga_core.language.ko.grammar import ends_word, is_hangul, josa, maybe_noun, particle_stems, short_nouns
from saga_core.language.language import (
    DEFAULT,
    UNSAID,
    Language,
    all_of,
    any_of,
    detect,
    every,
    has_katakana,
    is_kana,
    is_unspaced,
    known,
    language_of,
    language_of_files,
    primary,
)
from saga_core.language.normal_forms import (
    LONG,
    caseless,
    caseless_letter,
    clean_name,
    fold_name,
    looked_through,
    nfc,
    normalized,
    pieces,
    without_empty_lines,
    without_signs,
)
from saga_core.language.tables import (
    NAME_PATTERN,
    NEVER,
    Comparison,
    CurationWords,
    ExtractionWords,
    Findings,
    Labels,
    PastWords,
    StoryWords,
    Table,
    Texts,
)
from saga_core.language.tokens import (
    content_words,
    folded_terms,
    function_terms,
    hangs_on,
    languages_in,
    match_text,
    mentions,
    mentions_folded,
    particles,
    particular_terms,
    standing,
    telling_nothing,
    terms,
)
from saga_core.lazy_face import lazy_face

if TYPE_CHECKING:
    from saga_core.language.debts import Says, as_it_stands, is_debt, is_settled, sentences_of, settled, telling

__all__ = [
    "DEFAULT",
    "LONG",
    "NAME_PATTERN",
    "NEVER",
    "UNSAID",
    "Comparison",
    "CurationWords",
    "ExtractionWords",
    "Findings",
    "Labels",
    "Language",
    "PastWords",
    "Says",
    "StoryWords",
    "Table",
    "Texts",
    "all_of",
    "any_of",
    "as_it_stands",
    "caseless",
    "caseless_letter",
    "clean_name",
    "content_words",
    "detect",
    "ends_word",
    "every",
    "fold_name",
    "folded_kana",
    "folded_terms",
    "function_terms",
    "hangs_on",
    "has_katakana",
    "is_debt",
    "is_hangul",
    "is_kana",
    "is_settled",
    "is_unspaced",
    "josa",
    "known",
    "language_of",
    "language_of_files",
    "languages_in",
    "looked_through",
    "match_text",
    "maybe_noun",
    "mentions",
    "mentions_folded",
    "nfc",
    "normalized",
    "particle_stems",
    "particles",
    "particular_terms",
    "pieces",
    "primary",
    "sentences_of",
    "settled",
    "short_nouns",
    "simplified",
    "standing",
    "telling",
    "telling_nothing",
    "terms",
    "without_empty_lines",
    "without_signs",
]

# Imported on first access, because the start of the process needs few of them.
__getattr__ = lazy_face(
    {
        "Says": "saga_core.language.debts:Says",
        "as_it_stands": "saga_core.language.debts:as_it_stands",
        "is_debt": "saga_core.language.debts:is_debt",
        "is_settled": "saga_core.language.debts:is_settled",
        "sentences_of": "saga_core.language.debts:sentences_of",
        "settled": "saga_core.language.debts:settled",
        "telling": "saga_core.language.debts:telling",
    }
)
