"""Backfill: reads what happened in turns of a path that nobody reported, some at a time, and says before what it costs.

Each step reads the next turns of the path, the oldest first, and records them as the extraction job does. Whoever stops
asking for steps stops; asking again goes on where it stopped, for what was read is in the journal.
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import define, frozen

from saga_core.background import Supervisor
from saga_core.billing import Bill, price
from saga_core.config import Settings
from saga_core.errors import NotSupported
from saga_core.jobs.extraction import ExtractionJob
from saga_core.jobs.reading_turns import unreported
from saga_core.journal import Ledger
from saga_core.language import detect
from saga_core.model import Node
from saga_core.ports import Usage
from saga_core.sessions import LiveSession, SessionDirectory, turn_named
from saga_core.upstream import facts_of

MOST = 64
"""Turns of one step, at most."""
_SAMPLE = 32
"""Turns whose questions are measured for an estimate."""
_ANSWER, _GROWTH = 70, 40
"""Tokens of an answer, and by which a question grows as more is known, until bills tell better."""
_SECONDS = 3.0
"""Seconds of a call, until then."""
_ENOUGH = 8
"""Bills from which on they tell better."""
_STEP_SECONDS = 600.0


@frozen(kw_only=True)
class BackfillState:
    """How far a path is read, and what the rest would cost. Tokens and dollars are estimates; None: no price known."""

    session: str
    head: str
    model: str
    left: int
    """Turns that nobody reported and nobody read."""
    failed: int
    """Of those, turns whose reading failed for good; ``saga jobs`` says why. They are read when somebody retries."""
    read: int = 0
    """Turns that this step read."""
    input_tokens: int
    output_tokens: int
    dollars: float | None
    seconds: float
    spent: float | None
    """Dollars that reading this session has cost so far."""


@define(eq=False, kw_only=True)
class Backfill:
    """Reads paths on demand."""

    settings: Settings
    directory: SessionDirectory
    supervisor: Supervisor
    extraction: ExtractionJob
    ledger: Ledger

    async def estimate(self, session_id: str, head: str | None = None) -> BackfillState:
        """What reading the rest of a path would take. ``head``: its end, a turn or a timeline; without one the active
        head. Asks no model. Raises ``NotFound``, and ``NotSupported`` without an extraction model.
        """
        live = await self._load(session_id)
        return await self._state(live, turn_named(live, head) if head else live.head, 0)

    async def step(self, session_id: str, turns: int = 16, head: str | None = None) -> BackfillState:
        """Read the next ``turns`` of a path (at most 64), and say what is left. Raises as ``estimate`` does."""
        live = await self._load(session_id)
        end = turn_named(live, head) if head else live.head
        chosen = [node.id for node in self._unread(live, end)][: min(turns, MOST)]
        if chosen:
            await self.extraction.again(live.session.id, chosen)
            await self.supervisor.drain(_STEP_SECONDS, self.extraction)
            live = await self._load(session_id)
        left = {node.id for node in self._unread(live, end)}
        return await self._state(live, end, sum(turn not in left for turn in chosen))

    async def _load(self, session_id: str) -> LiveSession:
        if self.extraction.extractor is None:
            raise NotSupported(
                "no extraction model: set models.extraction and a provider for it, and run this while the server runs"
            )
        return await self.directory.load(session_id)

    def _unread(self, live: LiveSession, end: str) -> list[Node]:
        failed = self._failed(live)
        return [
            node
            for node in live.tree.path(end)
            if unreported(node) and not live.extracted(node.id) and node.id not in failed
        ]

    def _failed(self, live: LiveSession) -> set[str]:
        session = live.session.id
        return {str(each["turn"]) for each in self.extraction.failed() if each["session"] == session}

    async def _state(self, live: LiveSession, end: str, read: int) -> BackfillState:
        extractor = self.extraction.extractor
        assert extractor is not None
        unread = self._unread(live, end)
        bills = [bill for bill in await self.ledger.bills(live.session.id) if bill.purpose == "extraction"]
        entered, told, seconds = await self._each(live, unread, bills)
        facts = facts_of(extractor.model, extractor.chat.name, self.settings.config.models.facts)
        cost = price(Usage(round(entered), round(told)), facts)
        known = [bill.dollars for bill in bills if bill.dollars is not None]
        if len(known) >= _ENOUGH:
            cost = sum(known) / len(known)
        left = len(unread)
        path = {node.id for node in live.tree.path(end)}
        return BackfillState(
            session=live.session.id,
            head=end,
            model=extractor.model or extractor.chat.name,
            left=left,
            failed=len(self._failed(live) & path),
            read=read,
            input_tokens=round(entered * left),
            output_tokens=round(told * left),
            dollars=None if cost is None else cost * left,
            seconds=seconds * left,
            spent=sum(known) if known or not bills else None,
        )

    async def _each(
        self, live: LiveSession, unread: Sequence[Node], bills: Sequence[Bill]
    ) -> tuple[float, float, float]:
        """Tokens in and out, and seconds, of one turn: by the bills of this session, or by what would be asked."""
        if len(bills) >= _ENOUGH:
            return sum(bill.input for bill in bills) / len(bills), sum(b.output for b in bills) / len(bills), _SECONDS
        extractor = self.extraction.extractor
        assert extractor is not None
        chosen = unread[:: max(1, len(unread) // _SAMPLE)][:_SAMPLE]
        sizes = []
        for node in chosen:
            turn = await live.turn(node.id)
            state = await live.state(turn.parent or live.tree.root)
            language = detect(f"{turn.user}\n{turn.reply}", live.world.language)
            sizes.append(extractor.size(turn.user, turn.reply, state, language))
        return (sum(sizes) / len(sizes) + _GROWTH if sizes else 0.0), _ANSWER, _SECONDS
