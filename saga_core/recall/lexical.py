"""LexicalIndex: an incremental BM25 index over short documents, in memory.

The cost of a query does not grow with the number of documents. Its terms are read rarest first, newest document first,
until 1,000 postings were read. The best 48 documents are then scored exactly for up to 4 terms that were not read in
full. Document length is normalized by a fixed pivot instead of the running average, so that the weights of a document
do not change when others are added.

A segment is a serialized run of documents, from which an index is loaded without tokenizing the texts again. It is
valid only for the texts it was made of and for the terms that ``language.terms`` returns for them. Increment
``VERSION`` with every change of terms or weights.
"""

from __future__ import annotations

import re
import sys
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from itertools import pairwise
from math import log
from struct import Struct
from typing import TypeAlias
from zlib import crc32

from attrs import define, field, frozen

from saga_core.language import caseless_letter, folded_terms, function_terms, terms

_WORD = re.compile(r"[^\W\d_]+")
_LEAST = 3
"""Minimum letters of each part. Shorter parts form words by chance."""
_MOST = 48
"""Maximum letters of a word that is split or joined. Splitting takes time with the square of a word's length."""


def compounds(query: str, known: Callable[[str], bool]) -> list[str]:
    """Return the terms to search for in addition to those of ``query``.

    Two adjacent words are joined when the joined term is ``known``. An unknown word is split into two known words; of
    several possible splits the most even one is used. A word or pair that occurs several times counts once. Only ASCII
    words are handled: in scripts without spaces, terms are parts of words anyway.
    """
    found: list[str] = []
    words = [word for word in _WORD.findall(query.casefold()) if _LEAST <= len(word) <= _MOST and word.isascii()]
    function = function_terms()
    whole = {word: tuple(folded_terms(word)) for word in words}
    for word, own in whole.items():
        if len(word) < 2 * _LEAST or any(map(known, own)):
            continue
        ways = sorted(range(_LEAST, len(word) - _LEAST + 1), key=lambda at: abs(2 * at - len(word)))
        for at in ways:
            parts = list(folded_terms(word[:at]))
            if not all(map(known, parts)):
                continue
            parts += folded_terms(word[at:])
            if all(map(known, parts)) and function.isdisjoint(parts):
                found += parts
                break
    content = {word for word, own in whole.items() if function.isdisjoint(own)}
    for one, other in dict.fromkeys(pairwise(words)):
        if one in content and other in content:
            found += filter(known, folded_terms(one + other))
    return found


SIZE = 256
"""Maximum documents in a segment. A document number takes one byte."""
VERSION = 4
UNIT = 4_096
"""Fixed-point unit: a posting's weight is stored as an integer multiple of 1 / 4,096."""
_HEAVIEST = 65_535
_K1 = 1.2
_B = 0.75
"""Parameters of BM25: how soon repetition stops to count, and how much the length of a document does."""

Postings: TypeAlias = "array[int]"
"""Ascending document numbers, followed by the term's weight in each. One small array takes half the memory of two."""

_HEAD = Struct("<4sIIIIII")
_MAGIC = b"SGT%c" % VERSION


@frozen(eq=False)
class Segment:
    """A run of documents with the postings and weights of their terms."""

    ids: tuple[str, ...]
    marks: Sequence[int]
    """The fingerprint of each document's text (``mark_of``)."""
    terms: Sequence[str]
    """The terms, sorted."""
    starts: array[int]
    """The offset of each term's first posting, followed by the end of the last postings."""
    numbers: bytes
    weights: array[int]

    def find(self, term: str) -> slice | None:
        """Return the slice of ``term``'s postings in ``numbers`` and ``weights``, or None for an unknown term."""
        at = bisect_left(self.terms, term)
        if at == len(self.terms) or self.terms[at] != term:
            return None
        return slice(self.starts[at], self.starts[at + 1])

    @property
    def size_bytes(self) -> int:
        """Estimated memory: 3 bytes per posting, 100 per term, 100 per document."""
        return 3 * len(self.numbers) + 100 * len(self.terms) + 100 * len(self.ids)


