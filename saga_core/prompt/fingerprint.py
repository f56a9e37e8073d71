"""Fingerprints of texts: the same in every process, so that what is remembered of prompts outlives a restart."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from hashlib import blake2b

_SIZE = 8


def fingerprint(*parts: str, after: int = 0) -> int:
    """64 bits that stand for ``parts``, kept apart, behind what ``after`` stands for."""
    hasher = blake2b(after.to_bytes(_SIZE), digest_size=_SIZE)
    for part in parts:
        raw = part.encode("utf-8", "surrogatepass")
        hasher.update(len(raw).to_bytes(_SIZE))
        hasher.update(raw)
    return int.from_bytes(hasher.digest())


def pack(prints: Iterable[int]) -> str:
    """Fingerprints as a short text."""
    return base64.b64encode(b"".join(each.to_bytes(_SIZE) for each in prints)).decode("ascii")


def unpack(text: str) -> Sequence[int]:
    """What ``pack`` made ``text`` of. Raises ``ValueError`` for anything else."""
    raw = base64.b64decode(text, validate=True)
    if len(raw) % _SIZE:
        raise ValueError(f"{len(raw)} bytes are no row of fingerprints")
    return tuple(int.from_bytes(raw[at : at + _SIZE]) for at in range(0, len(raw), _SIZE))
