"""Broken matchers: the ways in which a chat's place is lost. The model-based test must notice each of them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

from attrs import define, evolve, field

from saga_core import Saga
from saga_core.model.tree import Session, TurnKind
from saga_core.transcript.dialogue import Transcript
from saga_core.transcript.evidence import Candidate, History, ReplyMatcher
from saga_core.transcript.matching import Match, Matcher


@define
class BySystemPrompt(Matcher):
    """The session is the hash of the system prompt, the parent whatever was recorded last."""

    sessions: dict[str, str] = field(factory=dict, init=False)

    async def match(self, transcript: Transcript, **_: Any) -> Match:
        key = hashlib.md5(transcript.system_text.encode(), usedforsecurity=False).hexdigest()[:8]
        found = await self.known.sessions()
        if not found:
            return Match(None)
        session = await self.known.session(self.sessions.setdefault(key, found[0].id))
        return Match(session.id, session.head or session.root)


@define
class ByTurnCounter(Matcher):
    """The parent stands as deep on the newest path as the history has replies."""

    async def match(self, transcript: Transcript, **_: Any) -> Match:
        found = await self.known.sessions()
        if not found:
            return Match(None)
        tree = await self.tree(found[-1].id)
        depth = sum(utterance.role == "assistant" for utterance in transcript.past) - len(transcript.greeting)
        return Match(tree.session, tree.ancestor_at(found[-1].head or tree.root, max(0, depth)).id)


@define
class FirstInsteadOfLongest(Matcher):
    """The oldest reply with that text is taken, however little of the history agrees with it."""

    def _replies(self, history: History, owner: str, only: Session | None, opening: Callable[[], str]) -> ReplyMatcher:
        return _Oldest(self.known, self.tree, history, owner, only, opening)


class _Oldest(ReplyMatcher):
    async def find(self, position: int) -> Candidate | None:
        for session_id, turn_id in await self.known.replies(self.owner, self.history.past[position].key):
            tree = await self.tree(session_id)
            return Candidate(tree, tree.get(turn_id), position, "reply")
        return await ReplyMatcher.find(self, position)


@define
class NoEditRule(Matcher):
    """A reply that was edited is overlooked: the turn before it is continued."""

    async def match(self, transcript: Transcript, **options: Any) -> Match:
        return evolve(await Matcher.match(self, transcript, **options), unknown=())


@define
class NoSuffixRule(Matcher):
    """A reply that goes on is no kin of the shorter one that it began with."""

    def _replies(self, history: History, owner: str, only: Session | None, opening: Callable[[], str]) -> ReplyMatcher:
        return _NoContinuation(self.known, self.tree, history, owner, only, opening)


class _NoContinuation(ReplyMatcher):
    async def find(self, position: int) -> Candidate | None:
        found = await ReplyMatcher.find(self, position)
        return None if found is not None and found.node.kind is TurnKind.CONTINUATION else found


def _with(kind: type[Matcher]) -> Callable[[Saga], None]:
    def break_it(saga: Saga) -> None:
        saga.play.places.matcher = kind(saga.parts.journal, saga.parts.live.tree)

    return break_it


MUTANTS: dict[str, Callable[[Saga], None]] = {
    "by system prompt": _with(BySystemPrompt),
    "by turn counter": _with(ByTurnCounter),
    "first instead of longest": _with(FirstInsteadOfLongest),
    "no edit rule": _with(NoEditRule),
    "no suffix rule": _with(NoSuffixRule),
}
