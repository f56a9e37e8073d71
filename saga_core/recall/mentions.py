"""Finds many names in a text in one pass, by the rules of ``mentions``."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Generic, TypeVar

from attrs import frozen

from saga_core.language import caseless, hangs_on, match_text, mentions_folded, nfc, standing

_WORD = re.compile(r"[^\W_]+")

K = TypeVar("K", bound=Hashable)


def fold_text(text: str) -> str:
    """Return a text normalized for name search: NFC, folded by ``match_text``, runs of white space as one space."""
    return " ".join(match_text(nfc(text)).split())


@frozen
class Passage:
    """A text prepared for name search by any number of indexes."""

    folded: str
    words: frozenset[str]
    heads: Mapping[str, Sequence[str]]
    """The words by their first two letters."""

    @classmethod
    def of(cls, *texts: str) -> Passage:
        """Return the passage of one or more texts. No name is found across two texts."""
        if len(texts) == 1:
            return _passage(texts[0])
        parts = list(map(_passage, texts))
        words = frozenset[str]().union(*(part.words for part in parts))
        return cls("\n".join(part.folded for part in parts), words, _heads(words))


@lru_cache(maxsize=64)
def _passage(text: str) -> Passage:
    """Cached: a reply is searched when it is recorded, when it is continued and at each swipe of the next turn."""
    words: set[str] = set()
    rough: list[str] = []
    parts = match_text(nfc(text)).split()
    for part in set(parts):
        # Most words need no pattern, which is several times as slow.
        if part.isalnum():
            words.add(part)
        else:
            rough.append(part)
    words.update(_WORD.findall(" ".join(rough)))
    return Passage(" ".join(parts), frozenset(words), _heads(words))


def _heads(words: Iterable[str]) -> dict[str, list[str]]:
    heads: dict[str, list[str]] = {}
    for word in words:
        if (head := word[:2]) in heads:
            heads[head].append(word)
        else:
            heads[head] = [word]
    return heads


_SINGLE, _SEVERAL, _SHORT, _ODD, _UNSPACED = range(5)
"""How a name is looked up: one word, several words, one letter, without letters, in a script without spaces."""


@lru_cache(maxsize=8_192)
def _filed(name: str) -> tuple[tuple[int, str, str], ...]:
    """Return how a name is looked up, under which beginning, and the folded name. Cached: a story's names are indexed
    again whenever one of them changes."""
    folded = fold_text(name)
    if not folded:
        return ()
    first = _WORD.match(folded)
    if standing(folded) is not None:
        return ((_UNSPACED, folded[:2], folded),)
    if first is None:
        return ((_ODD, folded, folded),)
    if first.end() == len(folded):
        return ((_SHORT, folded, folded),) if len(folded) == 1 else ((_SINGLE, folded[:2], folded),)
    several = (_SEVERAL, first.group(), folded)
    joined = folded.replace(" ", "")
    if caseless(joined[0]) and joined != folded and _WORD.fullmatch(joined):
        return several, *_filed(joined)
    return (several,)


class NameIndex(Generic[K]):
    """An index from names to keys. A name may have several keys, and a key several names.

    A Korean name with spaces is also found without them, because the spacing of compounds varies. A name of one word is
    looked up by its first two letters among the words of the text, a name of several words by its first word. A name in
    a script without spaces is looked up by its first two letters at each position of the text.
    """

    def __init__(self, entries: Iterable[tuple[K, Iterable[str]]]) -> None:
        # Lists of pairs instead of dicts of names: few names share a beginning, and a dict is large.
        self._single: dict[str, list[tuple[str, K]]] = {}
        self._short: dict[str, list[K]] = {}
        self._several: dict[str, list[tuple[str, K]]] = {}
        self._odd: dict[str, list[K]] = {}
        self._unspaced: dict[str, list[tuple[str, K]]] = {}
        pairs = {_SINGLE: self._single, _SEVERAL: self._several, _UNSPACED: self._unspaced}
        alone = {_SHORT: self._short, _ODD: self._odd}
        for key, names in entries:
            for name in names:
                for kind, head, folded in _filed(name):
                    if kind in pairs:
                        pairs[kind].setdefault(head, []).append((folded, key))
                    else:
                        alone[kind].setdefault(head, []).append(key)

    def found_in(self, passage: Passage) -> set[K]:
        """Return the keys of the names that the passage mentions."""
        found: set[K] = set()
        single, short = self._single, self._short
        for head in passage.heads.keys() & single.keys():
            for word in passage.heads[head]:
                for name, key in single[head]:
                    if word == name or (word.startswith(name) and _is_name(word, name)):
                        found.add(key)
        if short:
            for word in [word for word in passage.words if word[0] in short]:
                if _is_name(word, word[0]):
                    found.update(short[word[0]])
        for first in self._several.keys() & passage.words:
            for name, key in self._several[first]:
                if key not in found and mentions_folded(passage.folded, name):
                    found.add(key)
        found.update(key for _, _, key in self._standing_in(passage.folded))
        for name, keys in self._odd.items():
            if mentions_folded(passage.folded, name):
                found.update(keys)
        return found

    def _standing_in(self, folded: str) -> Iterator[tuple[int, int, K]]:
        """Yield start, end and key of each name in a script without spaces."""
        if not self._unspaced or folded.isascii():
            return
        starts = self._unspaced
        for at in range(len(folded)):
            for head in (folded[at : at + 2], folded[at]):
                for name, key in starts.get(head, ()):
                    end = at + len(name)
                    stands = standing(name)
                    if stands is not None and folded.startswith(name, at) and stands(folded, at, end):
                        yield at, end, key
                if len(head) < 2:
                    break

    def _is_meant(self, word: str) -> bool:
        """Whether ``word`` is an indexed one-word name of two or more letters, with or without a particle."""
        return any(_is_name(word, name) for name, _ in self._single.get(word[:2], ()))

    def cut_from(self, text: str) -> str:
        """Return ``text`` without the mentioned names and their particles, with spaces collapsed."""
        text = " ".join(nfc(text).split())
        folded = match_text(text)
        if len(folded) != len(text):
            text = folded
        cuts = [(start, end) for start, end, _ in self._standing_in(folded)]
        for match in _WORD.finditer(folded):
            start, end = match.span()
            word = match.group()
            if self._is_meant(word) or (word[0] in self._short and _is_name(word, word[0])):
                cuts.append((start, end))
            for name, _ in self._several.get(word, ()):
                if folded.startswith(name, start):
                    tail = _WORD.match(folded, start + len(name))
                    if tail is None or hangs_on(tail.group(), name):
                        cuts.append((start, tail.end() if tail else start + len(name)))
        if not cuts:
            return text
        kept: list[str] = []
        at = 0
        for start, end in sorted(cuts):
            if start > at:
                kept.append(text[at:start])
            at = max(at, end)
        kept.append(text[at:])
        return " ".join(" ".join(kept).split())


def _is_name(word: str, name: str) -> bool:
    """Whether ``word`` is ``name``, or ``name`` with a particle."""
    if not word.startswith(name):
        return False
    return len(word) == len(name) or hangs_on(word[len(name) :], name)
