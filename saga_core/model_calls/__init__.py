"""Bounded, validated questions to small models, shared by extraction, curation and strategies."""

from __future__ import annotations

from saga_core.model_calls.asking import MAX_TOKENS, TIMEOUT, Asking, PaidFor, unpaid
from saga_core.model_calls.failure import ModelCallFailed
from saga_core.model_calls.json_answer import Unusable, read_object
from saga_core.model_calls.model_call import LONGEST, BeforeCall, ModelCall, Paid, Report
from saga_core.model_calls.quoting import Count, cut_middle, without_injected

__all__ = [
    "LONGEST",
    "MAX_TOKENS",
    "TIMEOUT",
    "Asking",
    "BeforeCall",
    "Count",
    "ModelCall",
    "ModelCallFailed",
    "Paid",
    "PaidFor",
    "Report",
    "Unusable",
    "cut_middle",
    "read_object",
    "unpaid",
    "without_injected",
]
