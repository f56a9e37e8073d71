"""Validation: sound proposals of a curator become events, and others are refused with a reason.

The fields of a proposal's ``data`` by kind, all of them text:

=============  =====================================================================================
contradiction  ``key``, ``rule``; instead of a new finding ``verdict`` and ``note`` for one with that key
compress       ``level`` (scene or chapter), ``first`` and ``last`` (turns), ``text``
event          ``name``, ``text``, ``due`` and ``expires`` (turns), ``place``, ``who``; or ``close`` to end one
lore           ``entry``, ``text``
memory         ``block``, ``text``
remember       see ``saga_core.strategies.consolidation``
=============  =====================================================================================
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import evolve, field, frozen

from saga_core.curation.facts import ReplayedTurn, condensed, facts_in, facts_of, lost, replay
from saga_core.ids import digest
from saga_core.language import clean_name, nfc
from saga_core.model import LEVELS, MAX_STORY_CHARS, Delta, Event, Kind, WorldState, deltas, fold, newest
from saga_core.naming import Names
from saga_core.stores import CurationView
from saga_core.strategies import Skipped, consolidate
from saga_core.values import Proposal

MAX_TEXT = 500
BLOCK_CHARS = 2_000
"""Maximum characters of a memory block."""
FARTHEST = 1_000
"""Maximum number of turns ahead for which an event may be scheduled."""
VERDICTS = ("error", "deliberate")


@frozen
class Ruling:
    """The decision on a proposal."""

    proposal: Proposal
    accepted: bool
    reason: str = ""
    """Why the proposal was refused."""
    events: tuple[Event, ...] = field(default=(), repr=False)


def rule(view: CurationView, proposals: Sequence[Proposal], blocks: Sequence[str]) -> tuple[Ruling, ...]:
    """Return a verdict for each proposal, in order. ``blocks`` are the names of the allowed memory blocks.

    Each proposal is judged on the state after the accepted ones before it. Nothing is guessed: a proposal without
    valid turns, entities and numbers is refused.
    """
    judge = _Judge(view, replay(view), view.state, tuple(blocks))
    verdicts = []
    for proposal in proposals:
        verdict = judge.judge(proposal)
        if verdict.accepted:
            after = fold(judge.state, Delta(verdict.events), turn=judge.state.turn, depth=judge.state.depth)
            if len(after.problems) != len(judge.state.problems) and after.problems[-1:] != judge.state.problems[-1:]:
                verdict = Ruling(proposal, False, after.problems[-1].text)
            else:
                judge = evolve(judge, state=after)
        verdicts.append(verdict)
    return tuple(verdicts)


class _Refused(Exception):
    """Raised for a proposal that is not sound. The message says why."""


@frozen
class _Judge:
    view: CurationView
    steps: tuple[ReplayedTurn, ...]
    state: WorldState
    blocks: tuple[str, ...]

    def judge(self, proposal: Proposal) -> Ruling:
        rulers = {
            "contradiction": self._contradiction,
            "compress": self._compress,
            "event": self._event,
            "lore": self._lore,
            "memory": self._memory,
            "remember": self._remember,
        }
        try:
            if proposal.kind not in rulers:
                raise _Refused(f"the kind {proposal.kind!r} is not known; give one of {', '.join(rulers)}")
            if not proposal.summary.strip():
                raise _Refused("it says nothing")
            strangers = set(proposal.turns) - {turn.id for turn in self.view.turns}
            if strangers:
                raise _Refused(f"turn {min(strangers)!r} was not shown")
            unknown = set(proposal.entities) - set(self.state.entities)
            if unknown:
                raise _Refused(f"there is no entity {min(unknown)!r}")
            return Ruling(proposal, True, "", rulers[proposal.kind](proposal))
        except _Refused as refusal:
            return Ruling(proposal, False, str(refusal))

    def _contradiction(self, proposal: Proposal) -> tuple[Event, ...]:
        data = proposal.data
        known = {finding.key: finding for finding in self.state.findings}
        verdict = data.get("verdict", "")
        if verdict:
            finding = known.get(data.get("key", ""))
            if finding is None:
                raise _Refused(f"there is no finding {data.get('key', '')!r}")
            if verdict not in VERDICTS:
                raise _Refused(f"the verdict {verdict!r} is none of {', '.join(VERDICTS)}")
            if finding.verdict:
                raise _Refused(f"it was decided before: {finding.verdict}")
            return (deltas.Settled(finding.key, verdict, _text(data, "note", needed=False)),)
        if not proposal.turns:
            raise _Refused("it names no turn that proves it")
        key = data.get("key") or f"told:{digest(*sorted(proposal.turns), *sorted(proposal.entities), size=6)}"
        if key in known:
            raise _Refused("it was noticed before")
        same = next((each for each in known.values() if set(each.turns) == set(proposal.turns)), None)
        if same is not None and not data.get("key"):
            raise _Refused(f"it was noticed before: {same.text}")
        summary = _clean(proposal.summary)[:MAX_TEXT]
        return (deltas.Found(key, data.get("rule", "told"), summary, tuple(proposal.turns)),)

    def _compress(self, proposal: Proposal) -> tuple[Event, ...]:
        level = proposal.data.get("level", "")
        if level not in LEVELS:
            raise _Refused(f"the level {level!r} is none of {', '.join(LEVELS)}")
        first, last = _number(proposal.data, "first"), _number(proposal.data, "last")
        if first is None or last is None or not 0 <= first <= last <= self.state.depth:
            raise _Refused(f"first and last are no turns of the path up to {self.state.depth}")
        parts = [part for part in self.state.story if part.overlaps(first, last)]
        if any(part.by_hand for part in parts):
            raise _Refused("a person wrote what is told of these turns")
        if any(not (first <= part.first and part.last <= last) for part in parts):
            raise _Refused("it cuts through a part that is already summarised")
        text = _text(proposal.data, "text", limit=MAX_STORY_CHARS)
        own = [step for step in self.steps if first <= step.turn.depth <= last]
        facts = facts_of(self.steps, self.view.language, of=own)
        inside = [part for part in parts if first <= part.first and part.last <= last]
        facts = [*facts_in(inside, self.state), *facts]
        missing = lost(text, facts)
        if missing:
            room = MAX_STORY_CHARS - len(text) - 2
            added = condensed(missing, room, self.view.language) if room > 0 else ""
            text = f"{text} {added}".strip()
        return (deltas.StoryTold(level, first, last, text),)

    def _event(self, proposal: Proposal) -> tuple[Event, ...]:
        data = proposal.data
        names = Names(self.state)
        closing = data.get("close", "")
        if closing:
            known = closing if closing in self.state.schedule else names.find(Kind.EVENT, closing)
            if known is None or known not in self.state.schedule:
                raise _Refused(f"{closing!r} is not scheduled")
            return (deltas.EventClosed(known),)
        name = _text(data, "name", limit=120)
        due, expires = _number(data, "due"), _number(data, "expires")
        depth = self.state.depth
        if due is not None and not depth < due <= depth + FARTHEST:
            raise _Refused(f"due is {due}; give a turn from {depth + 1} to {depth + FARTHEST}")
        if expires is not None and not max(depth, due or 0) < expires + 1 <= depth + FARTHEST:
            raise _Refused(f"expires is {expires}; give a turn behind {max(depth, due or 0)}")
        place = self._known(names, Kind.LOCATION, data.get("place", ""))
        who = self._known(names, Kind.CHARACTER, data.get("who", ""))
        if due is None and not place and not who:
            raise _Refused("it says neither when nor where nor with whom")
        event = names.ensure(Kind.EVENT, name)
        text = _text(data, "text", needed=False)
        return (*names.introduced, deltas.EventScheduled(event, name, text, due, expires, place, who))

    def _known(self, names: Names, kind: Kind, name: str) -> str:
        if not name.strip():
            return ""
        found = name if name in self.state.entities else names.find(kind, clean_name(name))
        if found is None or self.state.entities[found].kind is not kind:
            raise _Refused(f"there is no {kind.value} {name!r}")
        return found

    def _lore(self, proposal: Proposal) -> tuple[Event, ...]:
        entry = _text(proposal.data, "entry", limit=120)
        text = _text(proposal.data, "text", limit=300)
        if self.state.learned.get(entry) == text:
            raise _Refused("that is known already")
        if not proposal.turns:
            raise _Refused("it names no turn that proves it")
        return (deltas.LoreLearned(entry, text),)

    def _memory(self, proposal: Proposal) -> tuple[Event, ...]:
        name = proposal.data.get("block", "")
        if name not in self.blocks:
            raise _Refused(f"there is no memory block {name!r}; there are {', '.join(self.blocks) or 'none'}")
        text = nfc(proposal.data.get("text", "")).strip()
        if len(text) > BLOCK_CHARS:
            raise _Refused(f"{len(text)} characters are too many for a memory block (at most {BLOCK_CHARS})")
        old = self.state.blocks.get(name)
        if (old.text if old else "") == text:
            raise _Refused("the memory block says that already")
        return (deltas.BlockWritten(name, text),)

    def _remember(self, proposal: Proposal) -> tuple[Event, ...]:
        known = newest(self.view.memories, self.state.memories.values())
        try:
            return (consolidate(known, proposal.data, tuple(proposal.turns), self.state.depth),)
        except Skipped as why:
            raise _Refused(str(why)) from None


def _clean(text: str) -> str:
    return " ".join(nfc(text).split())


def _text(data: Mapping[str, str], name: str, *, limit: int = MAX_TEXT, needed: bool = True) -> str:
    text = _clean(data.get(name, ""))
    if needed and not text:
        raise _Refused(f"{name} is empty")
    if len(text) > limit:
        raise _Refused(f"{name} has {len(text)} characters (at most {limit})")
    return text


def _number(data: Mapping[str, str], name: str) -> int | None:
    text = data.get(name, "").strip()
    if not text:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise _Refused(f"{name} is {text!r}; give a whole number")
    return int(text)
