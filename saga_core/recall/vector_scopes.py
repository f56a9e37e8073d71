"""The vector scopes of sessions and of worlds: their names, and by what their vectors must have been made."""

from __future__ import annotations

from saga_core.ports import Embedder
from saga_core.recall.passages import PASSAGES
from saga_core.stores import ScopeSpec

_EPISODES = "episodes:"


def episodes_scope(session_id: str) -> str:
    """The vector scope of a session's episodes."""
    return f"{_EPISODES}{session_id}"


def session_of_episodes(scope: str) -> str | None:
    """The session whose episodes ``scope`` holds; None for any other."""
    return scope.removeprefix(_EPISODES) if scope.startswith(_EPISODES) else None


def lore_scope(world_digest: str) -> str:
    """The vector scope of a world's lore."""
    return f"lore:{world_digest}"


def spec_of(scope: str, embedder: Embedder) -> ScopeSpec:
    """What ``scope`` is to be: of this embedder, and of the passages that are made of episodes today."""
    form = f" passages-{PASSAGES}" if scope.startswith(_EPISODES) else ""
    return ScopeSpec(f"{embedder.id}{form}", embedder.dimension)
