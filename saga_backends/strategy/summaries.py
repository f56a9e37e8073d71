"""Summaries: the threads of a session, one record each, kept up to date."""

from __future__ import annotations

from saga_core.registry import Backend, OpenOptions
from saga_core.strategies import Detail, RecordKind, Strategy

_TASK = {
    "en": "You read turns of a role-play story and keep a summary of each of its threads.",
    "ko": "당신은 롤플레이 이야기의 턴을 읽고 이야기의 갈래마다 요약을 간직합니다.",
}
_SUMMARY = {
    "en": "how one thread of the story stands by now, names included. A thread that is known is updated, not added.",
    "ko": "이야기의 한 갈래가 지금 어디까지 왔는지, 이름과 함께. 이미 아는 갈래는 더하지 않고 고칩니다.",
}
SUMMARIES = Strategy(
    "summaries",
    _TASK,
    (
        RecordKind(
            "summary",
            _SUMMARY,
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
