"""The question for a chapter in a style, and the answer as a text that a person may take over."""

from __future__ import annotations

import re

from saga_core.curation.facts import condensed, facts_of, lost, replay
from saga_core.curation.model_review import FRAME, LIMIT, QUOTE, Count, quoted_turns
from saga_core.language import language_of, nfc
from saga_core.messages import PromptPlan, question
from saga_core.model import MAX_STORY_CHARS
from saga_core.model_calls import without_injected
from saga_core.stores import CurationView

_QUOTED = re.compile("[\u0022\u201c\u300c\u300e]([^\u0022\u201c\u201d\u300c-\u300f]{2,})[\u0022\u201d\u300d\u300f]")
_ENDS = re.compile(r"[.!?…。！？][\u0022\u201d\u300d\u300f)]*(?=\s|$|[^\x00-\x7f])")


def rewriting_plan(view: CurationView, style: str, count: Count) -> PromptPlan:
    """Return the question: the task in a style, and the turns of ``view`` as quoted lines."""
    words = language_of(view.language).questions.chapter
    system = f"{words.task} {words.styles[style]}"
    room = LIMIT - FRAME - count(system) - count(words.answer)
    return question(system, f"{quoted_turns(view.turns, room, count)}\n{words.answer}")


def rewritten(answer: str, view: CurationView, asked: PromptPlan) -> str:
    """Return the text of an answer as one paragraph of at most ``MAX_STORY_CHARS`` characters; empty if it has none.

    What it loses of deaths, promises, debts, secrets and wounds is put back from the recorded facts. A quotation that
    does not stand in what was ``asked`` keeps its words and loses its marks.
    """
    told = _plain(asked.text().replace(f"\n{QUOTE}", " "))
    text = " ".join(without_injected(answer[: 4 * MAX_STORY_CHARS]).split())
    text = _QUOTED.sub(lambda said: said[0] if _plain(said[1]).strip(" .,!?…。、！？") in told else said[1], text)
    if not text:
        return ""
    missing = condensed(lost(text, facts_of(replay(view), view.language)), MAX_STORY_CHARS // 2, view.language)
    room = MAX_STORY_CHARS - len(missing) - 1
    if len(text) > room:
        ends = [each.end() for each in _ENDS.finditer(text[:room])]
        text = text[: ends[-1] if ends else room].rstrip()
    return f"{text} {missing}".strip()


def _plain(text: str) -> str:
    return " ".join(nfc(text).casefold().split())
