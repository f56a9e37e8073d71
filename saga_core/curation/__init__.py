"""Curation: finds contradictions in a story, condenses it, and validates corrections and proposals.

A start does not need it, so the other rooms import it late.
"""

from __future__ import annotations

from saga_core.curation.corrections import FIELDS, KINDS, correct
from saga_core.curation.facts import condense
from saga_core.curation.model_review import (
    MOST_CALLS,
    Desk,
    ToolCall,
    agent_prompt,
    agent_retry,
    read_answer,
    read_calls,
    retry_plan,
    review_plan,
    step_plan,
    tool_definitions,
)
from saga_core.curation.rewriting import rewriting_plan, rewritten
from saga_core.curation.rules import review_by_turn
from saga_core.curation.validation import BLOCK_CHARS, rule
