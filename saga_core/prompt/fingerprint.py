"""Fingerprints of texts. They are the same in every process, so that the memory of prompts survives a restart."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from itertools import islice

_SIZE = 8
_MASK = (1 << 64) - 1
_FACTOR = 0x9E3779B97F4A7C15
"""Odd, so that multiplication is a bijection on 64 bits. It mixes values that differ in few bits."""
_KNOWN: dict[int, int] = {}
"""Fingerprints by the text's hash in this process. Cached because every request sends the history again."""
_MOST = 65_536


def fingerprint(*parts: str, after: int = 0) -> int:
    """Return a 64-bit fingerprint of the sequence ``parts``, appended to the sequence with fingerprint ``after``."""
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
    """Encode fingerprints as a short text."""
    return base64.b64encode(b"".join(each.to_bytes(_SIZE) for each in prints)).decode("ascii")


def unpack(text: str) -> Sequence[int]:
    """Decode the output of ``pack``. Raises ``ValueError`` for any other text."""
    raw = base64.b64decode(text, validate=True)
    if len(raw) % _SIZE:
        raise ValueError(f"{len(raw)} bytes are no row of fingerprints")
    return tuple(int.from_bytes(raw[at : at + _SIZE]) for at in range(0, len(raw), _SIZE))
