"""Facts: what play established about people, places and things, beyond the state."""

from __future__ import annotations

from saga_core.registry import Backend, OpenOptions
from saga_core.strategies import RecordKind, Strategy

_TASK = {
    "en": "You read turns of a role-play story and keep the facts about its people, places and things.",
    "ko": "당신은 롤플레이 이야기의 턴을 읽고 인물, 장소, 사물에 대한 사실을 간직합니다.",
}
_FACT = {
    "en": "something lasting about somebody, a place or a thing: origin, trait, promise, secret, cause. Not where "
    "somebody is, what somebody carries, how many hit points or what mood: that is kept elsewhere.",
    "ko": "인물, 장소, 사물에 대해 오래 참인 것: 출신, 성격, 약속, 비밀, 까닭. 누가 어디 있는지, 무엇을 지녔는지, "
    "HP와 기분은 다른 곳에 있으니 적지 않습니다.",
}
FACTS = Strategy("facts", _TASK, (RecordKind("fact", _FACT, "/facts/{actor}/{session}"),))


async def _open(options: OpenOptions) -> Strategy:
    options.take()
    return FACTS


BACKEND = Backend("strategy", "facts", _open, "facts about the story's people, places and things")
