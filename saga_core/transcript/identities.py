"""The identity of a text: its normalized form for comparison, and short hashes of that form."""

from __future__ import annotations

import hashlib
import html
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import lru_cache
from threading import Lock

from attrs import define, field, frozen
from cachetools import TTLCache

from saga_core.language import nfc, normalized, pieces
from saga_core.state_block import Hidden, hide, note_hidden, prose_of

_IGNORED = ("*", "_", '"', "“", "”", "„", "«", "»")
_SPEAKERS = 4
_SPEAKER = re.compile(r"\s*[^\W\d_][^\n:：.!?\"“*。]{0,39}[:：]\s+")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_LONG = 4_096
"""Minimum characters of a text whose identity is cached. A request uses it ten times, and NFKC may turn one character
into 18."""
_SECONDS = 60.0
"""Lifetime of the cached identities. A request is over by then."""
_KNOWN: TTLCache[str, str] = TTLCache(24 << 20, _SECONDS, getsizeof=lambda known: len(known) + _LONG)
_LOCK = Lock()
_PIECE = 1 << 16
"""Characters that are normalized at once. This takes a millisecond, and then other threads can run."""
LADDER = (192, 48, 12)
"""Prefix lengths by which a grown or cut reply is found, longest first."""

WRAPPER = "s Message>"
"""Part of every wrapper around a speaker's words, used as a quick test."""
TAG = re.compile(r"<(/?)([^<>\n]{1,60})['’]s Message>")


def unwrap(text: str) -> str:
    """Return ``text`` without the tags of wrappers."""
    return TAG.sub("", text) if WRAPPER in text else text


def clean(text: str) -> str:
    """Return a text in the journal's form: NFC, without state blocks."""
    text = nfc(text)
    return hide(text, unfenced=False).visible if "`" in text or "~" in text else text


def _may_be_fenced(text: str) -> bool:
    return "`" in text or "~" in text


def read_ahead(texts: Iterable[str]) -> None:
    """Process long texts now, so that later calls find cached results. This blocks, so call it in a thread."""
    for text in texts:
        cleaned = clean(text)
        for each in {text, cleaned}:
            clean(each)
            hide(each)
            identity(each)


@frozen
class Facts:
    """The results of ``read_ahead`` for a text, for transfer between processes. None stands for the text itself."""

    clean: str | None
    fenced: tuple[Hidden | None, ...]
    """The results of ``hide`` with ``unfenced=False`` for the NFC text, and for the clean text if it differs."""
    hidden: tuple[Hidden | None, ...]
    """The results of ``hide`` for the text, and for the clean text if it differs."""
    identities: tuple[str, ...]


def facts_of(texts: Sequence[str]) -> list[Facts]:
    """Return the facts about long texts. It may be called in another process."""
    found = []
    for text in texts:
        cleaned = clean(text)
        each = (text,) if cleaned == text else (text, cleaned)
        fenced = tuple(hide(nfc(one), unfenced=False) if _may_be_fenced(one) else None for one in each)
        hidden = tuple(None if (part := hide(one)).visible == one else part for one in each)
        found.append(Facts(None if cleaned == text else cleaned, fenced, hidden, tuple(map(identity, each))))
    return found


def remember(text: str, facts: Facts) -> None:
    """Add the facts that ``facts_of`` found about a text to the caches."""
    each = (text,) if facts.clean is None else (text, facts.clean)
    for one, fenced, hidden, found in zip(each, facts.fenced, facts.hidden, facts.identities, strict=True):
        if fenced is not None:
            note_hidden(nfc(one), fenced, unfenced=False)
        note_hidden(one, hidden)
        _note(one, found)


def identity(text: str) -> str:
    """Return the form of a text that is used for comparison: NFKC, without white space, emphasis, quotation marks,
    wrappers of a speaker's words and what stands before a colon in front, such as a name. Of a reply only the prose
    counts, because many frontends do not send back what cards put around it.
    """
    if len(text) < _LONG:
        return _latest(text)
    with _LOCK:
        known = _KNOWN.get(text)
    if known is None:
        known = _identity(text)
        _note(text, known)
    return known


def _note(text: str, known: str) -> None:
    with _LOCK, suppress(ValueError):  # larger than the whole cache
        _KNOWN[text] = known


def _identity(text: str) -> str:
    if "&" in text:
        text = _ENTITY.sub(lambda found: html.unescape(found[0]), text)
    text = prose_of(unwrap(text))
    # A reply may itself begin like one with a name in front: "Mina: Mina whispers: come."
    for _ in range(_SPEAKERS):
        speaker = _SPEAKER.match(text)
        if speaker is None or speaker.end() >= len(text):
            break
        text = text[speaker.end() :]
    return _bare(text) if len(text) <= _PIECE else "".join(map(_bare, pieces(text, _PIECE)))


@lru_cache(maxsize=64)
def _latest(text: str) -> str:
    """Cached, because a reply is asked about twice when it is recorded, and again by the next request."""
    return _identity(text)


def _bare(text: str) -> str:
    if not text.isascii():
        text = normalized("NFKC", text)
    text = "".join(text.split())
    for mark in _IGNORED:
        text = text.replace(mark, "")
    return text


@define
class _KeyCache:
    """Identity keys by the hash of the text, so that a long history is normalized once and not on every turn.

    The texts are not kept. There are two generations of ``limit`` entries of about 150 bytes each, 19 MB at most.
    Threads share the cache without a lock. At worst, a key is computed twice.
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
    """Return a short hash of an identity text."""
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()


_KEYS = _KeyCache()


def identity_key(text: str, images: tuple[str, ...] = ()) -> str:
    """Return the fingerprint of a text's identity, including pictures."""
    key = _KEYS.key(text)
    return fingerprint("\0".join((key, *images))) if images else key


def known_keys(texts: Iterable[str]) -> list[str | None]:
    """Return the cached identity keys of many texts, with None for texts that are not cached."""
    known = _KEYS.young.get
    return [known(hash(text)) for text in texts]


def without_keys(texts: Iterable[str]) -> list[str]:
    """Return those of many texts whose identity keys are not cached."""
    known = _KEYS.young
    return [text for text in texts if hash(text) not in known]


def prefix_keys(text: str) -> list[str]:
    """Return the fingerprints of an identity text's prefixes, for each length of ``LADDER`` that it reaches."""
    return [f"{length}:{fingerprint(text[:length])}" for length in LADDER if len(text) >= length]
