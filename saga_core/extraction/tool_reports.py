"""The tool by which a narrator reports what its reply changed, and what a call of it says. Sans-IO.

The call is SAGA's own: the client never sees it, and it makes no turn an intermediate step.
"""

from __future__ import annotations

import json
from typing import Any

from attrs import evolve

from saga_core.extraction.answer import answer_schema, read_answer
from saga_core.extraction.question import key_words, words_of
from saga_core.state_block import BlockStatus, StateReading
from saga_core.trackers import NO_TRACKERS, Trackers

REPORT = "saga_report"


def report_tool(language: str, counted: Trackers = NO_TRACKERS) -> dict[str, Any]:
    """The tool as OpenAI's chat API declares it, described in a language. ``counted`` are the story's trackers."""
    words = words_of(language)
    described = key_words(words, counted)
    schema = answer_schema(counted=counted)
    return {"type": "function", "function": {"name": REPORT, "description": described, "parameters": schema}}


def read_call(arguments: str, visible: str, counted: Trackers = NO_TRACKERS) -> StateReading:
    """What a call reports. A call whose arguments cannot be read is a missing report."""
    try:
        json.loads(arguments or "{}")
    except (ValueError, RecursionError) as error:
        return StateReading(visible, BlockStatus.FALLBACK, problems=(f"{REPORT}: {error}",))
    return evolve(read_answer(arguments or "{}", counted), visible=visible, others=(), cut="")
