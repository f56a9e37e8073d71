"""Locates a request: determines its kind, and the place in a story that it continues."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from attrs import frozen

from saga_core.model import Session, TurnKind
from saga_core.transcript.dialogue import Transcript
from saga_core.transcript.identities import identity
from saga_core.transcript.matching import Match, Matcher, words_key
from saga_core.transcript.request_kind import classify
from saga_core.transcript.similarity import resembles

_COMPARED = 32


@frozen
class Located:
    """A request with its kind and its place in a story."""

    transcript: Transcript
    match: Match
    kind: TurnKind

    @property
    def outside(self) -> bool:
        """Whether it is a side request that shows nothing of a known story."""
        return self.kind is TurnKind.SIDE and self.match.how in ("none", "session")


async def locate(
    matcher: Matcher, transcript: Transcript, *, owner: str, only: Session | None, world: Callable[[], Awaitable[str]]
) -> Located:
    """Find the place of ``transcript`` among the turns of ``owner``, or of the session ``only``."""
    transcript = await matcher.cast(transcript, owner)
    match = await matcher.match(transcript, owner=owner, only=only, world=world)
    if transcript.prefilled and _ends_unknown(match, transcript) and not await _is_reply(matcher, match, transcript):
        transcript = transcript.without_prefill()
        match = await matcher.match(transcript, owner=owner, only=only, world=world)
    elif transcript.calls and not transcript.words and _ends_unknown(match, transcript):
        transcript = transcript.without_step()
        match = await matcher.match(transcript, owner=owner, only=only, world=world)
    kind = classify(transcript)
    if kind is TurnKind.NARRATION and match.how in ("none", "session") and await matcher.quotes(transcript, owner):
        kind = TurnKind.SIDE
    return Located(transcript, match, kind)


def _ends_unknown(match: Match, transcript: Transcript) -> bool:
    return bool(match.unknown) and match.unknown[-1] is transcript.utterances[-1]


async def _is_reply(matcher: Matcher, match: Match, transcript: Transcript) -> bool:
    """Whether the assistant message at the end is a reply that was stopped, grown or edited, and is to be continued.

    Otherwise it is a prefill of the next reply and not part of the story.
    """
    if match.how in ("grown", "cut") and sum(each.role == "assistant" for each in match.unknown) == 1:
        return True
    if match.session is None:
        return False
    past = transcript.utterances[:-1]
    start = len(past)
    while start and past[start - 1].role == "user":
        start -= 1
    words, now = words_key(past[start:]), transcript.utterances[-1].text
    if not identity(now):  # only a quotation mark or a name, with which every reply may begin
        return False
    tree = await matcher.tree(match.session)
    said = [node.id for node in tree.nodes.values() if node.user_key == words and node.kind is not TurnKind.SIDE]
    for turn in await matcher.known.turns(match.session, said[-_COMPARED:]):
        known, shown = identity(turn.reply), identity(now)
        if known and (shown.startswith(known) or known.startswith(shown) or resembles(turn.reply, now)):
            return True
    return False
