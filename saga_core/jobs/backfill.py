"""Backfill: reads what happened in turns of a path that nobody reported, some at a time, and says before what it costs.

Each step reads the next turns of the path, the oldest first, several in a call, and records them as the extraction job
does. Whoever stops asking for steps stops; asking again goes on where it stopped, for what was read is in the journal.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from attrs import define, evolve, frozen

from saga_core.background import Supervisor
from saga_core.billing import price
from saga_core.config import Review, Settings
from saga_core.errors import NotSupported
from saga_core.jobs.extraction import ExtractionJob
from saga_core.jobs.reading_turns import unreported
from saga_core.jobs.windows import AHEAD, Window, windows_of
from saga_core.journal import Ledger
from saga_core.model import Node
from saga_core.ports import Usage
from saga_core.sessions import LiveSession, SessionDirectory, turn_named
from saga_core.upstream import facts_of

MOST = 64
"""Turns of one step, at most."""
_SAMPLE, _SAMPLES = 512, 8
"""Turns at the beginning whose questions are measured for an estimate; stretches that are measured behind them."""
_ANSWER, _ANSWER_ALONE, _GROWTH = 45, 70, 40
"""Tokens of an answer for each turn of a window, and about a turn alone, until bills tell better: as long as blocks of
made-up plays are with a note. And by which a question grows as more is known."""
_LATENCY, _SPEED = 2.0, 60.0
"""Seconds that a call takes beside its answer, and tokens of an answer in a second."""
_ENOUGH = 8
"""Turns that were read from which on the bills tell better."""
_STEP_SECONDS = 600.0


@frozen(kw_only=True)
class _Tokens:
    """What calls take, or took."""

    calls: int = 0
    turns: int = 0
    input: float = 0.0
    output: float = 0.0
    dollars: float | None = 0.0


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
    calls: int
    """Calls that the rest takes: turns are read several in a call."""
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

    async def again(self, session_id: str, head: str | None = None) -> None:
        """Count the turns of a path that could not be read among those that are left, and ask about several at once
        again. Asks no model. Raises as ``estimate`` does.
        """
        live = await self._load(session_id)
        path = live.tree.path(turn_named(live, head) if head else live.head)
        await self.extraction.forgive(live.session.id, [node.id for node in path])

    async def step(
        self, session_id: str, turns: int = 24, head: str | None = None, *, review: Review | None = None
    ) -> BackfillState:
        """Read the next turns of a path, at most ``turns`` (and 64), in whole windows as far as one has room in that;
        and say what is left. ``review`` says whether what is read counts at once or waits for a
        person; None: as ``extraction.review`` says. Raises as ``estimate`` does.
        """
        live = await self._load(session_id)
        end = turn_named(live, head) if head else live.head
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

    async def _windows(self, live: LiveSession, nodes: Sequence[Node]) -> list[Window]:
        assert self.extraction.extractor is not None
        return await windows_of(live, nodes, self.extraction.extractor, alone=not self.extraction.in_windows)

    async def _whole_windows(self, live: LiveSession, unread: Sequence[Node], most: int) -> list[str]:
        chosen: list[str] = []
        for window in await self._windows(live, unread[: most + AHEAD]):
            if chosen and len(chosen) + len(window.turns) > most:
                break
            chosen += window.turns
        return chosen[:most]

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
        rest = await self._rest(live, unread)
        facts = facts_of(extractor.model, extractor.chat.name, self.settings.config.models.facts)
        dollars = price(Usage(round(rest.input), round(rest.output)), facts)
        paid = await self._paid(live)
        if paid.turns >= _ENOUGH:
            # How long the answers are, and what of a question a provider's cache saves, the bills say.
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

    async def _rest(self, live: LiveSession, unread: Sequence[Node]) -> _Tokens:
        """What reading turns would take: the questions as they would be asked now, and what each grows by."""
        extractor = self.extraction.extractor
        assert extractor is not None
        sample = unread[:_SAMPLE]
        windows = await self._windows(live, sample)
        # Of a long path the middle and the end are looked at as well: turns grow longer as a chat goes on.
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
        """What reading this session has taken so far; dollars are None where a price is not known."""
        bills = [bill for bill in await self.ledger.bills(live.session.id) if bill.purpose == "extraction"]
        prices = [bill.dollars for bill in bills if bill.dollars is not None]
        return _Tokens(
            calls=len(bills),
            turns=sum(live.extracted(turn) for turn in live.amendments),
            input=sum(bill.input for bill in bills),
            output=sum(bill.output for bill in bills),
            dollars=sum(prices) if len(prices) == len(bills) else None,
        )
