"""Backfill: reads the unreported turns of a path, some at a time, and estimates the cost beforehand.

Each step reads the next turns of the path, oldest first, several in a call, and records them as the extraction job
does. To stop, a caller requests no more steps. A later step continues there, because the results are in the journal.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from attrs import define, evolve, frozen

from saga_core.background import Supervisor
from saga_core.billing import price
from saga_core.config import Review, Settings
from saga_core.errors import NotSupported
from saga_core.jobs.extraction import AHEAD, ExtractionJob, Window, windows_of
from saga_core.journal import Ledger
from saga_core.model import TurnNode
from saga_core.ports import Usage
from saga_core.sessions import LiveSession, SessionDirectory, turn_named
from saga_core.upstream import facts_of

MOST = 64
"""Most turns of one step."""
_SAMPLE, _SAMPLES = 512, 8
"""Turns at the beginning whose prompts are measured for an estimate, and the number of samples after them."""
_ANSWER, _ANSWER_ALONE, _GROWTH = 45, 70, 40
"""Tokens of an answer per turn of a window, and about a single turn, until bills give better values. They are the size
of a block with a note in invented plays. The third is the tokens by which a prompt grows as more becomes known."""
_LATENCY, _SPEED = 2.0, 60.0
"""Seconds that a call takes in addition to its answer, and tokens of an answer per second."""
_ENOUGH = 8
"""Turns that must have been read for the bills to give better values."""
_STEP_SECONDS = 600.0


@frozen(kw_only=True)
class _Tokens:
    """The cost of calls, estimated or billed."""

    calls: int = 0
    turns: int = 0
    input: float = 0.0
    output: float = 0.0
    dollars: float | None = 0.0


@frozen(kw_only=True)
class BackfillState:
    """How far a path is read, and the estimated cost of the rest. Dollars are None if no price is known."""

    session: str
    head: str
    model: str
    left: int
    """Turns that were neither reported nor read."""
    failed: int
    """Further turns, whose reading failed for good; ``saga jobs`` says why. They are read only after a retry."""
    read: int = 0
    """Turns that this step read."""
    calls: int
    """Calls for the rest. A call reads several turns."""
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
        """Estimate the cost of reading the rest of a path. ``head`` is its end, a turn or a timeline; the default is
        the active head. Asks no model. Raises ``NotFound``, and ``NotSupported`` without an extraction model.
        """
        live = await self._load(session_id)
        return await self._state(live, turn_named(live, head or None), 0)

    async def again(self, session_id: str, head: str | None = None) -> None:
        """Count the turns of a path that could not be read among those that are left, and let steps ask about several
        turns at once again. Asks no model. Raises the same errors as ``estimate``.
        """
        live = await self._load(session_id)
        path = live.tree.path(turn_named(live, head or None))
        await self.extraction.forgive(live.session.id, [node.id for node in path])

    async def step(
        self, session_id: str, turns: int = 24, head: str | None = None, *, review: Review | None = None
    ) -> BackfillState:
        """Read the next turns of a path, at most ``turns`` and at most 64, and return what is left. Windows are not
        split, unless the first is too large. ``review`` says whether the changes count at once or wait for a person;
        None means the setting ``extraction.review``. Raises the same errors as ``estimate``.
        """
        live = await self._load(session_id)
        end = turn_named(live, head or None)
        chosen = await self._whole_windows(live, self._unread(live, end), min(turns, MOST))
        if chosen:
            waits = None if review is None else review == "ask"
            await self.extraction.again(live.session.id, chosen, waits=waits)
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

    async def _windows(self, live: LiveSession, nodes: Sequence[TurnNode]) -> list[Window]:
        assert self.extraction.extractor is not None
        return await windows_of(live, nodes, self.extraction.extractor, alone=not self.extraction.in_windows)

    async def _whole_windows(self, live: LiveSession, unread: Sequence[TurnNode], most: int) -> list[str]:
        chosen: list[str] = []
        for window in await self._windows(live, unread[: most + AHEAD]):
            if chosen and len(chosen) + len(window.turns) > most:
                break
            chosen += window.turns
        return chosen[:most]

    def _unread(self, live: LiveSession, end: str) -> list[TurnNode]:
        failed = self._failed(live)
        return [
            node
            for node in live.tree.path(end)
            if node.unreported and not live.extracted(node.id) and node.id not in failed
        ]

    def _failed(self, live: LiveSession) -> set[str]:
        session = live.session.id
        return {str(each["turn"]) for each in self.extraction.failed() if each["session"] == session}

    async def _state(self, live: LiveSession, end: str, read: int) -> BackfillState:
        extractor = self.extraction.extractor
        assert extractor is not None
        unread = self._unread(live, end)
        rest = await self._rest(live, unread)
        facts = facts_of(extractor.model, extractor.chat.name, self.settings.config.models.facts)
        dollars = price(Usage(round(rest.input), round(rest.output)), facts)
        paid = await self._paid(live)
        if paid.turns >= _ENOUGH:
            # The bills show how long the answers are, and how much of a prompt the provider's cache saves.
            rest = evolve(rest, output=paid.output / paid.turns * len(unread))
            dollars = price(Usage(round(rest.input), round(rest.output)), facts)
            known = price(Usage(round(paid.input), round(paid.output)), facts)
            if dollars is not None and known and paid.dollars is not None:
                dollars *= paid.dollars / known
            elif paid.dollars is not None:
                dollars = paid.dollars / paid.turns * len(unread)
        left = len(unread)
        path = {node.id for node in live.tree.path(end)}
        return BackfillState(
            session=live.session.id,
            head=end,
            model=extractor.model or extractor.chat.name,
            left=left,
            failed=len(self._failed(live) & path),
            read=read,
            calls=rest.calls,
            input_tokens=round(rest.input),
            output_tokens=round(rest.output),
            dollars=dollars,
            seconds=rest.calls * _LATENCY + rest.output / _SPEED,
            spent=paid.dollars,
        )

    async def _rest(self, live: LiveSession, unread: Sequence[TurnNode]) -> _Tokens:
        """The estimated cost of reading turns: the prompts as they would be sent now, plus their growth."""
        extractor = self.extraction.extractor
        assert extractor is not None
        sample = unread[:_SAMPLE]
        windows = await self._windows(live, sample)
        # Samples of a long path also come from its middle and its end, because turns grow longer as a chat goes on.
        for start in range(_SAMPLE, len(unread), max(_SAMPLE, len(unread) // _SAMPLES)):
            sample = unread[start : start + _SAMPLE // _SAMPLES]
            windows += await self._windows(live, sample)
        seen = sum(len(window.turns) for window in windows)
        if not seen:
            return _Tokens()
        entered = 0
        for window in windows:
            parent = live.tree.get(window.turns[0]).parent or live.tree.root
            state = await live.state(parent)
            if len(window.turns) == 1:
                turn = await live.turn(window.turns[0])
                entered += extractor.size(turn.user, turn.reply, state, window.language)
            else:
                entered += extractor.window_size(window.told, state, window.language)
            entered += _GROWTH
        scale = len(unread) / seen
        return _Tokens(
            calls=math.ceil(len(windows) * scale),
            turns=len(unread),
            input=entered * scale,
            output=(_ANSWER if self.extraction.in_windows else _ANSWER_ALONE) * len(unread),
        )

    async def _paid(self, live: LiveSession) -> _Tokens:
        """The cost of reading this session so far. Dollars are None if a price is not known."""
        bills = [bill for bill in await self.ledger.bills(live.session.id) if bill.purpose == "extraction"]
        prices = [bill.dollars for bill in bills if bill.dollars is not None]
        return _Tokens(
            calls=len(bills),
            turns=sum(live.extracted(turn) for turn in live.amendments),
            input=sum(bill.input for bill in bills),
            output=sum(bill.output for bill in bills),
            dollars=sum(prices) if len(prices) == len(bills) else None,
        )
