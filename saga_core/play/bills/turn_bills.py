"""Bills of turns: the cost of a turn as its provider billed it, even if the turn was not recorded."""

from __future__ import annotations

import logging

from attrs import define, evolve

from saga_core.billing import Bill
from saga_core.counters import Counters
from saga_core.errors import StoreError
from saga_core.journal import Ledger
from saga_core.play.bills.turn_bill import bill_of
from saga_core.play.known_models import KnownModels
from saga_core.play.pending_turn import PendingTurn
from saga_core.play.prompt_memories import PromptMemories
from saga_core.ports import Clock, TokenCounter, Usage

log = logging.getLogger("saga.prompt")


@define(eq=False, kw_only=True)
class TurnBills:
    """Makes bills, and enters those that are not recorded with a turn."""

    models: KnownModels
    memories: PromptMemories
    ledger: Ledger
    counter: TokenCounter
    clock: Clock
    counters: Counters

    def learn(self, pending: PendingTurn, usage: Usage, model: str, provider: str) -> None:
        """Learn from the provider's count of a prompt how its tokens compare with ours."""
        if pending.planned is not None:
            self.memories.learn((provider, model), pending.planned.request.total, usage.input)

    def bill(self, pending: PendingTurn) -> Bill | None:
        """The bill of a turn; None if its provider has not billed it."""
        usage, (model, provider) = pending.usage, pending.asked
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
