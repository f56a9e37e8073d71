"""Finding many names in a text in one pass: what ``mentions`` says of each, for all at once."""

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
    """A text as names are looked for in it: NFC, folded by ``match_text``, each run of white space one space."""
    return " ".join(match_text(nfc(text)).split())


@frozen
class Passage:
    """A text prepared for finding names in it, by any number of indexes."""

    folded: str
    words: frozenset[str]
    heads: Mapping[str, Sequence[str]]
    """The words, by their first two letters."""

    @classmethod
    def of(cls, *texts: str) -> Passage:
        """The passage of one text or several; no name reaches from one into the next."""
        if len(texts) == 1:
            return _passage(texts[0])
        parts = list(map(_passage, texts))
        words = frozenset[str]().union(*(part.words for part in parts))
        return cls("\n".join(part.folded for part in parts), words, _heads(words))


@lru_cache(maxsize=64)
def _passage(text: str) -> Passage:
    """A reply is looked through when it is recorded, when it is continued and at each swipe of what follows."""
    words: set[str] = set()
    rough: list[str] = []
    parts = match_text(nfc(text)).split()
    for part in set(parts):
        # Most words need no pattern: it is several times as slow.
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


class NameIndex(Generic[K]):
    """Names, and what each of them means. One name may mean several things, and one thing have several names.

    A Korean name with spaces is also found when it is written without them: spacing of compounds varies. A name of one
    word is looked up by its first two letters among the words of the text; one of several words by its first. A name in
    a script without spaces is looked up by its first two letters at each place of the text.
    """

    def __init__(self, entries: Iterable[tuple[K, Iterable[str]]]) -> None:
        # Lists of pairs, and no dict of names each: names with the same beginning are few, and a dict is large.
        self._single: dict[str, list[tuple[str, K]]] = {}
        self._short: dict[str, list[K]] = {}
        self._several: dict[str, list[tuple[str, K]]] = {}
        self._odd: dict[str, list[K]] = {}
        self._unspaced: dict[str, list[tuple[str, K]]] = {}
        for key, names in entries:
            for name in names:
                self._add(key, fold_text(name))

    def _add(self, key: K, name: str) -> None:
        first = _WORD.match(name)
        if not name:
            return
        if standing(name) is not None:
            self._unspaced.setdefault(name[:2], []).append((name, key))
        elif first is None:
            self._odd.setdefault(name, []).append(key)
        elif first.end() < len(name):
            self._several.setdefault(first.group(), []).append((name, key))
            joined = name.replace(" ", "")
            if caseless(joined[0]) and joined != name and _WORD.fullmatch(joined):
                self._add(key, joined)
        elif len(name) == 1:
            self._short.setdefault(name, []).append(key)
        else:
            self._single.setdefault(name[:2], []).append((name, key))

    def found_in(self, passage: Passage) -> set[K]:
        """What the passage mentions."""
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
        """Where names stand that are in a script without spaces: begin, end, and what is meant."""
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
        """Whether ``word`` is a name of one word, two letters or more, with a particle or without."""
        return any(_is_name(word, name) for name, _ in self._single.get(word[:2], ()))

    def cut_from(self, text: str) -> str:
        """``text`` with the mentioned names taken out, particles and all; the rest as it was, spaces collapsed."""
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
    """Whether a word is a name, or a name and a particle."""
    if not word.startswith(name):
        return False
    return len(word) == len(name) or hangs_on(word[len(name) :], name)
