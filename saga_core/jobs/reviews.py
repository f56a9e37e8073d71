"""The reviews job: every few turns of a path, curators review it.

A path is reviewed once: a review is recorded beside its turn, and covers the turns since the path's previous review.
Curators that call no model review the head at once. Those that call a model wait until a later request's history has
proved the turn, like extraction, and give way to narration. A failing curator costs only its review, which is retried
some turns later. Memory strategies are curators with their own pace.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from attrs import define, evolve, field, frozen

from saga_core.arguments import check_argument
from saga_core.background import DONE, Foreground, Step, Supervisor, Waiting
from saga_core.capabilities import Capability
from saga_core.counters import Counters, set_log_context
from saga_core.errors import BadInput, LeaseLost, NotFound, QuotaExceeded, SagaError, in_words
from saga_core.foreign import foreign
from saga_core.hosting import Admission
from saga_core.ids import IdSource
from saga_core.jobs.extraction import ExtractionJob
from saga_core.jobs.remote_state import ForgettingJob
from saga_core.jobs.views import FollowingJob, ViewsJob
from saga_core.journal import PendingWork
from saga_core.model import Delta, Review, Source, deltas, edits, held
from saga_core.modules import LONGEST as LONGEST_TEXT
from saga_core.modules import is_line
from saga_core.ports import Clock
from saga_core.sessions import LiveSession, LiveSessions, SharedMemories, amend
from saga_core.stores import CurationView, Curator
from saga_core.values import Proposal

# -- pace ------------------------------------------------------------------------------------------------------


@frozen
class Pace:
    """How often one curator reviews."""

    every: int
    tokens: int = 0
    """Tokens of turns after which it reviews even before ``every`` turns; 0 for never."""
    whole: bool = False
    """Whether a path is reviewed from its beginning and without gaps, however far the curator is behind."""


async def long_enough(live: LiveSession, turn: str, since: int, tokens: int, count: Callable[[str], int]) -> bool:
    """Whether the turns below the depth ``since``, up to ``turn``, have ``tokens`` tokens. Raises ``StoreError``."""
    found = 0
    for node in live.tree.upwards(turn):
        if node.depth <= since:
            break
        (each,) = await live.turns([node.id])
        found += count(each.user) + count(each.reply)
        if found >= tokens:
            return True
    return False


# -- the job ---------------------------------------------------------------------------------------------------

log = logging.getLogger("saga.curation")

LONGEST = 5
"""Most intervals that one review covers."""
_MOST, _TEXTS = 40, 1_000
"""Most proposals of a review, and most texts and ids of a proposal."""
_REASON = 300


@frozen
class Due:
    """A review that is due. It covers the turns below the depth ``since``, up to the turn ``turn``."""

    turn: str
    since: int


@frozen
class _Failure:
    tries: int
    """How often in a row the curator failed."""
    from_depth: int
    """The depth from which it is tried again."""
    reason: str


@define(eq=False)
class _Desk:
    """The reviews of one session: the proved turns, the failures, and the turn that is being reviewed."""

    session: str
    proved: set[str] = field(factory=set)
    failed: dict[str, _Failure] = field(factory=dict)
    """Curator -> its last failure."""
    reviewing: str = ""

    def try_again(self) -> None:
        """Let failed reviews be tried again now."""
        self.failed = {name: evolve(each, from_depth=0) for name, each in self.failed.items()}


@define(eq=False, kw_only=True, slots=False)
class ReviewsJob(FollowingJob):
    """Runs the reviews of all sessions."""

    kind = "curate"
    counter = "curation"
    mode = "curation"

    curators: Sequence[Curator]
    live: LiveSessions
    views: ViewsJob
    extraction: ExtractionJob
    supervisor: Supervisor
    foreground: Foreground
    ids: IdSource
    clock: Clock
    counters: Counters
    interval: int
    blocks: tuple[str, ...] = ()
    """Names of the memory blocks that a curator may write."""
    stand_ins: Mapping[str, Curator] = field(factory=dict)
    """Name of a curator -> the curator that reviews if it fails."""
    remote: ForgettingJob
    """Removes what curators store of sessions outside the process."""
    admission: Admission | None = None
    paces: Mapping[str, Pace] = field(factory=dict)
    """Name of a curator -> how often it reviews, if that is not every ``interval`` turns."""
    asking: frozenset[str] = frozenset()
    """Names of curators whose proposals wait until a person accepts them. Such a change is undone by ``curation`` in
    the commit that makes it, and accepting it undoes that."""
    shared: SharedMemories
    count: Callable[[str], int] = len
    """Counts the tokens of a text."""
    done: int = field(default=0, init=False)
    """Reviews since the start."""
    _desks: dict[str, _Desk] = field(factory=dict)
    _one: asyncio.Semaphore = field(factory=lambda: asyncio.Semaphore(1))

    async def wants(self, live: LiveSession, turns: Sequence[str]) -> Mapping[str, PendingWork]:
        """Nothing, because the path shows whether a review is due. Also publishes what was learned, so that a crash
        does not lose it."""
        if self.shared.strategies:
            await self.shared.publish(live)
        return {}

    def views_rendered(self, live: LiveSession, turns: Sequence[str]) -> None:
        """Check whether a review is due."""
        self.kick(live.session.id)

    def kick(self, session: str) -> None:
        """Check whether a review of the session is due, and make it."""
        if self.curators:
            self._desks.setdefault(session, _Desk(session))
            self.wake(session)

    def again(self, session: str) -> None:
        """Try the failed reviews of a session again now."""
        desk = self._desks.get(session)
        if desk is not None:
            desk.try_again()
            self.kick(session)

    def failed(self) -> list[tuple[str, str, int, str]]:
        """Session, curator, consecutive tries and reason of each review that failed and is to be retried."""
        return [
            (desk.session, name, each.tries, each.reason)
            for desk in self._desks.values()
            for name, each in desk.failed.items()
        ]

    def describe(self) -> dict[str, object]:
        """The curators, and the failed reviews. JSON-able."""
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

    def waiting(self, reasons: Mapping[str, str]) -> Iterable[Waiting]:
        """The reviews that are under way."""
        return [
            Waiting(desk.session, desk.reviewing, self.kind, "a curator is reviewing")
            for desk in self._desks.values()
            if desk.reviewing
        ]

    def forget(self, session: str) -> None:
        """Drop the state of a session that, wholly or in part, is about to be removed."""
        self._desks.pop(session, None)

    @asynccontextmanager
    async def letting_go(self, session: str) -> AsyncIterator[None]:
        """End the reviews of a session, and afterwards let curators forget what they store of it elsewhere.

        The caller must hold the session. What cannot be forgotten now stays noted. Raises ``StoreError``.
        """
        await self.scheduler.give_up(self, session)
        await self.remote.note(session)
        yield
        await self.remote.forget_now(session)

    async def before_drain(self) -> None:
        """Count the active heads as proved, and try failed reviews again."""
        for session, desk in list(self._desks.items()):
            live = self.live.peek(session)
            if live is not None:
                desk.proved.add(live.head)
            elif not desk.failed and not self.scheduler.is_running(self, session):
                del self._desks[session]  # it was unloaded, which happens when nothing is left to do
                continue
            desk.try_again()
            self.kick(session)

    # -- reviewing ---------------------------------------------------------------------------------------------

    async def step(self, session: str) -> Step:
        """Make every review of a session that is due."""
        desk, before = self._desks.get(session), self.done
        if desk is None:
            return DONE
        try:
            for curator in self.curators:
                more = True
                while more:
                    await self.foreground.give_way()
                    more = await self._reviewed(desk, curator)
        except NotFound:
            self._desks.pop(session, None)
        finally:
            desk.reviewing = ""
        return Step(done=self.done - before)

    async def _reviewed(self, desk: _Desk, curator: Curator) -> bool:
        """Make the next review of ``curator``, if one is due. Raises ``NotFound`` for a session that is gone."""
        name = curator.info.name
        live = await self.live.get(desk.session)
        due = await self._due(live, desk, curator)
        if due is None:
            return False
        failure = desk.failed.get(name) or _Failure(0, 0, "")
        if live.tree.get(due.turn).depth < failure.from_depth:
            return False
        if not await self._may_ask(live, curator):
            return False
        desk.reviewing = due.turn
        set_log_context(turn=due.turn)
        try:
            whole = await self._review(desk, live, curator, due)
        except NotFound:
            return False  # the reviewed turn was removed; the next turn checks again
        except LeaseLost:
            raise  # another server reviews it
        except Exception as error:  # noqa: BLE001 - whatever a curator raises costs its review and nothing else
            self._failed(desk, live, curator, due, error, failure.tries)
            return False
        finally:
            desk.reviewing = ""
        desk.failed.pop(name, None)
        self.done += 1
        if whole:
            self.counters.recover(f"curation.{name}")
        return True

    async def _may_ask(self, live: LiveSession, curator: Curator) -> bool:
        """Whether the quotas of the session's owner allow a review that calls a model. Otherwise it stays due."""
        if self.admission is None or Capability.RESIDENT in curator.info.capabilities:
            return True
        try:
            await self.admission.admit_call(live.session.owner)
        except QuotaExceeded:
            self.counters.add("curation.over_quota")
            return False
        return True

    def _failed(self, desk: _Desk, live: LiveSession, curator: Curator, due: Due, error: Exception, tries: int) -> None:
        name, reason = curator.info.name, in_words(error)[:_REASON]
        later = live.tree.get(due.turn).depth + min(2**tries, self._pace(curator).every)
        desk.failed[name] = _Failure(tries + 1, later, reason)
        self.counters.add("curation.failures")
        asks = Capability.RESIDENT not in curator.info.capabilities and name not in self.paces
        alone = "; the rules review alone" if asks else ""
        self.counters.degrade(f"curation.{name}", reason + alone)
        known = isinstance(error, SagaError)
        log.warning(
            "session %s: the %s curator failed: %s", desk.session, name, error, exc_info=None if known else error
        )

    def _pace(self, curator: Curator) -> Pace:
        return self.paces.get(curator.info.name) or Pace(self.interval)

    async def _due(self, live: LiveSession, desk: _Desk, curator: Curator) -> Due | None:
        """The next review on the active path; None if none is due, or if some of its turns have to be read first."""
        tree, head = live.tree, live.tree.get(live.head)
        free = Capability.RESIDENT in curator.info.capabilities
        node = head if free or head.id in desk.proved or head.parent is None else tree.get(head.parent)
        pace = self._pace(curator)
        last, names = 0, {curator.info.name}
        if (stand_in := self.stand_ins.get(curator.info.name)) is not None:
            names.add(stand_in.info.name)
        for each in tree.upwards(node.id):
            found = [review.depth for review in live.reviews.get(each.id, ()) if review.curator in names]
            if found:
                last = max(found)
                break
        most = LONGEST * pace.every
        if not free and not pace.whole:
            last = max(last, node.depth - most)
        behind = node.depth - last
        if behind < pace.every and not (
            pace.tokens and await long_enough(live, node.id, last, pace.tokens, self.count)
        ):
            return None
        end = tree.ancestor_at(node.id, min(node.depth, last + most))
        if any(tree.is_ancestor(turn, end.id) for turn in self.extraction.wanting(live.session.id)):
            return None
        return Due(end.id, last)

    async def _view(self, live: LiveSession, due: Due) -> CurationView:
        path = [node for node in live.tree.path(due.turn) if node.depth > due.since]
        turns = await live.turns([node.id for node in path])
        above = path[0].parent
        return CurationView(
            live.session.id,
            await live.state(due.turn),
            tuple(evolve(turn, delta=live.effective(turn)) for turn in turns),
            due.since,
            await live.state(above) if above is not None else None,
            live.world.language,
            await self.shared.of(live) if self.shared.strategies else (),
            {node.id: made for node in path if (made := edits(live.amendments.get(node.id, ())))},
        )

    async def _review(self, desk: _Desk, live: LiveSession, curator: Curator, due: Due) -> bool:
        """Make a review. Returns whether ``curator`` made it itself, without its stand-in."""
        view, revision = await self._view(live, due), live.revision
        if Capability.RESIDENT in curator.info.capabilities:
            spoke, proposals, notice = curator, await _proposals(curator, view), ""
        else:
            async with self._one:
                spoke, proposals, notice = await self._proposed(curator, view)
        async with self.supervisor.exclusive(desk.session, journal=True):
            fresh = await self.live.get(desk.session)
            fresh.tree.get(due.turn)
            if fresh is not live or fresh.revision != revision:
                view = await self._view(fresh, due)  # proposals are judged on the current state
            await self._record(fresh, spoke, due, view, proposals, notice)
        return not notice

    async def _proposed(self, curator: Curator, view: CurationView) -> tuple[Curator, tuple[Proposal, ...], str]:
        """The curator that answered, its proposals, and a notice if it is the stand-in. Raises its error."""
        name, stand_in = curator.info.name, self.stand_ins.get(curator.info.name)
        try:
            return curator, await _proposals(curator, view), ""
        except Exception as error:
            if stand_in is None:
                raise
            notice = in_words(error)[:_REASON] + f"; {stand_in.info.name} reviews instead"
            self.counters.add("curation.stand_ins")
            self.counters.degrade(f"curation.{name}", notice)
            log.warning("session %s: the %s curator failed: %s", view.session, name, error, exc_info=error)
        return stand_in, await _proposals(stand_in, view), f"{name}: {notice}"

    async def _record(
        self,
        live: LiveSession,
        curator: Curator,
        due: Due,
        view: CurationView,
        proposals: tuple[Proposal, ...],
        notice: str,
    ) -> None:
        from saga_core.curation import rule  # imported here, because a start does not need it

        verdicts = rule(view, proposals, self.blocks)
        sound = [each for each in verdicts if each.accepted]
        changes = [(number := self.ids.new("a"), Delta(each.events, Source.CURATION, id=number)) for each in sound]
        review = Review(
            curator.info.name,
            due.turn,
            self.clock.now(),
            due.since,
            view.state.depth,
            tuple(each.proposal for each in sound),
            tuple(number for number, _ in changes),
            tuple((each.proposal.summary[:_REASON], each.reason) for each in verdicts if not each.accepted),
            notice,
        )
        if changes:
            (first, delta), *more = changes
            if curator.info.name in self.asking:
                more += self._held(live, review, [delta for _, delta in changes])
            await amend(live, due.turn, delta, first, *more, review=review)
            self.views.submit(live.session.id, [due.turn])
        else:
            with live.writing():
                await live.journal.put_review(live.session.id, self.ids.new("a"), review)
            live.reviewed(review)
        self.counters.add("curation.reviews")
        self.counters.emit("curated", session=live.session.id, turn=review.turn, curator=review.curator)
        for each in verdicts:
            self.counters.add(f"curation.{'accepted' if each.accepted else 'refused'}.{each.proposal.kind}")
        found = [each for each in verdicts if each.accepted and each.proposal.kind == "contradiction"]
        if found:
            log.info("session %s: the %s curator found %d contradictions", live.session.id, review.curator, len(found))

    def _held(self, live: LiveSession, review: Review, made: Sequence[Delta]) -> list[tuple[str, Delta]]:
        """The deltas that undo changes until a person accepts them. A curator's own notes do not wait."""
        found = list[tuple[str, Delta]]()
        for proposal, delta in zip(review.accepted, made, strict=True):
            if all(isinstance(event, deltas.BlockWritten) for event in delta.events):
                continue
            number = self.ids.new("a")
            found += held(live.session.standing, review.curator, proposal.kind, change=delta.id, number=number)
        self.counters.add("curation.waiting", sum(hold.source is Source.CURATION for _, hold in found))
        return found


