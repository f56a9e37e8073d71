"""SAGA's fixed instructions to the narrator: how to use the memory, and how to report what changed."""

from __future__ import annotations

from saga_core.state_block import instruction

_RULES = {
    "en": (
        "[SAGA: rules]\n"
        "Text between [SAGA: what is true now] and [/SAGA] is the story's memory, given by the system, not said by the "
        "player. It overrides anything older in the chat. Do not quote it, do not mention it.\n"
        "The dead stay dead, what was lost stays lost, and people are where the memory says. Characters know only what "
        "they saw or were told; a secret is known to those named with it.\n"
        "The player alone decides what the player's character says, does, is called and carries."
    ),
    "ko": (
        "[SAGA: 규칙]\n"
        "[SAGA: 지금 사실인 것]과 [/SAGA] 사이의 글은 시스템이 주는 이야기의 기억이며 플레이어의 말이 아니다. "
        "대화의 더 오래된 내용과 다르면 이것이 옳다. 인용하거나 언급하지 않는다.\n"
        "죽은 자는 죽은 채로, 잃은 것은 잃은 채로, 사람들은 기억이 말하는 곳에 있다. "
        "인물은 보거나 들은 것만 안다. 비밀은 함께 적힌 이들만 안다.\n"
        "플레이어 캐릭터의 말, 행동, 이름, 소지품은 플레이어만 정한다."
    ),
}


def static_rules(language: str) -> str:
    """The rules and the state-block instruction in ``language``: stable bytes for the prompt's prefix."""
    rules = _RULES.get(language, _RULES["en"])
    return f"{rules}\n\n{instruction(language)}"
