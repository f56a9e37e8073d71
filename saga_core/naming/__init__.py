"""Naming: resolves a name in a text to the entity that it refers to."""

from __future__ import annotations

from saga_core.naming.cast import stands_in_text_of
from saga_core.naming.doubts import Doubt, alike, disguise, doubts, is_nameless, made_one, may_be_here
from saga_core.naming.evidence import Evidence
from saga_core.naming.forms import (
    bare,
    fold,
    is_form_of,
    is_full_name,
    is_last_part,
    is_title,
    name_words,
    pattern_of,
    patterns_of,
    remarked,
    same_name,
    words_of,
)
from saga_core.naming.in_short import parts_alone, short_names, titles_alone
from saga_core.naming.names import (
    Names,
    is_of_kind,
    is_particular,
    is_word_for_player,
    last_word,
    may_be,
    told_apart,
    unmasked_in,
    words_of_thing,
)
from saga_core.naming.nobody import is_the_players, may_be_somebody, owner_of
from saga_core.naming.titled import may_be_called

__all__ = [
    "Doubt",
    "Evidence",
    "Names",
    "alike",
    "bare",
    "disguise",
    "doubts",
    "fold",
    "is_form_of",
    "is_full_name",
    "is_last_part",
    "is_nameless",
    "is_of_kind",
    "is_particular",
    "is_the_players",
    "is_title",
    "is_word_for_player",
    "last_word",
    "made_one",
    "may_be",
    "may_be_called",
    "may_be_here",
    "may_be_somebody",
    "name_words",
    "owner_of",
    "parts_alone",
    "pattern_of",
    "patterns_of",
    "remarked",
    "same_name",
    "short_names",
    "stands_in_text_of",
    "titles_alone",
    "told_apart",
    "unmasked_in",
    "words_of",
    "words_of_thing",
]
