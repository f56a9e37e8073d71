"""The input for lore with its own rules: the last messages, the turn's number, and the entries told before."""

from __future__ import annotations

from saga_core.model import TurnKind
from saga_core.recall import PER_TURN, KeptMoment
from saga_core.sessions import LiveSession
from saga_core.transcript import Transcript, words_key


def lore_moment(live: LiveSession, parent: str, transcript: Transcript, kind: TurnKind, turn: str) -> KeptMoment | None:
    """The moment of the next turn; None if no lore has its own rules."""
    kept = live.lore.kept
    if not kept.entries:
        return None
    depth = live.tree.get(parent).depth
    told: dict[str, int] = {}
    if kept.timed:
        for node in live.tree.upwards(parent):
            for name in node.told:
                told.setdefault(name, PER_TURN * node.depth)
    said = [utterance.text for utterance in transcript.utterances[-kept.deepest :]] if kept.deepest else []
    names = {sheet.name.casefold() for sheet in live.world.characters if not sheet.player}
    names |= {utterance.speaker.casefold() for utterance in transcript.utterances if utterance.speaker}
    names |= {transcript.speaker.casefold()} if transcript.speaker else set()
    return KeptMoment(
        messages=said[::-1],
        count=PER_TURN * (depth + 1),
        replies=depth,
        seed=turn,
        triggers=_triggers(live, parent, transcript, kind),
        characters=frozenset(names),
        told=told,
    )


def _triggers(live: LiveSession, parent: str, transcript: Transcript, kind: TurnKind) -> frozenset[str]:
    if kind is TurnKind.CONTINUATION:
        return frozenset({"continue"})
    key = words_key(transcript.words)
    if any(live.tree.get(child).user_key == key for child in live.tree.children.get(parent, ())):
        return frozenset({"swipe", "regenerate"})
    return frozenset({"normal"})
