"""The kind of a request: a narration, a continuation, or a side request."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from saga_core.language import every
from saga_core.messages import flatten
from saga_core.model import TurnKind
from saga_core.transcript.dialogue import SYSTEM_MARK, Transcript, asks_for_a_line, stops_the_story, tells_nothing_else
from saga_core.transcript.identities import identity
from saga_core.transcript.persona import persona_of

_QUOTED = 32
_HEADING = "[#*<> \n"
"""Characters that may come before the first word of a prompt."""
_ACROSS_LINES = re.I | re.S  # made once, because joining flags takes as long as a search


@cache
def _any(words: str, flags: re.RegexFlag = re.I) -> re.Pattern[str]:
    """Return the named pattern of all languages combined. Compiled on first use to keep startup fast."""
    return re.compile("|".join(getattr(each.requests, words) for each in every()), flags)


def classify(transcript: Transcript) -> TurnKind:
    """Return the kind of a request. A wrong guess reduces quality for one turn, but the state never depends on it.

    A request with words of the player is a narration, unless a frontend's instruction after them stops the story, or
    the request has a task for a text or for the chat as a text. Without words, a prefilled or quoted reply means a
    continuation, and a nudge to the next speaker means a narration. Anything else (impersonate, summarize, a quiet
    prompt) is a side request.
    """
    note = transcript.trailing_system
    if (note and stops_the_story(note)) or any(asks_for_a_line(each.sent) for each in transcript.asked):
        return TurnKind.SIDE
    if _is_a_machines(transcript):
        return TurnKind.SIDE
    if transcript.words or not transcript.past:
        return TurnKind.NARRATION
    if transcript.prefilled:
        return TurnKind.CONTINUATION
    last = identity(transcript.past[-1].text)
    if _any("goes_on", _ACROSS_LINES).search(note) or (len(last) >= _QUOTED and last[-_QUOTED:] in identity(note)):
        return TurnKind.CONTINUATION
    if names_the_next(note) and _names_the_player(transcript, note):
        return TurnKind.SIDE
    if transcript.speaker or names_the_next(note) or (transcript.prefill and not note):
        return TurnKind.NARRATION
    return TurnKind.SIDE


def _names_the_player(transcript: Transcript, note: str) -> bool:
    """Whether the next speaker is the player's character, so that the request asks for the player's line."""
    persona = persona_of(transcript)
    return persona is not None and _asks_for_a_line_of(persona.name, note)


def _asks_for_a_line_of(name: str, note: str) -> bool:
    return any(re.search(form.replace("NAME", re.escape(name)), note, re.I) for form in _lines_of())


@cache
def _lines_of() -> tuple[str, ...]:
    return tuple(form for each in every() for form in each.requests.lines_of)


def names_the_next(note: str) -> bool:
    """Whether a note names the next speaker."""
    return bool(note) and _any("next_speaker", _ACROSS_LINES).search(note) is not None


_NAME_IN_NOTE = r"([^\[\]【】［］\n]{1,60}?)"
_NAME_ENDS = r"(?=[.!。！]?\s*(?:[\]】］\n]|$)|[,;])"


def next_member(transcript: Transcript, known: Iterable[str] = ()) -> str:
    """Return the name of the member of a group who speaks next; empty if the request is not from a group.

    A frontend nudges the next speaker of a group, or the history has replies of several speakers and ends with a name.
    ``known`` has names of other characters than the player's, with which a name in a nudge is found: one in the words
    that name the next speaker, or the only one.
    """
    note = transcript.trailing_system
    if names_the_next(note):
        named = sorted((each for each in known if each in note), key=len, reverse=True)
        for name in named:
            if _asks_for_a_line_of(name, note):
                return name
        if named and all(each in named[0] for each in named):
            return named[0]
        for form in _lines_of():
            begins = r"(?:^|[\[【［\n])\s*" if form.startswith("NAME") else ""
            pattern = begins + form.replace("NAME", _NAME_IN_NOTE + (_NAME_ENDS if form.endswith(r"(?!\w)") else ""))
            if found := re.search(pattern, note, re.I):
                return found[1].strip()
    speakers = {each.speaker for each in transcript.utterances if each.role == "assistant" and each.speaker}
    return transcript.speaker if len(speakers | {transcript.speaker}) > 1 else ""


def _is_a_machines(transcript: Transcript) -> bool:
    """Whether a request is a task for a text and not a chat."""
    first = transcript.messages[0]
    told = flatten(first.get("content") or "")
    marked = first.get("role") == "user" and told.startswith(SYSTEM_MARK)
    prompt = ""
    if marked or first.get("role") in ("system", "developer"):
        prompt = told.removeprefix(SYSTEM_MARK).lstrip(_HEADING)
    if prompt and stops_the_story(prompt.split("\n", 1)[0]):
        return True
    if marked and len(transcript.messages) == 1:  # one prompt with a text; a story has several prompts or messages
        return f"\n{SYSTEM_MARK}" not in told and _any("tool").match(prompt) is not None
    text = transcript.only_text
    if text is None:
        return False
    if _any("payload").match(text):
        return True
    if not prompt and tells_nothing_else(text, behind=bool(transcript.trailing_system)):
        return True
    if len(transcript.messages) > 1:
        return _any("tool").match(transcript.system_text.lstrip(_HEADING)) is not None
    return _any("task").match(text) is not None
