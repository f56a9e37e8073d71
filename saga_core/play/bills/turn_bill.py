"""The bill of a turn: what the provider charged, what SAGA added, and what it would have cost without SAGA."""

from __future__ import annotations

from attrs import evolve

from saga_core.billing import Bill, price
from saga_core.play.pending_turn import PendingTurn
from saga_core.ports import TokenCounter, Usage
from saga_core.prompt import Planned
from saga_core.upstream import ModelFacts

_LOST = 0.5
"""The cache counts as broken if fewer than this part of the expected tokens were read from it."""


def bill_of(
    pending: PendingTurn, usage: Usage, facts: ModelFacts, model: str, at: float, scale: float, counter: TokenCounter
) -> Bill:
    """The bill of a turn that was played. ``scale`` is the number of the model's tokens per token as SAGA counts."""
    planned = pending.planned
    ours = planned.added if planned is not None else 0
    visible, raw = (sum(counter.count(part(reply)) for reply in pending.replies) for part in (_shown, _said))
    block = round(usage.output * (1.0 - visible / raw)) if raw > visible else 0
    added = min(usage.input, round(ours * scale))
    alone = Usage(usage.input - added, usage.output - block)
    bill = Bill(
        pending.id,
        at,
        model,
        facts.provider,
        usage.input,
        usage.cache_read,
        usage.cache_write,
        usage.cache_write_1h,
        usage.output,
        added,
        min(added, round(pending.context.tokens * scale)),
        block,
        price(usage, facts),
        price(usage, facts, cached=False),
        price(alone, facts, cached=False),
        planned.reason if planned is not None else "",
        pin=planned.pin if planned is not None else "",
        language=planned.language if planned is not None else "",
    )
    return bill if planned is None else evolve(bill, note=in_words(planned, usage, facts, scale))


def _shown(reply: object) -> str:
    return str(getattr(reply, "text", ""))


def _said(reply: object) -> str:
    return str(getattr(reply, "raw", ""))


def in_words(planned: Planned, usage: Usage, facts: ModelFacts, scale: float) -> str:
    """Why less was read from the cache than possible; empty if nothing went wrong.

    The text says which block differs from the previous prompt and which turn that prompt continued, or that the prompts
    begin alike but the provider did not find the cached part.
    """
    before = planned.before
    if before is None:
        return ""
    since = f"since the prompt that continued {before.turn}" if before.turn else "since the prompt before"
    if planned.diverged:
        why = f"; the pages were pinned anew ({planned.reason})" if planned.reason else ""
        return f"{since}, {planned.diverged}{why}"
    expected = planned.request.outlook.read * scale
    if expected >= max(1, facts.cache_minimum) and usage.cache_read < expected * _LOST:
        return (
            f"{since}, the first {planned.shared} blocks are the same; about {expected:.0f} tokens should have been"
            f" read from the cache and {usage.cache_read} were: the provider dropped its entry, or the key is another"
        )
    return ""
