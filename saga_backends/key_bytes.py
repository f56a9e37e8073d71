"""Encodes keys as bytes that sort in the same order as the keys.

Each segment is encoded in UTF-8, whose byte order is the order of code points. NUL is escaped as ``00 FF``, and each
segment ends with ``00 01``. This end mark sorts below every byte that could continue a segment, so a shorter segment
comes first. All entries under a prefix are contiguous, because they begin with the bytes of the prefix.
"""

from __future__ import annotations

from saga_core.stores import Key

_END = b"\x00\x01"
_ESCAPED = b"\x00\xff"


def encode(key: Key) -> bytes:
    """Encode a key or a prefix. The empty prefix gives empty bytes."""
    return b"".join(segment.encode().replace(b"\x00", _ESCAPED) + _END for segment in key)


def decode(raw: bytes) -> Key:
    """Return the key that ``raw`` encodes."""
    # Every NUL of a text is followed by FF, so the end mark occurs nowhere else.
    return tuple(part.replace(_ESCAPED, b"\x00").decode() for part in raw.split(_END)[:-1])


def range_end(prefix: bytes) -> bytes:
    """Return the exclusive upper bound of all keys with the encoded ``prefix``.

    For the empty prefix, this is ``FF``, with which no key begins.
    """
    return prefix[:-1] + b"\x02" if prefix else b"\xff"
