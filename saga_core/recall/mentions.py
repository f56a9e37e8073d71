"""Finding many names in a text in one pass: what ``saga_core.text.korean.mentions`` says of each, for all at once."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable
from typing import Generic, TypeVar

from attrs import frozen

from saga_core.recall.particles import particle, stems
from saga_core.text.korean import is_hangul, mentions
from saga_core.text.normal import nfc

_WORD = re.compile(r"[^\W_]+")
K = TypeVar("K", bound=Hashable)


def fold_text(text: str) -> str:
    """A text as names are looked for in it: NFC, case folded, each run of white space one space."""
    return " ".join(nfc(text).casefold().split())


@frozen
class Passage:
    """A text prepared for finding names in it, by any number of indexes."""

    folded: str
    words: frozenset[str]
    forms: frozenset[str]
    """The words, and each Hangul word without a particle that may end it."""

    @classmethod
    def of(cls, *texts: str) -> Passage:
        """The passage of one text or several; no name reaches from one into the next."""
        folded = "\n".join(map(fold_text, texts))
        words = frozenset(_WORD.findall(folded))
        forms = set(words)
        for word in words:
            if is_hangul(word[-1]):
                forms.update(stems(word))
        return cls(folded, words, frozenset(forms))


class NameIndex(Generic[K]):
    """Names, and what each of them means. One name may mean several things, and one thing have several names.

    A Korean name with spaces is also found when it is written without them: spacing of compounds varies.
    """

    def __init__(self, entries: Iterable[tuple[K, Iterable[str]]]) -> None:
        self._single: dict[str, list[K]] = {}
        self._several: dict[str, dict[str, list[K]]] = {}
        self._odd: dict[str, list[K]] = {}
        for key, names in entries:
            for name in names:
                self._add(key, fold_text(name))

    def _add(self, key: K, name: str) -> None:
        first = _WORD.match(name)
        if not name:
            return
        if first is None:
            self._odd.setdefault(name, []).append(key)
        elif first.end() == len(name):
            self._single.setdefault(name, []).append(key)
        else:
            self._several.setdefault(first.group(), {}).setdefault(name, []).append(key)
            joined = name.replace(" ", "")
            if is_hangul(joined[0]) and joined != name and _WORD.fullmatch(joined):
                self._single.setdefault(joined, []).append(key)

    def found_in(self, passage: Passage) -> set[K]:
        """What the passage mentions."""
        found: set[K] = set()
        for form in self._single.keys() & passage.forms:
            found.update(self._single[form])
        for word in self._several.keys() & passage.words:
            for name, keys in self._several[word].items():
                if mentions(passage.folded, name):
                    found.update(keys)
        for name, keys in self._odd.items():
            if mentions(passage.folded, name):
                found.update(keys)
        return found

    def cut_from(self, text: str) -> str:
        """``text`` with the mentioned names taken out, particles and all; the rest as it was, spaces collapsed."""
        text = " ".join(nfc(text).split())
        folded = text.casefold()
        if len(folded) != len(text):
            text = folded
        cuts: list[tuple[int, int]] = []
        for match in _WORD.finditer(folded):
            start, end = match.span()
            word = match.group()
            forms = [word, *stems(word)] if is_hangul(word[-1]) else [word]
            if any(form in self._single for form in forms):
                cuts.append((start, end))
            for name in self._several.get(word, ()):
                if folded.startswith(name, start):
                    tail = _WORD.match(folded, start + len(name))
                    if tail is None or (is_hangul(name[-1]) and particle(tail.group())):
                        cuts.append((start, tail.end() if tail else start + len(name)))
        kept: list[str] = []
        at = 0
        for start, end in sorted(cuts):
            if start > at:
                kept.append(text[at:start])
            at = max(at, end)
        kept.append(text[at:])
        return " ".join(" ".join(kept).split())
