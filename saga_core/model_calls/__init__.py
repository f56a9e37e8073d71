"""Bounded, validated questions to small models, shared by extraction, curation and strategies."""

from __future__ import annotations

from saga_core.model_calls.model_call import (
    LONGEST,
    MAX_TOKENS,
    TIMEOUT,
    BeforeCall,
    CuratorModel,
    ModelAnswer,
    ModelCall,
    ModelCallFailed,
    Paid,
    PaidFor,
    Report,
    without_bill,
)
from saga_core.model_calls.texts import Count, Unusable, cut_middle, object_schema, read_object, without_injected

__all__ = [
    "LONGEST",
    "MAX_TOKENS",
    "TIMEOUT",
    "BeforeCall",
    "Count",
    "CuratorModel",
    "ModelAnswer",
    "ModelCall",
    "ModelCallFailed",
    "Paid",
    "PaidFor",
    "Report",
    "Unusable",
    "cut_middle",
    "object_schema",
    "read_object",
    "without_bill",
    "without_injected",
]
