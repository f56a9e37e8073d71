"""Distinguishes the notes that a frontend puts after a chat at every turn from one-time instructions.

In a group chat, a frontend names the next speaker, then adds its usual notes, then an instruction if there is one. Only
a comparison with an earlier turn can distinguish the last note from an instruction.
"""

from __future__ import annotations

import re

from attrs import define, evolve, field, frozen
from cachetools import LRUCache

from saga_core.model import TurnKind
from saga_core.transcript.dialogue import Transcript
from saga_core.transcript.identities import identity
from saga_core.transcript.locating import Located
from saga_core.transcript.request_kind import names_the_next

_CHATS = 1_024
_BLANK = re.compile(r"\n[ \t]*\n")


@frozen
class _Notes:
    """The paragraphs after a chat, without the one that names the next speaker."""

    paragraphs: tuple[str, ...]
    alone: bool
    """Whether the next speaker's name was there alone."""


@define
class UsualNotes:
    """The notes after each chat at the player's last words. They are kept only in memory. Without them, a request is
    classified by its own text.
    """

    _known: LRUCache[str, _Notes] = field(factory=lambda: LRUCache(_CHATS))

    def take(self, session: str, found: Located) -> None:
        """Store the notes after the player's words if the request names the next speaker.

        Without player words, only fewer notes than known are stored, because the others may be an instruction.
        """
        transcript, known = found.transcript, self._known.get(session)
        if found.kind is not TurnKind.NARRATION or not transcript.past or not _says_who(transcript):
            return
        now = _notes(transcript)
        if transcript.words or known is None or len(now.paragraphs) < len(known.paragraphs):
            self._known[session] = now

    def told(self, found: Located) -> Located:
        """Return ``found``, with the kind of a request without player words corrected by the chat's usual notes."""
        transcript = found.transcript
        usual = self._known.get(found.match.session or "")
        if usual is None or transcript.words:
            return found
        now = _notes(transcript)
        if found.kind is TurnKind.NARRATION and _says_who(transcript):
            count = len(usual.paragraphs)
            if len(now.paragraphs) > count and now.paragraphs[:count] == usual.paragraphs:
                return evolve(found, kind=TurnKind.SIDE)
        if (
            found.kind is TurnKind.SIDE
            and usual.alone
            and not _says_who(transcript)
            and now == evolve(usual, alone=False)
        ):
            # No next speaker is named, so the last speaker continues.
            return evolve(found, kind=TurnKind.CONTINUATION)
        return found


def _says_who(transcript: Transcript) -> bool:
    return bool(transcript.speaker) or names_the_next(transcript.trailing_system)


def _notes(transcript: Transcript) -> _Notes:
    said = (part for part in _BLANK.split(transcript.trailing_system) if not names_the_next(part))
    return _Notes(tuple(text for part in said if (text := identity(part))), bool(transcript.speaker))