async def _proposals(curator: Curator, view: CurationView) -> tuple[Proposal, ...]:
    """Ask a curator, which may be the code of others. Raises ``BadInput`` for what are no proposals."""
    with foreign:
        found: Any = await curator.review(view)
    if not isinstance(found, list | tuple):
        raise BadInput(f"review gave a {type(found).__name__}; give a tuple of saga_core.stores.Proposal")
    taken: list[Proposal] = []
    for each in found[:_MOST]:
        if not isinstance(each, Proposal):
            raise BadInput(f"review gave a {type(each).__name__} among its proposals; give saga_core.stores.Proposal")
        texts = _texts(each)
        if len(texts) <= _TEXTS and all(map(is_line, texts)):
            taken.append(each)
    if len(taken) < len(found):
        log.warning(
            "session %s: the %s curator gave %d proposals, and %d of them are left out: at most %d are taken, each "
            "with at most %d texts and ids of at most %d characters that UTF-8 can store",
            *(view.session, curator.info.name, len(found), len(found) - len(taken), _MOST, _TEXTS, LONGEST_TEXT),
        )
    return tuple(taken)


def _texts(proposal: Proposal) -> list[str]:
    """All texts of a proposal. Raises ``BadInput`` if a field has another type: the code of others may have made it."""
    about, texts = f"the proposal {proposal.summary!r:.80}", list[str]()
    check_argument(f"{about}: data", proposal.data, Mapping, "give a mapping of texts")
    for name, values in (
        ("kind", (proposal.kind,)),
        ("summary", (proposal.summary,)),
        ("turns", proposal.turns),
        ("entities", proposal.entities),
        ("data", (*proposal.data, *proposal.data.values())),
    ):
        ids = {"turns": "give ids, such as turn.id", "entities": "give ids, such as entity.id"}
        remedy = ids.get(name, "give a text")
        if not isinstance(values, tuple | list):
            raise BadInput(f"{about}: {name} is {values!r:.80}; give a tuple of ids")
        for value in values:
            check_argument(f"{about}: {name}", value, remedy=remedy)
        texts += values
    return texts
