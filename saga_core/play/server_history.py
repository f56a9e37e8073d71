"""The history of a thin client, which sends only the player's last words and leaves the rest to the server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from saga_core.config import SessionConfig
from saga_core.model import Turn
from saga_core.sessions import LiveSession
from saga_core.transcript import Transcript

_SYSTEM = ("system", "developer")
_HOUR = 3_600.0


async def turns_before(live: LiveSession, parent: str, session: SessionConfig, now: float) -> list[Turn]:
    """The turns of the path to send with a request that continues ``parent``, the opening with its greeting first.

    The window moves in steps of half its size, so that the prompt's beginning stays the same in between.
    """
    step = max(1, session.history_turns // 2)
    depth = live.tree.get(parent).depth
    first = max(0, (depth - session.history_turns) // step * step)
    oldest = now - session.history_hours * _HOUR if session.history_hours else 0.0
    path = [node for node in live.tree.upwards(parent) if node.depth >= first]
    fresh = [node.depth for node in path if node.at >= oldest]
    if len(fresh) < len(path):
        begin = -(-min(fresh, default=depth + 1) // step) * step
        path = [node for node in path if node.depth >= begin]
    return await live.journal.turns(live.session.id, [node.id for node in reversed(path)])


def is_thin(transcript: Transcript) -> bool:
    """Whether a request has the player's words and no history before them."""
    return bool(transcript.words) and all(each.role == "user" for each in transcript.utterances)


def with_history(messages: Sequence[Mapping[str, Any]], told: Sequence[Turn]) -> tuple[Mapping[str, Any], ...]:
    """A request's messages with turns between its leading system messages and the rest."""
    first = next((at for at, m in enumerate(messages) if m.get("role") not in _SYSTEM), len(messages))
    said = [
        {"role": role, "content": text}
        for turn in told
        for role, text in (("user", turn.user), ("assistant", turn.reply))
        if text
    ]
    return (*messages[:first], *said, *messages[first:])
