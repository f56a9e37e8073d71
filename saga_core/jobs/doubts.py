"""The doubts job: asks whether two characters are one person, where their names alone do not tell.

A model that reads replies is asked about several pairs at once, at most once in five turns. What it says with words of
the story is a change that is listed, explained and undone like a curator's. What it does not know, and everything
where there is no such model, becomes a finding, which the player decides. Until then the two stay two.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from attrs import define, field
from cachetools import LRUCache

from saga_core.background import DONE, Step
from saga_core.errors import NotFound, QuotaExceeded, UpstreamError
from saga_core.jobs.asking import Asking
from saga_core.jobs.personas import introduced, was_merged
from saga_core.jobs.views import FollowingJob
from saga_core.language import detect, language_of
from saga_core.model import ONE, ONE_PERSON, TWO, Delta, Event, Kind, Source, Turn, WorldState, deltas
from saga_core.model_calls import ModelCallFailed
from saga_core.naming import Doubt, disguise, doubts, made_one
from saga_core.sessions import LiveSession, amend

if TYPE_CHECKING:
    from saga_core.extraction import Extractor

log = logging.getLogger("saga.jobs")

DOUBTS = "extraction.names"
"""The degraded mode in which names are not asked about, because the model cannot be asked or does not answer."""
EVERY = 5
"""Turns of a path from one question to the next."""
MOST = 6
"""The maximum number of doubts that are asked about, or found without a model, at once."""
_KEPT = 256
"""Sessions of which it is kept what was looked at. Another one begins anew when it is played."""
_PASSAGES = 3
"""The maximum number of turns that are quoted for a pair."""
_LOOKED_BACK = 24
"""Turns in which both names are looked for."""


@define
class _Looked:
    """What was looked at in a session."""

    people: frozenset[str] = frozenset()
    """The characters among whom all pairs were compared."""
    turn: str = ""
    """The turn whose characters they were. Another reply may take the player's questions with it."""
    asked: int = -EVERY
    """The depth at which the model was asked last."""
    open: dict[str, Doubt] = field(factory=dict)
    """Doubts that wait for the next question, by key."""
    known: set[str] = field(factory=set)
    """The keys of all doubts so far."""


@define(eq=False, kw_only=True, slots=False)
class DoubtsJob(FollowingJob):
    """Asks about pairs of characters once their turn is part of the story. Nothing is noted in the journal: after a
    restart the next turn finds the same doubts, but for those that are decided."""

    kind = "names"
    counter = "names"
    mode = "names"

    reader: Extractor | None
    asking: Asking
    _looked: LRUCache[str, _Looked] = field(factory=lambda: LRUCache(_KEPT))

    def views_rendered(self, live: LiveSession, turns: Sequence[str]) -> None:
        """Look at what was played. A model is asked about the turn before the last one, which is part of the story from
        now on; the player, whom a question costs nothing, at once."""
        if live.tree.get(live.head).depth > 1:  # of one turn nobody is met twice
            self.wake(live.session.id)

    async def step(self, session: str) -> Step:
        """Find the new doubts of a session, and ask about them."""
        try:
            live = await self.asking.live.get(session)
            turn = live.head if self.reader is None else live.tree.get(live.head).parent
            return DONE if turn is None else await self._look(live, turn)
        except NotFound:
            return DONE  # the session was deleted
        except QuotaExceeded:
            self._looked[session].asked = -EVERY  # they are asked at the next turn
            return DONE
        except (ModelCallFailed, UpstreamError) as error:
            log.warning("session %s: whether two names mean one person stays open: %s", session, error)
            self.asking.counters.add("names.failures")
            self.asking.counters.degrade(
                DOUBTS, f"{self.asking.model} did not say whether two names mean one person: {error}"
            )
            return DONE

    async def _look(self, live: LiveSession, turn: str) -> Step:
        looked, state = self._looked.setdefault(live.session.id, _Looked()), await live.state(turn)
        people = frozenset(each.id for each in state.of_kind(Kind.CHARACTER))
        goes_on = looked.turn in live.tree and live.tree.is_ancestor(looked.turn, turn)
        since = live.tree.get(looked.turn if goes_on else turn).depth
        late = [node.id for node in live.tree.path(turn)[-_LOOKED_BACK:] if node.depth > since] or [turn]
        anew, looked.turn = self.reader is None and not goes_on, turn
        if anew or people != looked.people:
            looked.people = people
            root = await live.state(live.tree.root)
            for doubt in [*doubts(state), *await _disguises(live, late)]:
                is_new = (anew or doubt.key not in looked.known) and doubt.late not in root.entities
                if is_new and not _is_decided(live, state, doubt):
                    looked.open[doubt.key] = doubt
                    looked.known.add(doubt.key)
        depth = live.tree.get(turn).depth
        if self.reader is not None and abs(depth - looked.asked) < EVERY:
            return DONE
        chosen = [each for each in looked.open.values() if {each.late, each.early} <= people][:MOST]
        if not chosen:
            return DONE
        looked.asked = depth
        answers = (
            await self._answers(live, turn, state, chosen)
            if self.reader is not None
            else [(each, None, "") for each in chosen]
        )
        for each in chosen:  # if the model failed, they are asked with the next question
            del looked.open[each.key]
        await self._record(live.session.id, turn, answers)
        return Step(done=1)

    async def _answers(
        self, live: LiveSession, turn: str, state: WorldState, chosen: Sequence[Doubt]
    ) -> Sequence[tuple[Doubt, bool | None, str]]:
        from saga_core.extraction import Pair, read_pairs  # only needed with a model

        assert self.reader is not None

        known = state.entities
        pairs = [
            Pair(each, known[each.late].names, known[each.early].names, await _story(live, turn, each))
            for each in chosen
        ]
        language = detect(pairs[0].story, live.world.language)
        paid = self.asking.paid(live, turn)
        found = await read_pairs(pairs, language, self.reader, before_call=self.asking.admitted(live), paid=paid)
        self.asking.counters.recover(DOUBTS)
        self.asking.counters.add("names.asked", len(found))
        return [(each.doubt, each.same, each.words) for each in found]

    async def _record(self, session: str, turn: str, answers: Sequence[tuple[Doubt, bool | None, str]]) -> None:
        async with self.asking.supervisor.exclusive(session, journal=True):
            live = await self.asking.live.get(session)
            if turn not in live.tree.nodes:
                return
            for doubt, same, words in answers:
                state = await live.state(turn)
                if doubt.late not in state.entities or doubt.early not in state.entities:
                    continue  # an earlier answer has made_one them
                first, number = await introduced(live, turn, doubt.late), self.asking.ids.new("a")
                at = first if same else turn
                events = tuple(_events(state, live.world.language, doubt, same, words))
                await amend(live, at, Delta(events, Source.CURATION, id=number), number)
                self.asking.views.submit(session, [at])
                if same:
                    self.asking.counters.add("names.made_one")

    def forget(self, session: str) -> None:
        """Drop what is known of a session that is about to be removed."""
        self._looked.pop(session, None)