def weights_of(counts: Iterable[int], length: int, pivot: int) -> dict[int, int]:
    """Return the weight, in multiples of 1 / 4,096, of a term that occurs so many times in a document, for each count.

    ``length`` is that of the document, and ``pivot`` the typical one, in terms.
    """
    norm = _K1 * (1 - _B + _B * length / pivot)
    return {times: min(_HEAVIEST, max(1, round(UNIT * times * (_K1 + 1) / (times + norm)))) for times in set(counts)}


def mark_of(text: str) -> int:
    """Return a fingerprint of a document's text that is stable across processes."""
    return crc32(text.encode("utf-8", "surrogatepass"))


def apart(known: int | Postings) -> tuple[Sequence[int], Sequence[int]]:
    """Return the document numbers and the weights."""
    if isinstance(known, int):
        return (known >> 16,), (known & 0xFFFF,)
    half = len(known) >> 1
    return known[:half].tolist(), known[half:].tolist()


def pack(documents: Sequence[tuple[str, int]], postings: Iterable[tuple[str, Sequence[int], Sequence[int]]]) -> bytes:
    """Serialize a segment of ``documents`` (id, mark) and their ``postings`` (term, document numbers, weights)."""
    starts, numbers, weights = array("I", (0,)), bytearray(), array("H")
    known: list[str] = []
    for term, found, heavy in sorted(postings):
        known.append(term)
        numbers += bytes(list(found))  # ``bytes`` of an array would copy its raw memory
        weights.extend(heavy)
        starts.append(len(numbers))
    parts = (
        "\n".join(id_ for id_, _ in documents).encode(),
        _little(array("I", (mark for _, mark in documents))),
        "\n".join(known).encode("utf-8", "surrogatepass"),
        _little(starts),
        bytes(numbers),
        _little(weights),
    )
    return _HEAD.pack(_MAGIC, *map(len, parts)) + b"".join(parts)


def unpack(raw: bytes) -> Segment:
    """Deserialize the output of ``pack``. Raises ``ValueError`` for any other bytes or another version."""
    if raw[:4] != _MAGIC or len(raw) < _HEAD.size:
        raise ValueError("no segment of this version")
    _, *sizes = _HEAD.unpack_from(raw)
    parts: list[bytes] = []
    at = _HEAD.size
    for size in sizes:
        parts.append(raw[at : at + size])
        at += size
    ids, marks, known, starts, numbers, weights = parts
    try:
        segment = Segment(
            tuple(ids.decode().split("\n")) if ids else (),
            _read("I", marks),
            known.decode("utf-8", "surrogatepass").split("\n") if known else [],
            _read("I", starts),
            numbers,
            _read("H", weights),
        )
    except ValueError as error:
        raise ValueError(f"a segment that cannot be read: {error}") from error
    sound = len(segment.marks) == len(segment.ids) <= SIZE and len(segment.starts) == len(segment.terms) + 1
    if at != len(raw) or not sound or not segment.starts[-1] == len(numbers) == len(segment.weights):
        raise ValueError("a segment that does not add up")
    return segment


def _little(numbers: array[int]) -> bytes:
    """Return the bytes of ``numbers`` in little-endian order."""
    if sys.byteorder == "big":
        numbers = numbers[:]
        numbers.byteswap()
    return numbers.tobytes()


def _read(code: str, raw: bytes) -> array[int]:
    numbers = array(code)
    numbers.frombytes(raw)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


POSTINGS = 1_000
"""Maximum postings read for one query."""
QUERY_TERMS = 48
"""Maximum distinct terms of a query that are used. The rarest ones are kept."""
ACCEPTS = 512
"""Maximum documents for which ``accept`` is called."""

