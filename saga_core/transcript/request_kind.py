"""The kind of a request without new words of the player: a continuation, the next speaker's turn, or an aside."""

from __future__ import annotations

import re
from functools import cache

from saga_core.language import every
from saga_core.model import TurnKind
from saga_core.transcript.dialogue import Transcript
from saga_core.transcript.identities import identity
from saga_core.transcript.voices import asks_for_a_line, stops_the_story

_QUOTED = 32


@cache
def _any(words: str, flags: re.RegexFlag = re.I) -> re.Pattern[str]:
    """The pattern of that name, of any language. Made when it is first needed: a start does without."""
    return re.compile("|".join(getattr(each.requests, words) for each in every()), flags)


def classify(transcript: Transcript) -> TurnKind:
    """What a request asks for. A wrong guess costs quality for one turn; the state never depends on it.

    Words of the player ask for a narration, unless a frontend's instruction behind them stops the story, or the
    request is a bare task that shows no chat. Without words, a prefilled or quoted reply asks for its continuation,
    a nudge to the next speaker for a narration, and anything else (impersonate, summarise, a quiet prompt) is a side
    request.
    """
    note = transcript.trailing_system
    if stops_the_story(note) or any(asks_for_a_line(each.sent) for each in transcript.asked):
        return TurnKind.SIDE
    if transcript.words or not transcript.past:
        return TurnKind.SIDE if _is_bare_task(transcript) else TurnKind.NARRATION
    if transcript.prefilled:
        return TurnKind.CONTINUATION
    last = identity(transcript.past[-1].text)
    if _any("goes_on", re.I | re.S).search(note) or (len(last) >= _QUOTED and last[-_QUOTED:] in identity(note)):
        return TurnKind.CONTINUATION
    if transcript.speaker or names_the_next(note) or (transcript.prefill and not note):
        return TurnKind.NARRATION
    return TurnKind.SIDE


def names_the_next(note: str) -> bool:
    """Whether a note says who is to speak next."""
    return _any("next_speaker", re.I | re.S).search(note) is not None


def _is_bare_task(transcript: Transcript) -> bool:
    if transcript.past:
        return False
    words = transcript.player_words.lstrip()
    if _any("payload").match(words):
        return True
    if len(transcript.messages) > 1:
        return _any("tool").match(transcript.system_text.lstrip("[ \n")) is not None
    return _any("task").match(words) is not None
