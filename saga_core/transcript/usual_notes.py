"""The notes that a frontend puts behind a chat at every turn, and what else stands there once: an instruction.

In a group, a frontend names the member who is to speak, puts its usual notes behind that, and behind those an
instruction, if there is one. Only a comparison with an earlier turn tells the last of the notes from an instruction.
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
    """The paragraphs behind a chat, but for the one that names the next speaker."""

    paragraphs: tuple[str, ...]
    alone: bool
    """Whether the next speaker's name stood there alone."""


@define
class UsualNotes:
    """What stood behind each chat when the player last said something. It is kept in memory only: without it a request
    is read by its own words.
    """

    _known: LRUCache[str, _Notes] = field(factory=lambda: LRUCache(_CHATS))

    def take(self, session: str, found: Located) -> None:
        """Keep what stands behind the player's words, where it can be told apart from them.

        Without words of hers, only what is less than was known: the rest may be an instruction.
        """
        transcript, known = found.transcript, self._known.get(session)
        if found.kind is not TurnKind.NARRATION or not transcript.past or not _says_who(transcript):
            return
        now = _notes(transcript)
        if transcript.words or known is None or len(now.paragraphs) < len(known.paragraphs):
            self._known[session] = now

    def told(self, found: Located) -> Located:
        """``found``, and the kind of a request without new words by what stands behind the chat at other times."""
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
            # Nobody is named who would speak next: the one who spoke last goes on.
            return evolve(found, kind=TurnKind.CONTINUATION)
        return found


def _says_who(transcript: Transcript) -> bool:
    return bool(transcript.speaker) or names_the_next(transcript.trailing_system)


def _notes(transcript: Transcript) -> _Notes:
    said = (part for part in _BLANK.split(transcript.trailing_system) if not names_the_next(part))
    return _Notes(tuple(text for part in said if (text := identity(part))), bool(transcript.speaker))
