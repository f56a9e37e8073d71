"""Keys as bytes that sort as the keys do.

Each segment is its UTF-8, whose byte order is the order of code points, with NUL escaped as ``00 FF``, and ends with
``00 01``. The end sorts below every byte that could continue a segment, so a shorter segment comes first, and the
entries under a prefix stand together: those that begin with its bytes.
"""

from __future__ import annotations

from saga_core.stores import Key

_END = b"\x00\x01"
_ESCAPED = b"\x00\xff"


def encode(key: Key) -> bytes:
    """The bytes of ``key``; also of a prefix, and empty for the empty one."""
    return b"".join(segment.encode().replace(b"\x00", _ESCAPED) + _END for segment in key)


def decode(raw: bytes) -> Key:
    """The key that ``raw`` encodes."""
    # Every NUL of a text is followed by FF, so the end mark stands nowhere else.
    return tuple(part.replace(_ESCAPED, b"\x00").decode() for part in raw.split(_END)[:-1])


def range_end(prefix: bytes) -> bytes:
    """What all keys that begin with the encoded ``prefix`` are below; ``FF``, which no key begins with, for all."""
    return prefix[:-1] + b"\x02" if prefix else b"\xff"
