"""Episodes: undertakings that ended and how, and reflections drawn from several of them."""

from __future__ import annotations

from saga_core.registry import Backend, OpenOptions
from saga_core.strategies import Detail, RecordKind, Strategy, told

REFLECTIONS = "/reflections/{actor}/{session}"
"""Where reflections lie. They speak of the story, so that another story is not told of them."""


async def _open(options: OpenOptions) -> Strategy:
    """Options: ``reflections``, the namespace of reflections; empty for none of them."""
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
