"""Facts about upstream models: their caches, prices and parameters."""

from __future__ import annotations

from saga_core.upstream.facts import SECONDS, ModelFacts, facts_of, override
from saga_core.upstream.parameters import ParameterRules, read_rules, rules_of, takes

__all__ = [
    "SECONDS",
    "ModelFacts",
    "ParameterRules",
    "facts_of",
    "override",
    "read_rules",
    "rules_of",
    "takes",
]
