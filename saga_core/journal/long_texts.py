"""Texts that are too long for a record: kept cut, with a fingerprint of the whole, so that the story goes on."""

from __future__ import annotations

import hashlib
import json
import logging

from attrs import evolve

from saga_core.model import Turn

LONGEST_TEXT = 4 << 20
"""Bytes of one text as a record holds it. A store takes 16 MB for all of a turn."""
_LONGEST_EPISODE = 1 << 20
_CHUNK = 1 << 16

_log = logging.getLogger("saga.journal")


def recordable(turn: Turn) -> Turn:
    """The turn with texts that fit into its record; the same one where they do, as nearly always."""
    user, reply = cut(turn.user), cut(turn.reply)
    if user is turn.user and reply is turn.reply:
        return turn
    _log.warning("turn %s of session %s is recorded with its texts cut: they are too long", turn.id, turn.session)
    return evolve(turn, user=user, reply=reply)


def recordable_episode(episode: str) -> str:
    """What recall keeps of a turn, as it fits."""
    return cut(episode, _LONGEST_EPISODE)


def cut(text: str, most: int = LONGEST_TEXT) -> str:
    """``text`` of at most ``most`` bytes of JSON, and behind a cut how much is left out and the whole one's SHA-256."""
    if len(text) * 6 <= most or _size(text) <= most:
        return text
    kept, used = 0, 300  # for the note
    while kept < len(text):
        used += _size(text[kept : kept + _CHUNK])
        if used > most:
            break
        kept += _CHUNK
    whole = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
    return f"{text[:kept]}\n[… {len(text) - kept} of {len(text)} characters are not recorded; sha256 {whole}]"


def _size(text: str) -> int:
    return len(json.dumps(text, ensure_ascii=False).encode("utf-8", "replace"))
