"""The identity of a text: the part of it that counts when texts are compared, and short hashes of that part."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from threading import Lock

from attrs import define, field, frozen
from cachetools import TTLCache

from saga_core.language import nfc, normalized, pieces
from saga_core.state_block import Hidden, hide, note_hidden
from saga_core.transcript import voices

_IGNORED = ("*", "_", '"', "“", "”", "„", "«", "»")
_SPEAKER = re.compile(r"\s*[^\W\d_][^\n:：.!?\"“*。]{0,39}[:：]\s+")
_LONG = 4_096
"""Characters from which on an identity is remembered: a request asks for it ten times, and one sign may become 18."""
_SECONDS = 60.0
"""How long: a request is over by then."""
_KNOWN: TTLCache[str, str] = TTLCache(24 << 20, _SECONDS, getsizeof=lambda known: len(known) + _LONG)
_LOCK = Lock()
_PIECE = 1 << 16
"""Characters of which the identity is made at once: a millisecond's work, and then other threads run."""
LADDER = (192, 48, 12)
"""Lengths of the beginnings by which a grown or cut reply is found, longest first."""


def clean(text: str) -> str:
    """A text as the journal has it: NFC, state blocks taken out."""
    text = nfc(text)
    return hide(text, loose=False).visible if "`" in text or "~" in text else text


def _may_be_fenced(text: str) -> bool:
    return "`" in text or "~" in text


def read_ahead(texts: Iterable[str]) -> None:
    """Look through long texts now, so that whoever asks about them later finds it done. Blocks: call it in a thread."""
    for text in texts:
        cleaned = clean(text)
        for each in {text, cleaned}:
            hide(each)
            identity(each)


@frozen
class Facts:
    """What ``read_ahead`` finds out about a text, as it is sent to another process. None stands for the text itself."""

    clean: str | None
    fenced: Hidden | None
    """Of the text, where only fences of their own are looked for."""
    hidden: tuple[Hidden | None, ...]
    """Of the text, and of the clean one where that is another."""
    identities: tuple[str, ...]


def facts_of(texts: Sequence[str]) -> list[Facts]:
    """What there is to know about long texts. It may be called in another process."""
    found = []
    for text in texts:
        cleaned = clean(text)
        each = (text,) if cleaned == text else (text, cleaned)
        fenced = hide(nfc(text), loose=False) if _may_be_fenced(text) else None
        hidden = tuple(None if (part := hide(one)).visible == one else part for one in each)
        found.append(Facts(None if cleaned == text else cleaned, fenced, hidden, tuple(map(identity, each))))
    return found


def remember(text: str, facts: Facts) -> None:
    """Take in what ``facts_of`` found about a text, so that it is at hand."""
    if facts.fenced is not None:
        note_hidden(nfc(text), facts.fenced, loose=False)
    each = (text,) if facts.clean is None else (text, facts.clean)
    for one, hidden, found in zip(each, facts.hidden, facts.identities, strict=True):
        note_hidden(one, hidden)
        _note(one, found)


def identity(text: str) -> str:
    """What counts of a text when it is compared: NFKC, without white space, emphasis, quotation marks, wrappers of a
    speaker's words and ``Name:`` in front.
    """
    if len(text) < _LONG:
        return _identity(text)
    with _LOCK:
        known = _KNOWN.get(text)
    if known is None:
        known = _identity(text)
        _note(text, known)
    return known


def _note(text: str, known: str) -> None:
    with _LOCK, suppress(ValueError):  # it alone is more than is remembered
        _KNOWN[text] = known


def _identity(text: str) -> str:
    text = voices.unwrap(text)
    speaker = _SPEAKER.match(text)
    if speaker and speaker.end() < len(text):
        text = text[speaker.end() :]
    return _bare(text) if len(text) <= _PIECE else "".join(map(_bare, pieces(text, _PIECE)))


def _bare(text: str) -> str:
    if not text.isascii():
        text = normalized("NFKC", text)
    text = "".join(text.split())
    for mark in _IGNORED:
        text = text.replace(mark, "")
    return text


@define
class _KeyCache:
    """Identity keys by the hash of the text, so that a long history is normalised once and not on every turn.

    The texts themselves are not kept. There are two generations of ``limit`` entries of about 150 bytes each: 19 MB at
    most. Threads share it without a lock: at worst a key is made once more.
    """

    limit: int = 65_536
    young: dict[int, str] = field(factory=dict)
    old: dict[int, str] = field(factory=dict)

    def key(self, text: str) -> str:
        handle = hash(text)
        found = self.young.get(handle)
        if found is None:
            found = self.old.get(handle) or fingerprint(identity(clean(text)))
            if len(self.young) >= self.limit:
                self.old, self.young = self.young, {}
            self.young[handle] = found
        return found


def fingerprint(text: str) -> str:
    """A short hash of an identity text."""
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()


_KEYS = _KeyCache()


def identity_key(text: str, images: tuple[str, ...] = ()) -> str:
    """The fingerprint of a text's identity, pictures included."""
    key = _KEYS.key(text)
    return fingerprint("\0".join((key, *images))) if images else key


def known_keys(texts: Iterable[str]) -> list[str | None]:
    """The identity keys of many texts, as far as they are at hand: None for one that is to be asked for by itself."""
    known = _KEYS.young.get
    return [known(hash(text)) for text in texts]


def prefix_keys(text: str) -> list[str]:
    """The fingerprints of the beginnings of an identity text, for each length of ``LADDER`` that it reaches."""
    return [f"{length}:{fingerprint(text[:length])}" for length in LADDER if len(text) >= length]
