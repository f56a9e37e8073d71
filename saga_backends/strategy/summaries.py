"""Records summaries of the threads of a session, one record per thread, and keeps them up to date."""

from __future__ import annotations

from saga_core.registry import Backend, OpenOptions
from saga_core.strategies import Detail, RecordKind, Strategy, told

SUMMARIES = Strategy(
    "summaries",
    told("summaries.task"),
    (
        RecordKind(
            "summary",
            told("summaries.summary"),
            "/summaries/{actor}/{session}",
            (Detail("topic", "a name for the thread, some words"),),
            shown=3.5,
            always=True,
        ),
    ),
)


async def _open(options: OpenOptions) -> Strategy:
    options.take()
    return SUMMARIES


BACKEND = Backend("strategy", "summaries", _open, "the threads of a session, each in a sentence")
