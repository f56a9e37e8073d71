"""Identifiers: time-ordered ones for events, content-derived ones for entities."""

from __future__ import annotations

import hashlib
import re

from attrs import define, field

from saga_core.language import fold_name
from saga_core.ports import Clock, Entropy, SystemClock, SystemEntropy

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_TURN = re.compile(f"t[{_ALPHABET}]{{20}}", re.IGNORECASE)


def _base32(value: int, width: int) -> str:
    digits = []
    for _ in range(width):
        digits.append(_ALPHABET[value & 31])
        value >>= 5
    return "".join(reversed(digits))


@define
class IdSource:
    """Makes ids that sort by creation time, even within one millisecond and when the clock jumps back."""

    clock: Clock = field(factory=SystemClock)
    entropy: Entropy = field(factory=SystemEntropy)
    _last: int = field(default=0, init=False)

    def new(self, prefix: str) -> str:
        """Return ``prefix`` and 20 characters: 10 for the time in milliseconds, 10 random."""
        moment = max(int(self.clock.now() * 1_000) << 50, self._last + 1)
        if moment & ((1 << 50) - 1) == 0:
            moment += int.from_bytes(self.entropy.token(6)) + 1
        self._last = moment
        return prefix + _base32(moment, 20)


def is_turn_id(text: str) -> bool:
    """Whether a text has the form of a turn's id, in letters of any case."""
    return _TURN.fullmatch(text) is not None


def entity_id(kind: str, name: str, ordinal: int = 0) -> str:
    """The id of the ``ordinal``-th entity with this kind and name. It is the same in every branch."""
    digest = hashlib.blake2b(f"{kind}\0{fold_name(name)}\0{ordinal}".encode(), digest_size=7)
    return f"{kind[:1]}{digest.hexdigest()}"


def digest(*parts: str, size: int = 12) -> str:
    """Return a hex fingerprint of ``size`` bytes. Length prefixes keep the boundaries between ``parts`` significant."""
    hasher = hashlib.blake2b(digest_size=size)
    for part in parts:
        raw = part.encode()
        hasher.update(len(raw).to_bytes(8))
        hasher.update(raw)
    return hasher.hexdigest()
