"""Figures of the recall benchmark: means, intervals, and the budgets of all measurements."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import evolve

from saga_core.config import TokenBudget

BUDGETS = (600, 1_500)
"""Tokens of the whole context block."""
SAMPLES = 2_000


def shrunk(budget: TokenBudget, most: int) -> TokenBudget:
    """The budget with ``most`` tokens in all, as from a configuration file that sets nothing else."""
    inside = ("lorebook_max", "state_briefing_max", "graph_context_max", "recall_max", "md_cache_max")
    return evolve(budget, dynamic_context_max=most, **{name: min(most, getattr(budget, name)) for name in inside})


def mean(values: Sequence[float]) -> float:
    """The arithmetic mean, or 0 without values."""
    return sum(values) / len(values) if values else 0.0


def interval(differences: Sequence[float], seed: int = 0) -> tuple[float, float]:
    """The 95 % interval of the mean, by bootstrap."""
    dice = random.Random(seed)
    size = len(differences)
    means = sorted(sum(dice.choices(differences, k=size)) / size for _ in range(SAMPLES))
    return means[int(SAMPLES * 0.025)], means[int(SAMPLES * 0.975) - 1]


def summary(values: Sequence[float], groups: Sequence[str]) -> dict[str, Any]:
    """``share``, ``low``, ``high``, ``groups`` (the share of each) and ``values``, one for each question."""
    low, high = interval(values)
    by_group = {
        name: mean([value for value, group in zip(values, groups, strict=True) if group == name])
        for name in sorted(set(groups))
    }
    return {"share": mean(values), "low": low, "high": high, "groups": by_group, "values": list(values)}


def compared(entry: Mapping[str, Any] | None, old: Mapping[str, Any] | None) -> str:
    """A share in per cent. With an ``old`` one of the same questions, also the mean difference and its interval."""
    if entry is None:
        return "–"
    share = f"{entry['share'] * 100:.1f}"
    if old is None or len(old["values"]) != len(entry["values"]):
        return share
    differences = [new - before for new, before in zip(entry["values"], old["values"], strict=True)]
    low, high = interval(differences)
    return f"{share} ({mean(differences) * 100:+.1f} [{low * 100:+.1f}, {high * 100:+.1f}])"
