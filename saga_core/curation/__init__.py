"""Curation: finds contradictions in a story, condenses it, and schedules events."""

from __future__ import annotations

from typing import TYPE_CHECKING

from saga_core.lazy_face import lazy_face

if TYPE_CHECKING:
    from saga_core.curation import prompt as prompt
    from saga_core.curation import rules as rules
    from saga_core.curation import story as story
    from saga_core.curation.corrections import FIELDS, correct
    from saga_core.curation.parse import read_answer
    from saga_core.curation.prompt import ask_agent, ask_step, told_again
    from saga_core.curation.schedule import due_lines
    from saga_core.curation.steps import MOST_CALLS, Call, Desk, read_calls, tool_definitions
    from saga_core.curation.validation import BLOCK_CHARS, rule

__all__ = [
    "BLOCK_CHARS",
    "FIELDS",
    "MOST_CALLS",
    "Call",
    "Desk",
    "ask_agent",
    "ask_step",
    "correct",
    "due_lines",
    "prompt",
    "read_answer",
    "read_calls",
    "rule",
    "rules",
    "story",
    "told_again",
    "tool_definitions",
]

# Imported on first use to keep startup fast.
__getattr__ = lazy_face(
    {
        "prompt": "saga_core.curation.prompt",
        "rules": "saga_core.curation.rules",
        "story": "saga_core.curation.story",
        "FIELDS": "saga_core.curation.corrections:FIELDS",
        "correct": "saga_core.curation.corrections:correct",
        "read_answer": "saga_core.curation.parse:read_answer",
        "ask_agent": "saga_core.curation.prompt:ask_agent",
        "ask_step": "saga_core.curation.prompt:ask_step",
        "told_again": "saga_core.curation.prompt:told_again",
        "due_lines": "saga_core.curation.schedule:due_lines",
        "Call": "saga_core.curation.steps:Call",
        "Desk": "saga_core.curation.steps:Desk",
        "MOST_CALLS": "saga_core.curation.steps:MOST_CALLS",
        "read_calls": "saga_core.curation.steps:read_calls",
        "tool_definitions": "saga_core.curation.steps:tool_definitions",
        "BLOCK_CHARS": "saga_core.curation.validation:BLOCK_CHARS",
        "rule": "saga_core.curation.validation:rule",
    }
)
