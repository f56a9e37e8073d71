"""The ledger: the bills of all turns, stored next to the turns in the StateKV."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence

from attrs import define, field

from saga_core import codec
from saga_core.billing import Bill, priced
from saga_core.counters import Counters
from saga_core.errors import StoreCorrupt
from saga_core.journal import keys
from saga_core.journal.keys import rows
from saga_core.stores import Batch, Key, StateKV
from saga_core.upstream import ModelFacts, facts_of

_NAME = "bill"


@define
class Ledger:
    """Stores bills under (``bill``, session, turn), so that they are removed with their turns."""

    state: StateKV
    counters: Counters = field(factory=Counters)
    """Reports bills that cannot be read. They are left out, so that other sessions' bills stay available."""
    facts: Callable[[str, str], ModelFacts] = facts_of
    """Returns what is known of a model and its provider, for bills whose price was not known when they were entered."""

    async def enter(self, session: str, bill: Bill) -> None:
        """Store a bill. Storing the same call again changes nothing. Raises ``StoreError``."""
        await self.state.commit(Batch({keys.bill(session, bill.turn, bill.call): codec.encode(bill)}))

    async def of_turns(self, session: str, turns: Sequence[str]) -> dict[str, Bill]:
        """Return the bills of the narrations of ``turns``. Turns without a bill are left out."""
        found = await self.state.get([keys.bill(session, turn) for turn in turns])
        read = {key[2]: self._read(key, value) for key, value in found.items()}
        return {turn: bill for turn, bill in read.items() if bill is not None}

    async def bills(self, session: str) -> list[Bill]:
        """Return a session's bills, oldest first."""
        found = [bill async for _, bill in self._all((_NAME, session))]
        return sorted(found, key=lambda bill: (bill.at, bill.turn, bill.call))

    async def of_turn(self, session: str, turn: str) -> list[Bill]:
        """Return the bills of one turn: its narration, then further calls for it."""
        own = await self.of_turns(session, [turn])
        found = [bill async for _, bill in self._all((_NAME, session, turn))]
        return sorted(
            {bill.call: bill for bill in (*own.values(), *found)}.values(), key=lambda bill: (bill.at, bill.call)
        )

    async def everything(self) -> dict[str, list[Bill]]:
        """Return the bills of all sessions, by session."""
        found: dict[str, list[Bill]] = {}
        async for session, bill in self._all((_NAME,)):
            found.setdefault(session, []).append(bill)
        return found

    async def _all(self, prefix: Key) -> AsyncIterator[tuple[str, Bill]]:
        async for key, value in rows(self.state, prefix):
            bill = self._read(key, value)
            if bill is not None:
                yield key[1], bill

    def _read(self, key: Key, value: bytes) -> Bill | None:
        try:
            bill = codec.decode(value, Bill)
        except StoreCorrupt as error:
            self.counters.degrade("journal.bills", f"session {key[1]}, turn {key[2]}: its bill is left out: {error}")
            return None
        return bill if bill.dollars is not None else priced(bill, self.facts(bill.model, bill.provider))
