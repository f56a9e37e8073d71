"""Which requests are turns: a request without new words of the player goes on, passes the word, or asks aside."""

from __future__ import annotations

import re

from saga_core.journal.transcript import Transcript, identity
from saga_core.model.turn import TurnKind

_QUOTED = 32
_CONTINUE = re.compile(r"\bcontinue\b.{0,40}\b(message|reply|response|story|writing)\b|이어(서|지는)", re.I | re.S)
_NEXT_SPEAKER = re.compile(r"\bnext reply\b.{0,20}\b(only )?as\b|다음 (답변|응답|대사)", re.I | re.S)


def classify(transcript: Transcript) -> TurnKind:
    """What a request asks for. A wrong guess costs quality for one turn; the state never depends on it.

    Words of the player ask for a narration. Without them, a prefilled or quoted reply asks for its continuation, a
    nudge to the next speaker for a narration, and anything else (impersonate, summarise, a quiet prompt) is a side
    request.
    """
    if transcript.words or not transcript.past:
        return TurnKind.NARRATION
    if transcript.prefilled:
        return TurnKind.CONTINUATION
    nudge = transcript.trailing_system
    last = identity(transcript.past[-1].text)
    if _CONTINUE.search(nudge) or (len(last) >= _QUOTED and last[-_QUOTED:] in identity(nudge)):
        return TurnKind.CONTINUATION
    if _NEXT_SPEAKER.search(nudge):
        return TurnKind.NARRATION
    return TurnKind.SIDE
