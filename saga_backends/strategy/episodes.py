"""Records episodes, which are finished undertakings and how they ended, and reflections on several episodes."""

from __future__ import annotations

from saga_core.registry import Backend, OpenOptions
from saga_core.strategies import Detail, RecordKind, Strategy, told

REFLECTIONS = "/reflections/{actor}/{session}"
"""The namespace of reflections. It contains the session, because reflections are about one story only."""


async def _open(options: OpenOptions) -> Strategy:
    """Options: ``reflections`` is the namespace of reflections. If it is empty, there are none."""
    place = options.take(reflections=REFLECTIONS)["reflections"]
    episode = RecordKind(
        "episode",
        told("episodes.episode"),
        "/episodes/{actor}/{session}",
        (
            Detail("situation", "in which situation"),
            Detail("intent", "what was intended"),
            Detail("assessment", "how it ended"),
            Detail("justification", "what in the turns shows that"),
        ),
    )
    reflection = RecordKind("reflection", told("episodes.reflection"), place or REFLECTIONS, shown=4.0, sources=2)
    return Strategy("episodes", told("episodes.task"), (episode, reflection) if place else (episode,))


BACKEND = Backend("strategy", "episodes", _open, "undertakings and how they ended, and reflections on them")
