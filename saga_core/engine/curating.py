"""Curations: every so many turns of a path a curator looks it over, behind the player's back.

A path is reviewed once: a review is recorded beside its turn, and covers the turns since the review before it on the
path. Curators that ask nobody look at the head at once. Those that ask a model wait until a later request's history
proved the turn, like extraction, and give way to narration. A curator that fails costs nothing but its review.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from attrs import define, evolve, field, frozen

from saga_core.capabilities import Capability
from saga_core.curation.review import Review
from saga_core.engine.amending import amend
from saga_core.engine.counters import Counters
from saga_core.engine.extracting import Extractions
from saga_core.engine.kept_elsewhere import KeptElsewhere
from saga_core.engine.lanes import Lanes, Waiting
from saga_core.engine.live import LiveSession, LiveSessions
from saga_core.engine.reads import Reads
from saga_core.engine.review_pace import Pace, long_enough
from saga_core.engine.shared_memories import SharedMemories
from saga_core.errors import NotFound, StoreError
from saga_core.ids import IdSource
from saga_core.model.deltas import Delta, Source
from saga_core.ports import Clock
from saga_core.stores.curator import CurationView, Curator, Proposal
from saga_core.subject import concern

log = logging.getLogger("saga.curation")

LONGEST = 5
"""Intervals that one review covers at most."""
_REASON = 300


@frozen
class Due:
    """A review that is to be made: up to the turn ``turn``, of the turns below the depth ``since``."""

    turn: str
    since: int


@define(eq=False)
class _Desk:
    """What a session's reviews need."""

    session: str
    task: asyncio.Task[None] | None = None
    proved: set[str] = field(factory=set)
    again: bool = False
    """Somebody asked while the reviews were under way."""
    failed: dict[str, tuple[int, int, str]] = field(factory=dict)
    """Curator -> tries in a row that failed, the depth from which it is tried again, and why it failed."""
    reviewing: str = ""


