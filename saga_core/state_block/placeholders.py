"""Placeholders: the words that a template contains in place of values. A copied placeholder states nothing."""

from __future__ import annotations

import re

from attrs import frozen

from saga_core.language import all_of, every, normalized, squash

_LONGEST = 60
_BRACKETED = re.compile(
    r"\[(.*)\]|［(.*)］|\{(.*)\}|｛(.*)｝|【(.*)】|〔(.*)〕|\((.*)\)|（(.*)）|<(.*)>|＜(.*)＞|「(.*)」|%(.*)%", re.S
)
_ENUMERATORS = "".join(each.block.enumerators for each in every())
_NUMBERED = re.compile(
    rf"(?P<stem>.*[^\W\d_])[\s_#.\-]{{0,3}}\d{{1,3}}|(?P<lettered>.*[^\W\d_])[\s_#.\-]{{1,3}}[A-Za-z]"
    rf"|(?P<native>.*[^\W\d_\x00-\x7f])[\s_]?[A-Za-z{_ENUMERATORS}]",
    re.S,
)
_FILLERS = all_of(lambda each: each.block.fillers)
_TYPE = re.compile(
    r"(?:str|int|integer|float|bool|boolean|string\[\])|(?:list|array|dict|optional)\s?[\[<].*[\]>]", re.S
)
"""A type of a programming language."""


@frozen
class Placeholders:
    """The placeholders of a field in every language. ``words`` are complete placeholders, squashed like keys.

    A placeholder in brackets may also be composed of ``parts`` and filler words: ``[name of the NPC]``. ``numbered``
    says whether a number behind a placeholder is part of it (``item 2``) and not a quantity.
    """

    words: frozenset[str] = frozenset()
    parts: frozenset[str] = frozenset()
    numbered: bool = True

    def holds(self, text: str, *, bracketed: bool = False) -> bool:
        """Whether ``text`` is a placeholder. ``bracketed`` says that brackets around it were already removed."""
        if len(text) > _LONGEST:
            return False
        if _TYPE.fullmatch(text.strip()):
            return True
        while found := _BRACKETED.fullmatch(text.strip()):
            text, bracketed = next(part for part in found.groups() if part is not None), True
        if self._is_word(text, bracketed=bracketed):
            return True
        found = _NUMBERED.fullmatch(normalized("NFKC", text).strip()) if self.numbered else None
        stem = next((part for part in found.groups() if part is not None), "") if found else ""
        return bool(stem) and self._is_word(stem, bracketed=bracketed)

    def _is_word(self, text: str, *, bracketed: bool) -> bool:
        word = squash(text)
        return word in self.words or (bracketed and self._is_made_of_parts(word))

    def _is_made_of_parts(self, word: str) -> bool:
        """Whether ``word`` can be split into ``parts`` and filler words, with at least one of ``parts``."""
        reached = {0: False}
        for end in range(1, len(word) + 1):
            for start in [start for start in reached if start < end]:
                piece = word[start:end]
                if piece in self.parts or piece in _FILLERS:
                    reached[end] = reached.get(end, False) or reached[start] or piece in self.parts
        return reached.get(len(word), False)


NONE = Placeholders()
"""For values that no template contains."""