_FIRST_ASKED, _HIDDEN = 96, 32
"""Documents that are ranked at first, and the minimum number beyond ``k``: some documents are in the history already or
on other paths."""
_REFINED_DOCUMENTS = 48
_REFINED_TERMS = 4
FUNCTION_SHARE = 0.3
"""Default factor for the weight of function words in a query. They say little about what is asked."""
_FED_DOCUMENTS, _FED_TERMS, _FED_FROM = 3, 6, 16
"""Feedback: the number of best documents, of their rarest terms, and of documents ranked to find the best ones."""
_COMMON = 4
"""Maximum number of thresholds whose common terms are cached."""
_COUNTED = 64
"""Maximum documents of a term that are checked one by one for being on a path."""


@define
class Feedback:
    """The results of feedback."""

    terms: list[str] = field(factory=list)
    """The terms that were added to the query."""
    brought: dict[str, float] = field(factory=dict)
    """The score that each document gained from these terms."""


class LexicalIndex:
    """A BM25 index of documents by id. Not thread-safe."""

    def __init__(self, *, pivot: int = 160) -> None:
        """``pivot`` is the typical length of a document, in terms."""
        self._pivot = pivot
        self._numbers: dict[str, int] = {}
        self._ids: list[str] = []
        self._hashes: list[int] = []
        # A term with one document is stored as one integer (most terms are), a term with several as an array.
        self._postings: dict[str, int | Postings] = {}
        self._count = 0
        # The postings of a term in segments are merged when the term is first needed.
        self._segments: list[tuple[int, Segment]] = []
        self._gathered: set[str] = set()
        # Documents of segments that were removed, and how many of them had each term that was not gathered by then.
        self._gone: set[int] = set()
        self._lost: Counter[str] = Counter()
        # Common terms by threshold. ``add`` updates them; other changes clear them.
        self._common: dict[int, set[str]] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    def __contains__(self, doc_id: str) -> bool:
        return doc_id in self._numbers

    def add(self, doc_id: str, text: str) -> None:
        """Index ``text`` under ``doc_id``. An unchanged text is skipped; a different text replaces the old one."""
        number = self._numbers.get(doc_id)
        mark = hash(text)
        if number is not None:
            if self._hashes[number] == mark:
                return
            self.remove(doc_id)
        number = len(self._ids)
        found = terms(text)
        counted = Counter(found)
        # Single Korean syllables and Han characters are additional terms for the same text, so they do not count
        # towards its length.
        single = [times for term, times in counted.items() if len(term) == 1 and caseless_letter(term)]
        length = len(found) - sum(single)
        weights = weights_of(counted.values(), length, self._pivot)
        postings, common = self._postings, self._common
        if common and self._segments:
            self._gather_uncommon(counted.keys())
        for term, times in counted.items():
            weight = weights[times]
            known = postings.get(term)
            if known is None:
                postings[term] = number << 16 | weight
            elif isinstance(known, int):
                postings[term] = array("I", (known >> 16, number, known & 0xFFFF, weight))
                if 1 in common:
                    common[1].add(term)
            else:
                count = len(known) >> 1
                known.insert(count, number)
                known.append(weight)
                if count in common:  # the term had ``count`` documents, and has one more now
                    common[count].add(term)
        if 0 in common:
            common[0].update(counted)
        self._count += len(counted)
        self._numbers[doc_id] = number
        self._ids.append(doc_id)
        self._hashes.append(mark)

    def take(self, segment: Segment, texts: Sequence[str]) -> None:
        """Add all documents of a segment. None of them may be in the index. ``texts`` are their texts."""
        self._common.clear()
        self._segments.append((len(self._ids), segment))
        self._numbers.update(zip(segment.ids, range(len(self._ids), len(self._ids) + len(texts)), strict=True))
        self._ids.extend(segment.ids)
        self._hashes.extend(map(hash, texts))

    def packed(self, texts: Sequence[str]) -> bytes:
        """Return the documents as a segment. ``texts`` are their texts in order.

        Not allowed if documents were removed or came from segments.
        """
        marks = [(id_, mark_of(text)) for id_, text in zip(self._ids, texts, strict=True)]
        postings = ((term, *apart(known)) for term, known in self._postings.items())
        return pack(marks, postings)

    def _find(self, term: str) -> int | Postings | None:
        """Return the term's postings, including those in segments."""
        if self._segments and term not in self._gathered:
            self._gather(term)
        return self._postings.get(term)

    def _gather_uncommon(self, added: AbstractSet[str]) -> None:
        """Gather those of the ``added`` terms that may become common, because ``add`` counts their postings."""
        common = self._common[max(self._common)]
        for term in added - self._gathered:
            if term not in common:
                self._gather(term)

    def _gather(self, term: str) -> None:
        self._gathered.add(term)
        documents, weights = array("I"), array("I")
        for base, segment in self._segments:
            where = segment.find(term)
            if where is not None:
                documents.extend([base + number for number in segment.numbers[where]])
                weights.extend(segment.weights[where].tolist())
        if self._lost.pop(term, 0):
            left = [at for at, number in enumerate(documents) if number not in self._gone]
            documents = array("I", map(documents.__getitem__, left))
            weights = array("I", map(weights.__getitem__, left))
        if not documents:
            return
        known = self._postings.get(term)
        if known is not None:
            beside = apart(known)
            late = beside[0][0] > documents[-1]
            documents.extend(beside[0])
            weights.extend(beside[1])
            if not late:  # documents were added between segments
                order = sorted(range(len(documents)), key=documents.__getitem__)
                documents = array("I", map(documents.__getitem__, order))
                weights = array("I", map(weights.__getitem__, order))
        self._postings[term] = documents + weights if len(documents) > 1 else documents[0] << 16 | weights[0]

    def remove(self, doc_id: str, text: str | None = None) -> None:
        """Remove a document. An unknown id is ignored. Without its ``text``, the whole vocabulary is scanned."""
        number = self._numbers.get(doc_id)
        if number is None:
            return
        self._common.clear()
        find: Callable[[str], int | Postings | None] = self._find
        if text is not None and hash(text) == self._hashes[number]:
            find, vocabulary = self._postings.get, list(dict.fromkeys(terms(text)))
            if any(base <= number < base + len(segment.ids) for base, segment in self._segments):
                self._gone.add(number)
                self._lost.update(term for term in vocabulary if term not in self._gathered)
                vocabulary = [term for term in vocabulary if term in self._gathered]
        else:
            vocabulary = list({*self._postings, *(term for _, segment in self._segments for term in segment.terms)})
        del self._numbers[doc_id]
        self._ids[number] = ""
        gone: list[str] = []
        for term in vocabulary:
            known = find(term)
            if known is None:
                continue
            if isinstance(known, int):
                if known >> 16 == number:
                    gone.append(term)
                continue
            half = len(known) >> 1
            at = bisect_left(known, number, 0, half)
            if at < half and known[at] == number:
                del known[half + at], known[at]
                self._count -= 1
                if not known:
                    gone.append(term)
        for term in gone:
            self._count -= isinstance(self._postings.pop(term), int)

    def search(
        self,
        query: str,
        *,
        k: int,
        accept: Callable[[str], bool] | None = None,
        beside: Callable[[Sequence[str]], Iterable[str]] | None = None,
        feedback: float = 0.0,
        function: float = FUNCTION_SHARE,
        text: Callable[[str], str] | None = None,
        told: Callable[[Sequence[str]], Sequence[str]] | None = None,
        seldom: int = 0,
        fed: Feedback | None = None,
    ) -> list[tuple[str, float]]:
        """Return the ``k`` best documents for ``query`` that pass ``accept``, with their scores (above 0), best first.

        Equal scores are ordered by id. ``accept`` is called in order of score until ``k`` documents passed or 512 were
        checked. Documents that ``beside`` returns for the found ones are appended if they have a score. With
        ``feedback``, the six rarest terms of the three best documents are searched as well, with that weight, to find
        documents on the same subject. ``text`` returns the text of a document. ``told`` returns the parts of these
        texts from which terms are taken; by default the whole texts. ``seldom`` restricts them to terms in at most that
        many documents, and excludes single letters. ``fed`` receives the results of feedback. ``function`` is the
        factor for the weight of function words.
        """
        wanted = self._query(query)
        scores, seen, unread = self._read(wanted, function)
        if feedback and text is not None:
            best = self._accepted(
                scores, seen, unread, _FED_DOCUMENTS, accept, _REFINED_DOCUMENTS if unread else _FED_FROM
            )
            texts = [text(id_) for id_, _ in best]
            rarest = self._rarest(told(texts) if told else texts, {term for _, term in wanted}, seldom)
            more, fed_seen, _ = self._read(rarest, function)
            for which in fed_seen:
                scores[which] += feedback * more[which]
            seen |= fed_seen
            if fed is not None:
                fed.terms = [term for _, term in rarest]
                fed.brought = {self._ids[which]: feedback * more[which] for which in fed_seen}
        found = self._accepted(scores, seen, unread, k, accept)
        if beside is None:
            return found
        numbers = self._numbers
        known = dict(found)
        for other in beside(list(known)):
            number = numbers.get(other)
            if number in seen and other not in known:
                known[other] = scores[number]
        return list(known.items())

    def having(self, term: str) -> tuple[int, Iterator[str]]:
        """Return the number of documents that contain ``term``, and the latest 64 of them, latest first."""
        known, ids = self._find(term), self._ids
        if known is None:
            return 0, iter(())
        if isinstance(known, int):
            return 1, iter((ids[known >> 16],))
        count = len(known) >> 1
        return count, map(ids.__getitem__, reversed(known[max(0, count - _COUNTED) : count]))

    def common(self, most: int) -> AbstractSet[str]:
        """Return the terms that occur in more than ``most`` documents. The set is live: it grows with the index."""
        found = self._common.get(most)
        if found is None:
            if len(self._common) == _COMMON:
                del self._common[next(iter(self._common))]
            found = self._common[most] = self._more_than(most)
        return found

    def _more_than(self, most: int) -> set[str]:
        counts: Counter[str] = Counter()
        for _, segment in self._segments:
            starts = segment.starts
            for at, term in enumerate(segment.terms):
                counts[term] += starts[at + 1] - starts[at]
        counts.subtract(self._lost)
        gathered = self._gathered
        found = {term for term, count in counts.items() if count > most and term not in gathered}
        for term, known in self._postings.items():
            count = 1 if isinstance(known, int) else len(known) >> 1
            if term not in gathered:
                count += counts[term]
            if count > most:
                found.add(term)
        return found

    def _accepted(
        self,
        scores: list[float],
        seen: set[int],
        unread: list[tuple[float, Postings, int]],
        k: int,
        accept: Callable[[str], bool] | None,
        first_asked: int = 0,
    ) -> list[tuple[str, float]]:
        asked = 0
        found: list[tuple[str, float]] = []
        for count in (first_asked or max(_FIRST_ASKED, k + _HIDDEN), ACCEPTS):
            ranked = self._rank(scores, seen, unread, count)
            for id_, score in ranked[asked:ACCEPTS]:
                asked += 1
                if accept is None or accept(id_):
                    found.append((id_, score))
                    if len(found) == k:
                        return found
            if len(seen) <= count:
                break
        return found

    def _rarest(self, texts: Sequence[str], known: set[str], seldom: int) -> list[tuple[int, str]]:
        """Return (documents, term) of the rarest terms of ``texts`` that occur in several documents and are not
        ``known``. ``seldom`` is the maximum number of documents, 0 for no maximum; it also excludes single letters."""
        wanted = frozenset().union(*map(_distinct, texts)) - known
        if self._segments:
            for term in wanted - self._gathered:
                self._gather(term)
        get = self._postings.get
        found = [
            (len(postings) >> 1, term)
            for term in wanted
            if (postings := get(term)).__class__ is array  # in more than one document
        ]
        if seldom:
            found = [(count, term) for count, term in found if count <= seldom and (len(term) > 1 or term.isdigit())]
        found.sort()
        return found[:_FED_TERMS]

    def _knows(self, term: str) -> bool:
        return self._find(term) is not None

    def _query(self, query: str) -> list[tuple[int, str]]:
        """Return (documents, term) of the query's known terms, rarest first."""
        found: list[tuple[int, str]] = []
        for term in dict.fromkeys((*terms(query), *compounds(query, self._knows))):
            known = self._find(term)
            if known is not None:
                found.append((1 if isinstance(known, int) else len(known) >> 1, term))
        found.sort()
        return found[:QUERY_TERMS]

    def _read(
        self, wanted: list[tuple[int, str]], function_share: float
    ) -> tuple[list[float], set[int], list[tuple[float, Postings, int]]]:
        """Return scores by document number within the postings budget, the numbers of scored documents, and the parts
        of postings that were not read."""
        total = len(self._numbers)
        left = POSTINGS
        sums = [0.0] * len(self._ids)
        seen: set[int] = set()
        unread: list[tuple[float, Postings, int]] = []
        function = function_terms()
        for documents_with, term in wanted:
            weight = log(1 + (total - documents_with + 0.5) / (documents_with + 0.5)) / UNIT
            if term in function:
                weight *= function_share
            known = self._postings[term]
            if isinstance(known, int):
                number = known >> 16
                sums[number] += (known & 0xFFFF) * weight
                seen.add(number)
                left -= 1
                continue
            start = max(0, documents_with - left)
            if start:
                if len(unread) < _REFINED_TERMS:
                    unread.append((weight, known, start))
                if left <= 0:
                    continue
            documents = known[start:documents_with]
            left -= len(documents)
            seen.update(documents)
            for number, share in zip(documents, known[documents_with + start :], strict=True):
                sums[number] += share * weight
        return sums, seen, unread

    def _rank(
        self, scores: list[float], seen: set[int], unread: list[tuple[float, Postings, int]], count: int
    ) -> list[tuple[str, float]]:
        """Return about ``count`` of the best documents (more if there are ties), best first."""
        ids = self._ids
        # Sorting all documents is faster than a heap of the best ones.
        order = sorted(seen, key=scores.__getitem__, reverse=True)
        if len(order) > count:
            least, end = scores[order[count - 1]], count
            while end < len(order) and scores[order[end]] == least:
                end += 1
            del order[end:]
        best = sorted([(-scores[number], ids[number], number) for number in order])
        if not unread:
            return [(id_, -negative) for negative, id_, _ in best]
        ranked: list[tuple[float, str]] = []
        for negative, id_, number in best[:_REFINED_DOCUMENTS]:
            score = -negative
            for weight, known, end in unread:
                at = bisect_left(known, number, 0, end)
                if at < end and known[at] == number:
                    score += known[(len(known) >> 1) + at] * weight
            ranked.append((-score, id_))
        ranked.sort()
        ranked += [(negative, id_) for negative, id_, _ in best[_REFINED_DOCUMENTS:]]
        return [(id_, -negative) for negative, id_ in ranked]

    @property
    def size_bytes(self) -> int:
        """Estimated memory of the index: 8 bytes per posting, 160 per term, 180 per document, and the segments."""
        segments = sum(segment.size_bytes for _, segment in self._segments)
        return 8 * self._count + 160 * len(self._postings) + 180 * len(self._ids) + segments


@lru_cache(maxsize=256)
def _distinct(text: str) -> frozenset[str]:
    """Return the distinct terms of a document. Cached: the same documents are often among the best."""
    return frozenset(terms(text))
