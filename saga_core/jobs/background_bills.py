"""Bills of background calls: extractions and reviews, entered under the turn that they served.

A paid call is entered as soon as it ends, before its answer is looked at, because the answer does not change the cost.
Each call has its own id: a repeated call makes a second bill, and a bill that is entered twice counts once.
"""

from __future__ import annotations

import logging

from attrs import define, evolve

from saga_core.background import SessionLocks
from saga_core.billing import Bill, Purpose, price
from saga_core.config import Settings
from saga_core.counters import Counters
from saga_core.errors import NotFound, StoreError
from saga_core.ids import IdSource
from saga_core.journal import Ledger
from saga_core.ports import Clock, UsagePart
from saga_core.sessions import LiveSessions
from saga_core.upstream import facts_of

log = logging.getLogger("saga.billing")


@define(eq=False)
class BackgroundBills:
    """Enters the bills in the ledger. A bill that cannot be written is reported, but the call still succeeds."""

    settings: Settings
    ledger: Ledger
    live: LiveSessions
    locks: SessionLocks
    ids: IdSource
    clock: Clock
    counters: Counters

    async def enter(self, purpose: Purpose, session: str, turn: str, part: UsagePart, model: str) -> None:
        """Enter the cost of a call for ``turn``, or for the session's root if the turn was removed meanwhile.

        ``model`` is the model that was asked. It is used if the bill does not name the model that answered. No bill is
        kept for a session that was removed.
        """
        bill = self._bill(purpose, turn, part, model)
        self.counters.emit(
            "billed",
            session=session,
            turn=turn,
            purpose=purpose,
            model=bill.model,
            input=bill.input,
            read=bill.read,
            written=bill.written,
            output=bill.output,
            dollars=bill.dollars,
            uncached=bill.uncached,
        )
        try:
            async with self.locks.writing(session):
                tree = await self.live.tree(session)
                await self.ledger.enter(session, bill if turn in tree else evolve(bill, turn=tree.root))
        except NotFound:
            log.info("session %s is gone; what its %s cost is not kept", session, purpose)
        except StoreError as error:
            self.counters.degrade("bill.write", str(error))
        else:
            self.counters.recover("bill.write")

    def _bill(self, purpose: Purpose, turn: str, part: UsagePart, model: str) -> Bill:
        named, usage = part.model or model, part.usage
        facts = facts_of(named, part.provider, self.settings.config.models.facts)
        return Bill(
            turn,
            self.clock.now(),
            named,
            facts.provider,
            usage.input,
            usage.cache_read,
            usage.cache_write,
            usage.cache_write_1h,
            usage.output,
            usage.input,
            0,
            0,
            price(usage, facts),
            price(usage, facts, cached=False),
            0.0 if facts.priced else None,
            purpose=purpose,
            call=self.ids.new("b"),
        )
