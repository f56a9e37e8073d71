"""Fingerprints of texts: the same in every process, so that what is remembered of prompts outlives a restart."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from itertools import islice

_SIZE = 8
_MASK = (1 << 64) - 1
_FACTOR = 0x9E3779B97F4A7C15
"""Odd, so that no two of 64 bits become one; it spreads what stands in few bits."""
_KNOWN: dict[int, int] = {}
"""Hash of a text in this process -> its fingerprint: a history comes again with every request."""
_MOST = 65_536


def fingerprint(*parts: str, after: int = 0) -> int:
    """64 bits that stand for ``parts``, kept apart and in their order, behind what ``after`` stands for."""
    link = after
    for part in parts:
        key = hash(part)
        found = _KNOWN.get(key)
        link = ((link ^ (_learn(key, part) if found is None else found)) * _FACTOR + 1) & _MASK
    return link


def _learn(key: int, text: str) -> int:
    if len(_KNOWN) >= _MOST:
        for old in list(islice(_KNOWN, _MOST // 2)):
            del _KNOWN[old]
    found = int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_SIZE).digest())
    _KNOWN[key] = found
    return found


def pack(prints: Iterable[int]) -> str:
    """Fingerprints as a short text."""
    return base64.b64encode(b"".join(each.to_bytes(_SIZE) for each in prints)).decode("ascii")


def unpack(text: str) -> Sequence[int]:
    """What ``pack`` made ``text`` of. Raises ``ValueError`` for anything else."""
    raw = base64.b64decode(text, validate=True)
    if len(raw) % _SIZE:
        raise ValueError(f"{len(raw)} bytes are no row of fingerprints")
    return tuple(int.from_bytes(raw[at : at + _SIZE]) for at in range(0, len(raw), _SIZE))
