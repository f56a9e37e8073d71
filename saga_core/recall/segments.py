"""Postings and their weights, and segments: serialized runs of indexed documents, from which an index is loaded without
tokenizing the texts again.

A segment is valid only for the texts it was made of and for the terms that ``tokens.terms`` returns for them. Increment
``VERSION`` with every change of terms or weights.
"""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from struct import Struct
from typing import TypeAlias
from zlib import crc32

from attrs import frozen

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