@define(eq=False)
class Curations:
    """The supervisor of all curation."""

    curators: Sequence[Curator]
    live: LiveSessions
    lanes: Lanes
    extractions: Extractions
    ids: IdSource
    clock: Clock
    counters: Counters
    interval: int
    blocks: tuple[str, ...] = ()
    """Names of the memory blocks that a curator may write."""
    stand_ins: Mapping[str, Curator] = field(factory=dict)
    """Name of a curator -> who reviews when it cannot."""
    elsewhere: KeptElsewhere | None = None
    """What curators keep of sessions outside the process."""
    paces: Mapping[str, Pace] = field(factory=dict)
    """Name of a curator -> how often it reviews, where that is not every ``interval`` turns."""
    shared: SharedMemories | None = None
    """What other sessions have to tell; none where nobody learns."""
    count: Callable[[str], int] = len
    """Tokens of a text."""
    reads: Reads = field(factory=Reads)
    """Goes first."""
    done: int = field(default=0, init=False)
    """Reviews since the start."""
    _desks: dict[str, _Desk] = field(factory=dict)
    _one: asyncio.Semaphore = field(factory=lambda: asyncio.Semaphore(1))
    _closed: bool = False
    _leaving: asyncio.Task[int] | None = None

    def kick(self, session: str) -> None:
        """Look whether a review of the session is due, and begin it."""
        if self._closed or not self.curators:
            return
        desk = self._desks.setdefault(session, _Desk(session))
        desk.again = True
        if desk.task is None:
            desk.task = asyncio.create_task(self._run(desk), name=f"saga-curate-{session}")

    def busy(self, session: str) -> bool:
        """Whether a review of the session is under way."""
        desk = self._desks.get(session)
        return desk is not None and desk.task is not None

    def again(self, session: str) -> None:
        """Try what failed in a session once more, now."""
        desk = self._desks.get(session)
        if desk is not None:
            desk.failed = {name: (tries, 0, reason) for name, (tries, _, reason) in desk.failed.items()}
            self.kick(session)

    def failed(self) -> list[tuple[str, str, int, str]]:
        """Session, curator, tries in a row and reason of each review that failed and is to be tried again."""
        return [
            (desk.session, name, tries, reason)
            for desk in self._desks.values()
            for name, (tries, _, reason) in desk.failed.items()
        ]

    def describe(self) -> dict[str, object]:
        """Who reviews, and what failed. JSON-able."""
        return {
            "curators": [curator.info.name for curator in self.curators],
            "stand_ins": {name: curator.info.name for name, curator in self.stand_ins.items()},
            "interval": self.interval,
            "reviews": self.done,
            "failed": [
                {"session": session, "curator": name, "tries": tries, "reason": reason}
                for session, name, tries, reason in self.failed()
            ],
        }

    def waiting(self) -> tuple[Waiting, ...]:
        """The reviews that are under way, and what of sessions that went could not be removed elsewhere."""
        reviews = tuple(
            Waiting(desk.session, desk.reviewing, "curate", "a curator is reviewing")
            for desk in self._desks.values()
            if desk.task is not None and desk.reviewing
        )
        return (*reviews, *(self.elsewhere.waiting() if self.elsewhere is not None else ()))

    async def resume(self) -> None:
        """Take up what is noted to be forgotten elsewhere, behind everything else. Raises ``StoreError``."""
        if self.elsewhere is not None and await self.elsewhere.leaving():
            self._leaving = asyncio.create_task(self.elsewhere.forget(), name="saga-leaving")

    @asynccontextmanager
    async def letting_go(self, session: str) -> AsyncIterator[None]:
        """Reviews of the session end, and afterwards curators forget what they keep of it elsewhere.

        The session must be held by the caller. What cannot be forgotten now stays noted. Raises ``StoreError``.
        """
        desk = self._desks.pop(session, None)
        if desk is not None and desk.task is not None:
            desk.task.cancel()
            await asyncio.gather(desk.task, return_exceptions=True)
        if self.elsewhere is not None:
            await self.elsewhere.note(session)
        yield
        if self.elsewhere is not None:
            await self.elsewhere.forget(session)

    async def drain(self) -> int:
        """Make every review that is due, the active heads counting as proved; how many they were.

        It may take as long as a model does: bound it from outside. What failed is tried once more.
        """
        before = self.done
        for session, desk in list(self._desks.items()):
            live = self.live.peek(session)
            if live is not None:
                desk.proved.add(live.head)
            elif desk.task is None and not desk.failed:
                del self._desks[session]  # it left memory, which it does when nothing is left to do
                continue
            desk.failed = {name: (tries, 0, reason) for name, (tries, _, reason) in desk.failed.items()}
            self.kick(session)
        if self._leaving is not None and not self._leaving.done():
            await asyncio.wait([self._leaving])
        elif self.elsewhere is not None:
            await self.elsewhere.forget()
        while tasks := [desk.task for desk in self._desks.values() if desk.task is not None]:
            await asyncio.wait(tasks)
        return self.done - before

    async def aclose(self) -> None:
        """Stop. A review under way is given up; it is due again at the next turn."""
        self._closed = True
        tasks: list[asyncio.Task[Any]] = [desk.task for desk in self._desks.values() if desk.task is not None]
        if self._leaving is not None:
            tasks.append(self._leaving)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # -- reviewing ---------------------------------------------------------------------------------------------

    async def _run(self, desk: _Desk) -> None:
        concern(request="", session=desk.session)
        try:
            while desk.again:
                desk.again = False
                for curator in self.curators:
                    more = True
                    while more:
                        await self.reads.give_way()
                        more = await self._reviewed(desk, curator)
        except NotFound:
            self._desks.pop(desk.session, None)
        except StoreError as error:
            self.counters.add("curation.failures")
            log.warning("session %s: what is to be reviewed cannot be told", desk.session, exc_info=error)
        finally:
            desk.task = None
            desk.reviewing = ""

    async def _reviewed(self, desk: _Desk, curator: Curator) -> bool:
        """Make the next review of ``curator``, if one is due. Raises ``NotFound`` for a session that is gone."""
        name = curator.info.name
        live = await self.live.get(desk.session)
        due = await self._due(live, desk, curator)
        if due is None:
            return False
        tries, rest, _ = desk.failed.get(name, (0, 0, ""))
        if live.tree.get(due.turn).depth < rest:
            return False
        desk.reviewing = due.turn
        concern(turn=due.turn)
        try:
            whole = await self._review(desk, live, curator, due)
        except NotFound:
            return False  # what was reviewed went; the next turn looks again
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"[:_REASON]
            later = live.tree.get(due.turn).depth + min(2**tries, self._pace(curator).every)
            desk.failed[name] = (tries + 1, later, reason)
            self.counters.add("curation.failures")
            asks = Capability.RESIDENT not in curator.info.capabilities and name not in self.paces
            alone = "; the rules review alone" if asks else ""
            self.counters.degrade(f"curation.{name}", reason + alone)
            log.warning("session %s: the %s curator failed: %s", desk.session, name, error, exc_info=error)
            return False
        finally:
            desk.reviewing = ""
        desk.failed.pop(name, None)
        self.done += 1
        if whole:
            self.counters.recover(f"curation.{name}")
        return True

    def _pace(self, curator: Curator) -> Pace:
        return self.paces.get(curator.info.name) or Pace(self.interval)

    async def _due(self, live: LiveSession, desk: _Desk, curator: Curator) -> Due | None:
        """The next review on the active path; None when none is due, or when turns of it are to be read before."""
        tree, head = live.tree, live.tree.get(live.head)
        free = Capability.RESIDENT in curator.info.capabilities
        node = head if free or head.id in desk.proved or head.parent is None else tree.get(head.parent)
        pace, begun = self._pace(curator), False
        last, names = 0, {curator.info.name}
        if (stand_in := self.stand_ins.get(curator.info.name)) is not None:
            names.add(stand_in.info.name)
        for each in tree.upwards(node.id):
            found = [review.depth for review in live.reviews.get(each.id, ()) if review.curator in names]
            if found:
                last, begun = max(found), True
                break
        most = LONGEST * pace.every
        if not free and not (begun and pace.whole):
            last = max(last, node.depth - most)
        behind = node.depth - last
        if behind < pace.every and not (
            pace.tokens and await long_enough(live, node.id, last, pace.tokens, self.count)
        ):
            return None
        end = tree.ancestor_at(node.id, min(node.depth, last + most))
        if any(tree.is_ancestor(turn, end.id) for turn in self.extractions.wanting(live.session.id)):
            return None
        return Due(end.id, last)

    async def _view(self, live: LiveSession, due: Due) -> CurationView:
        path = [node for node in live.tree.path(due.turn) if node.depth > due.since]
        turns = await live.journal.turns(live.session.id, [node.id for node in path])
        above = path[0].parent
        return CurationView(
            live.session.id,
            await live.state(due.turn),
            tuple(evolve(turn, delta=live.effective(turn)) for turn in turns),
            due.since,
            await live.state(above) if above is not None else None,
            live.world.language,
            await self.shared.of(live.session) if self.shared is not None else (),
        )

    async def _review(self, desk: _Desk, live: LiveSession, curator: Curator, due: Due) -> bool:
        """Whether ``curator`` made the review itself."""
        view, revision = await self._view(live, due), live.revision
        if Capability.RESIDENT in curator.info.capabilities:
            spoke, proposals, notice = curator, await curator.review(view), ""
        else:
            async with self._one:
                spoke, proposals, notice = await self._proposed(curator, view)
        async with self.lanes.exclusive(desk.session, journal=True):
            fresh = await self.live.get(desk.session)
            fresh.tree.get(due.turn)
            if fresh is not live or fresh.revision != revision:
                view = await self._view(fresh, due)  # what is proposed is judged on what is known by now
            await self._record(fresh, spoke, due, view, proposals, notice)
        return not notice

    async def _proposed(self, curator: Curator, view: CurationView) -> tuple[Curator, tuple[Proposal, ...], str]:
        """Who spoke, what is proposed, and what went otherwise than configured. Raises what the last of them raises."""
        name, stand_in = curator.info.name, self.stand_ins.get(curator.info.name)
        try:
            return curator, await curator.review(view), ""
        except Exception as error:
            if stand_in is None:
                raise
            notice = f"{type(error).__name__}: {error}"[:_REASON] + f"; {stand_in.info.name} reviews instead"
            self.counters.add("curation.stand_ins")
            self.counters.degrade(f"curation.{name}", notice)
            log.warning("session %s: the %s curator failed: %s", view.session, name, error, exc_info=error)
        return stand_in, await stand_in.review(view), f"{name}: {notice}"

    async def _record(
        self,
        live: LiveSession,
        curator: Curator,
        due: Due,
        view: CurationView,
        proposals: tuple[Proposal, ...],
        notice: str,
    ) -> None:
        from saga_core.curation.rulings import rule  # starting does without it, as it does without what follows

        rulings = rule(view, proposals, self.blocks)
        sound = [each for each in rulings if each.accepted]
        changes = [(number := self.ids.new("a"), Delta(each.events, Source.CURATION, id=number)) for each in sound]
        review = Review(
            curator.info.name,
            due.turn,
            self.clock.now(),
            due.since,
            view.state.depth,
            tuple(each.proposal for each in sound),
            tuple(number for number, _ in changes),
            tuple((each.proposal.summary[:_REASON], each.reason) for each in rulings if not each.accepted),
            notice,
        )
        if changes:
            (first, delta), *more = changes
            await amend(live, due.turn, delta, first, *more, review=review)
            self.lanes.submit(live.session.id, [due.turn])
        else:
            await live.journal.put_review(live.session.id, self.ids.new("a"), review)
            live.reviewed(review)
        self.counters.add("curation.reviews")
        self.counters.tell("curated", session=live.session.id, turn=review.turn, curator=review.curator)
        for each in rulings:
            self.counters.add(f"curation.{'accepted' if each.accepted else 'refused'}.{each.proposal.kind}")
        found = [each for each in rulings if each.accepted and each.proposal.kind == "contradiction"]
        if found:
            log.info("session %s: the %s curator found %d contradictions", live.session.id, review.curator, len(found))
