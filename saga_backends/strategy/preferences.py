"""Preferences: what the player, not the character, likes and dislikes: style and limits."""

from __future__ import annotations

from saga_core.registry import Backend, OpenOptions
from saga_core.strategies import Detail, Learned, RecordKind, Strategy

_TASK = {
    "en": "You read turns of a role-play story and keep what the player as a person wants of its telling. What the "
    "player's character wants, likes or does is none of it.",
    "ko": "당신은 롤플레이 이야기의 턴을 읽고 플레이어라는 사람이 서술에 바라는 것을 간직합니다. 플레이어의 캐릭터가 "
    "바라거나 좋아하거나 하는 일은 여기에 들지 않습니다.",
}
_PREFERENCE = {
    "en": "a wish about style (length, tone, tense, point of view, pace, kind of scenes) or a limit (what must not "
    "be told), from the player's own words.",
    "ko": "플레이어 자신의 말에서 나온, 문체에 대한 바람(길이, 어조, 시제, 시점, 속도, 장면의 종류) 또는 한계"
    "(서술하지 말아야 할 것).",
}


def _said(learned: Learned) -> str:
    return "" if learned.spoken.strip() else "the player says nothing in those turns"


PREFERENCES = Strategy(
    "preferences",
    _TASK,
    (
        RecordKind(
            "preference",
            _PREFERENCE,
            "/preferences/{actor}",
            (
                Detail("category", "what it is about", of=("style", "limit")),
                Detail("because", "what the player said or did that shows it"),
            ),
            shown=8.0,
            always=True,
            check=_said,
        ),
    ),
)


async def _open(options: OpenOptions) -> Strategy:
    options.take()
    return PREFERENCES


BACKEND = Backend("strategy", "preferences", _open, "the player's wishes about style, and limits")