def _events(state: WorldState, language: str, doubt: Doubt, same: bool | None, words: str) -> Iterator[Event]:
    """The finding, after a merge that it explains, and its verdict if there is one."""
    if same:
        yield from made_one(state, doubt.late, doubt.early)
    text = language_of(language).texts.findings.one_person(one=state.name(doubt.late), other=state.name(doubt.early))
    yield deltas.Found(doubt.key, ONE_PERSON, text)
    if same is not None:
        yield deltas.Settled(doubt.key, ONE if same else TWO, words)


async def _disguises(live: LiveSession, turns: Sequence[str]) -> list[Doubt]:
    """The doubts about those who appeared in ``turns``, of one path."""
    found: list[Doubt] = []
    for turn, parent in ((each, live.tree.get(each).parent) for each in turns):
        if parent is not None:
            before, state = await live.state(parent), await live.state(turn)
            fresh = [each.id for each in state.of_kind(Kind.CHARACTER) if each.id not in before.entities]
            reply = (await live.turn(turn)).reply if fresh else ""
            found += [doubt for each in fresh if (doubt := disguise(before, state, each, reply)) is not None]
    return found


def _is_decided(live: LiveSession, state: WorldState, doubt: Doubt) -> bool:
    """Whether there is a finding about the two, or a merge of them that was undone."""
    found = any(each.key == doubt.key for each in state.findings)
    return found or was_merged(live, deltas.Merged(doubt.late, doubt.early))


async def _story(live: LiveSession, turn: str, doubt: Doubt) -> str:
    """The turns that speak of both, the latest first, and the one in which the later of the two appeared."""
    state = await live.state(turn)
    first = await live.turn(await introduced(live, turn, doubt.late))
    late, early = state.entities[doubt.late].names, state.entities[doubt.early].names
    path = live.tree.path(turn)[-_LOOKED_BACK:]
    passages = [first]
    for each in await live.turns([node.id for node in reversed(path)]):
        text = _text(each)
        if each.id != first.id and any(name in text for name in late) and any(name in text for name in early):
            passages.append(each)
        if len(passages) == _PASSAGES:
            break
    return "\n".join(_text(each) for each in sorted(passages, key=lambda each: each.depth))


def _text(turn: Turn) -> str:
    return f"{turn.user}\n{turn.reply}".strip()
