"""Episodes: undertakings that ended and how, and reflections drawn from several of them."""

from __future__ import annotations

from saga_core.registry import Backend, OpenOptions
from saga_core.strategies import Detail, RecordKind, Strategy

_TASK = {
    "en": "You read turns of a role-play story and keep what its characters undertook and how it ended.",
    "ko": "당신은 롤플레이 이야기의 턴을 읽고 인물들이 시도한 일과 그 결말을 간직합니다.",
}
_EPISODE = {
    "en": "an undertaking that the turns bring to an end, good or bad; one that is under way is none yet.",
    "ko": "좋든 나쁘든 턴에서 끝이 난 시도. 아직 진행 중이면 적지 않습니다.",
}
_REFLECTION = {
    "en": 'what several known episodes show together, of use in scenes to come; "from" are the labels of at least two.',
    "ko": '알고 있는 에피소드 여럿이 함께 보여 주는, 앞으로의 장면에 쓸모 있는 것. "from"은 적어도 둘의 표시입니다.',
}
REFLECTIONS = "/reflections/{actor}/{session}"
"""Where reflections lie. They speak of the story, so that another story is not told of them."""


async def _open(options: OpenOptions) -> Strategy:
    """Options: ``reflections``, the namespace of reflections; empty for none of them."""
    place = options.take(reflections=REFLECTIONS)["reflections"]
    episode = RecordKind(
        "episode",
        _EPISODE,
        "/episodes/{actor}/{session}",
        (
            Detail("situation", "in which situation"),
            Detail("intent", "what was intended"),
            Detail("assessment", "how it ended"),
            Detail("justification", "what in the turns shows that"),
        ),
    )
    reflection = RecordKind("reflection", _REFLECTION, place or REFLECTIONS, shown=4.0, sources=2)
    return Strategy("episodes", _TASK, (episode, reflection) if place else (episode,))


BACKEND = Backend("strategy", "episodes", _open, "undertakings and how they ended, and reflections on them")
