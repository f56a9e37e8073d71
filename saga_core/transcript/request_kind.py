"""The kind of a request without new words of the player: a continuation, the next speaker's turn, or an aside."""

from __future__ import annotations

import re

from saga_core.model import TurnKind
from saga_core.transcript.dialogue import Transcript
from saga_core.transcript.identities import identity
from saga_core.transcript.voices import asks_for_a_line, stops_the_story

_QUOTED = 32
_CONTINUE = re.compile(r"\bcontinue\b.{0,40}\b(message|reply|response|story|writing)\b|이어(서|지는)", re.I | re.S)
_NEXT_SPEAKER = re.compile(r"\bnext reply\b.{0,20}\b(only )?as\b|다음 (답변|응답|대사)", re.I | re.S)

# The rest is for requests that show no reply at all.
_TOOL = re.compile(
    r"you are (?:a|an|the) (?:[\w-]+ ){0,3}(?:translator|summari[sz]er|classifier|proofreader|title generator)\b"
    r"|(?:translate|summari[sz]e|classify) the (?:following|given|user|text|message|input)"
    r"|from the (?:list|options) below, (?:choose|select|pick)"
    r"|(?:당신은|너는|넌) [^.\n]{0,20}(?:번역|요약)(?:가|기|자|사|하는)"
    r"|(?:다음|아래|주어진)[^.\n]{0,40}(?:요약|번역|분류)(?:하|해)",
    re.I,
)
"""The beginning of a system prompt that makes the model a tool and not a narrator."""
_PAYLOAD = re.compile(
    r"(?:please )?(?:translate|summari[sz]e|classify|proofread|paraphrase) (?:the|this) "
    r"(?:following|above|text|message|chat|conversation|dialogue|passage)"
    r"|(?:다음|아래|위)[^.\n]{0,40}(?:요약|번역|분류)(?:하|해)",
    re.I,
)
"""The beginning of words that bring a text to work on."""
_TASK = re.compile(
    r"(?:please )?(?:translate|summari[sz]e|classify|proofread|paraphrase)\b"
    r"|(?:please )?(?:generate|create|write|suggest) (?:a|an|the) (?:[\w-]+ ){0,4}(?:title|image prompt|tags?)\b"
    r"|[^\n]{0,20}제목[을를]? [^\n]{0,20}(?:지어|만들|생성|붙여|추천)"
    r"|[^\n]*(?:요약|번역)(?:해|하) ?(?:줘|주세요|라|시오|십시오|세요)?[.:!]?[ \t]*(?:\n|\Z)",
    re.I,
)
"""The beginning of words that, all alone, are a task."""


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
    if _CONTINUE.search(note) or (len(last) >= _QUOTED and last[-_QUOTED:] in identity(note)):
        return TurnKind.CONTINUATION
    if _NEXT_SPEAKER.search(note) or (transcript.prefill and not note):
        return TurnKind.NARRATION
    return TurnKind.SIDE


def _is_bare_task(transcript: Transcript) -> bool:
    if transcript.past:
        return False
    words = transcript.player_words.lstrip()
    if _PAYLOAD.match(words):
        return True
    if len(transcript.messages) > 1:
        return _TOOL.match(transcript.system_text.lstrip("[ \n")) is not None
    return _TASK.match(words) is not None
