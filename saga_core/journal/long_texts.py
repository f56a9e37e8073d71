"""Texts too long for a record. They are stored shortened, with a fingerprint of the whole text."""

from __future__ import annotations

import hashlib
import json
import logging

from attrs import evolve

from saga_core.model import Turn

LONGEST_TEXT = 4 << 20
"""The largest size of one text in a record, in bytes. A store accepts 16 MB for a whole turn."""
_LONGEST_EPISODE = 1 << 20
_CHUNK = 1 << 16

_log = logging.getLogger("saga.journal")


def recordable(turn: Turn) -> Turn:
    """Return the turn with its texts shortened to fit into its record; the same object if they fit."""
    user, reply = cut(turn.user), cut(turn.reply)
    if user is turn.user and reply is turn.reply:
        return turn
    _log.warning("turn %s of session %s is recorded with its texts cut: they are too long", turn.id, turn.session)
    return evolve(turn, user=user, reply=reply)


def recordable_episode(episode: str) -> str:
    """Return the text that recall keeps of a turn, shortened to fit."""
    return cut(episode, _LONGEST_EPISODE)


def cut(text: str, most: int = LONGEST_TEXT) -> str:
    """Shorten ``text`` to at most ``most`` bytes of JSON. A note has the omitted length and the whole's SHA-256."""
    if len(text) * 6 <= most or _size(text) <= most:
        return text
    kept, used = 0, 300  # room for the note
    while kept < len(text):
        used += _size(text[kept : kept + _CHUNK])
        if used > most:
            break
        kept += _CHUNK
    whole = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
    return f"{text[:kept]}\n[… {len(text) - kept} of {len(text)} characters are not recorded; sha256 {whole}]"


def _size(text: str) -> int:
    return len(json.dumps(text, ensure_ascii=False).encode("utf-8", "replace"))
