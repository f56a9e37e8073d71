"""Bills of turns: what the provider charged, what SAGA added, and what it would have cost without SAGA.

A turn has a bill even if it was not recorded.
"""

from __future__ import annotations

import logging

from attrs import define, evolve

from saga_core.billing import Bill, price
from saga_core.counters import Counters
from saga_core.errors import StoreError
from saga_core.journal import Ledger
from saga_core.play.pending_turn import PendingTurn
from saga_core.play.prompt_memories import NarratorModels, PromptMemories
from saga_core.ports import Clock, TokenCounter, Usage
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
    visible = sum(counter.count(reply.text) for reply in pending.replies)
    raw = sum(counter.count(reply.raw) for reply in pending.replies)
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


log = logging.getLogger("saga.prompt")


@define(eq=False, kw_only=True)
class TurnBills:
    """Makes bills, and enters those that are not recorded with a turn."""

    models: NarratorModels
    memories: PromptMemories
    ledger: Ledger
    counter: TokenCounter
    clock: Clock
    counters: Counters

    def learn(self, pending: PendingTurn, usage: Usage, model: str, provider: str) -> None:
        """Learn from the provider's count of a prompt how its tokens compare with ours."""
        if pending.planned is not None and not pending.rounds:  # answers to calls are part of no plan
            self.memories.learn((provider, model), pending.planned.request.total, usage.input)

    def bill(self, pending: PendingTurn) -> Bill | None:
        """The bill of a turn; None if its provider has not billed it."""
        usage, (model, provider) = pending.usage, pending.billed_model
        if usage is None:
            return None
        self.learn(pending, usage, model, provider)
        bill = self._priced(pending, usage, model, provider)
        if bill.note:
            self.counters.add("cache.broken")
            log.info("session %s, turn %s: %s", pending.session.id, pending.id, bill.note)
        return bill

    def _priced(self, pending: PendingTurn, usage: Usage, model: str, provider: str) -> Bill:
        facts = self.models.facts(model, provider)
        return bill_of(pending, usage, facts, model, self.clock.now(), self.models.scale(facts, model), self.counter)

    async def unrecorded(self, session: str, pending: PendingTurn) -> None:
        """Enter the bill of a turn that was not recorded, under the turn that it continues.

        Does not fail if the ledger cannot be written.
        """
        bill = self.bill(pending)
        if bill is not None and pending.bill is None:
            pending.bill = evolve(bill, turn=pending.parent.id, call=pending.id)
            await self._enter(session, pending.bill)

    async def failed(self, session: str, pending: PendingTurn) -> None:
        """Enter the bills of models that failed before another was asked, under the turn that this one continues."""
        for number, given in enumerate(pending.failed, 1):
            bill = self._priced(pending, *given)
            await self._enter(
                session, evolve(bill, turn=pending.parent.id, call=f"{pending.id}-{number}", block=0, pin="")
            )

    async def _enter(self, session: str, bill: Bill) -> None:
        try:
            await self.ledger.enter(session, bill)
        except StoreError as error:
            self.counters.degrade("bill.write", str(error))
        else:
            self.counters.recover("bill.write")
