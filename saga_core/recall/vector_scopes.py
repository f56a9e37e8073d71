"""The vector scopes of sessions and worlds: their names and the required embedder."""

from __future__ import annotations

from saga_core.ports import Embedder
from saga_core.recall.passages import PASSAGES
from saga_core.stores import ScopeSpec

_EPISODES = "episodes:"


def episodes_scope(session_id: str) -> str:
    """Return the vector scope of a session's episodes."""
    return f"{_EPISODES}{session_id}"


def session_of_episodes(scope: str) -> str | None:
    """Return the session whose episodes ``scope`` holds, or None for any other scope."""
    return scope.removeprefix(_EPISODES) if scope.startswith(_EPISODES) else None


def lore_scope(world_digest: str) -> str:
    """Return the vector scope of a world's lore."""
    return f"lore:{world_digest}"


def spec_of(scope: str, embedder: Embedder) -> ScopeSpec:
    """Return the required spec of ``scope``: this embedder, and for episodes the current version of passages."""
    form = f" passages-{PASSAGES}" if scope.startswith(_EPISODES) else ""
    return ScopeSpec(f"{embedder.id}{form}", embedder.dimension)
